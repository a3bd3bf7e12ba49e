"""Which intervals people see as ranges: those that hold the truth often enough. Documents keep all of them."""

MEANINGFUL_CONFIDENCE = 0.8
"""An interval that contains the truth less often than this would only mislead."""


def meaningful(confidence: float | None) -> bool:
    """Whether an interval with this confidence is worth showing."""
    return confidence is not None and confidence >= MEANINGFUL_CONFIDENCE


def no_interval(blocks: int) -> str:
    """Why a figure from so few blocks stands without a range: `2 blocks, too few for an interval`."""
    return f"{blocks} block{'' if blocks == 1 else 's'}, too few for an interval"
