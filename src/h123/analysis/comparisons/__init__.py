"""Compares levels: decides which values are compared, pairs them by block, and finds what the pairs show before any
verdict."""

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
