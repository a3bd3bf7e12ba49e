"""Comparisons: which values meet, paired block by block, and what follows from the pairs before any verdict."""

__all__ = [
    "answers",
    "capacity",
    "confounding",
    "failed_attempts",
    "failures",
    "interactions",
    "power_preview",
    "rows",
    "tails",
]
