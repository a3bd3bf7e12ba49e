"""Estimates how narrow a comparison's interval becomes with a given number of blocks, and which spread an interval
implies.

Both computations use the interval of a typical sample: normal scores, which are the expected order statistics of
normally distributed values, one for each block (Blom 1958). The mean width of real samples is up to a tenth larger. An
interval's width does not show where the interval lies, so it reveals nothing about the effect.
"""

import math
from bisect import bisect_left
from functools import cache
from statistics import NormalDist

from h123.analysis.statistics.signedrank import SignedRank

FEWEST = 6
"""The fewest blocks with which an interval can have 95 % confidence."""
LIMIT = 200
"""The largest practical number of blocks."""


@cache
def half_width(blocks: int, level: float) -> float:
    """Return half the width of the interval with confidence 1 - `level`, for differences with standard deviation 1."""
    scores = [NormalDist().inv_cdf((rank - 0.375) / (blocks + 0.25)) for rank in range(1, blocks + 1)]
    return SignedRank(scores).estimate(1 - level).high


def spread(low: float, high: float, blocks: int, level: float) -> float:
    """Return the standard deviation of log ratios for which an interval from `low` to `high` is typical with `blocks`
    blocks."""
    return math.log(high / low) / 2 / half_width(blocks, level)


def width(low: float, high: float) -> float:
    """Return half of the interval's relative width: 0.05 if the interval reaches from its middle / 1.05 to its middle x
    1.05."""
    return math.sqrt(high / low) - 1


def expected_width(spread: float, blocks: int, level: float) -> float:
    """Return half of the probable relative width of an interval from this many blocks."""
    return math.expm1(spread * half_width(blocks, level))


def blocks_for(precision: float, spread: float, level: float) -> int | None:
    """Return the fewest blocks from which the interval's half-width is likely to be at most `precision`. None if
    `LIMIT` is not enough."""
    blocks = range(FEWEST, LIMIT + 1)
    first = bisect_left(blocks, -precision, key=lambda number: -expected_width(spread, number, level))
    return blocks[first] if first < len(blocks) else None
