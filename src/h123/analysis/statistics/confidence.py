"""Decides which intervals are shown: those that contain the true value often enough. The files with results contain all
intervals."""

MEANINGFUL_CONFIDENCE = 0.8
"""The smallest share of intervals that must contain the true value for an interval not to mislead."""


def meaningful(confidence: float | None) -> bool:
    """Return whether an interval with this confidence is worth showing."""
    return confidence is not None and confidence >= MEANINGFUL_CONFIDENCE


def no_interval(blocks: int) -> str:
    """Return why a figure from few blocks has no interval, for example `2 blocks, too few for an interval`."""
    return f"{blocks} block{'' if blocks == 1 else 's'}, too few for an interval"
