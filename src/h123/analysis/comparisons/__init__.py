"""Compares levels: decides which values are compared, pairs them by block, and computes further figures, such as
failures and tails."""

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
