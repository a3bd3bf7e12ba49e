"""Comparisons: which values are compared, how they are paired by block, and what the pairs show before any verdict."""

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
