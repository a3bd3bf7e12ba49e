"""Estimates the ratio of two independent samples of values, with Welch's t interval on their logarithms.

Values from two days or machines usually differ in their spread. Mann-Whitney's test and its interval assume that the
two samples differ only in location. If they also differ in spread and size, the interval misses the true value several
times as often as stated (Fagerland, Sandvik, Statistics in Medicine 28, 2009). Welch's interval (Biometrika 34, 1947)
allows for different spreads. It assumes that the logarithms are roughly normal. With skewed logarithms, it misses the
true value up to about twice as often as stated (bench/unpaired.py).
"""

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from h123.analysis import ratio_of
from h123.base.distributions import noncentral_student_cdf, student_quantile

CONFIDENCE = 0.95
POWER = 0.8
FEWEST = 6
"""The fewest values on each side for a reliable interval, as with paired blocks."""
LIMIT = 200
"""The largest practical number of blocks."""


@dataclass(frozen=True)
class Interval:
    """A ratio with its interval. An end is None if there is no bound on that side."""

    ratio: float
    low: float | None
    high: float | None


def interval(before: Sequence[float], after: Sequence[float]) -> Interval | None:
    """Return the ratio after / before and its interval, from logarithms of the values. None if a side has fewer than
    two values."""
    if min(len(before), len(after)) < 2:
        return None
    centre = float(np.mean(after) - np.mean(before))
    if np.ptp(before) == np.ptp(after) == 0:  # as under the virtual clock if nothing is random
        return Interval(math.exp(centre), math.exp(centre), math.exp(centre))
    squares = [float(np.var(side, ddof=1)) / len(side) for side in (before, after)]
    freedom = sum(squares) ** 2 / sum(
        square_sum**2 / (len(side) - 1) for square_sum, side in zip(squares, (before, after), strict=True)
    )
    reach = student_quantile(freedom, (1 + CONFIDENCE) / 2) * math.sqrt(sum(squares))
    return Interval(math.exp(centre), ratio_of(centre - reach), ratio_of(centre + reach))


def blocks_to_part(before: Sequence[float], after: Sequence[float], bound: float) -> int | None:
    """Return the number of blocks that each campaign needs so that the whole interval probably lies on one side of the
    ratio `bound`, if means and spreads stay the same. None if `LIMIT` is not enough."""
    logs = np.log(before), np.log(after)
    if min(map(len, logs)) < 2:
        return FEWEST
    gap = abs(float(np.mean(logs[1]) - np.mean(logs[0])) - math.log(bound))
    variances = [float(np.var(side, ddof=1)) for side in logs]
    blocks = range(max(FEWEST, max(map(len, logs)) + 1), LIMIT + 1)
    first = bisect_left(blocks, POWER, key=lambda number: _power(gap, variances, number))
    return blocks[first] if first < len(blocks) else None


def _power(gap: float, variances: Sequence[float], blocks: int) -> float:
    """Return the power to detect the gap with `blocks` blocks on each side."""
    total = sum(variances)
    if total == 0:
        return 1.0 if gap else 0.0
    freedom = (blocks - 1) * total**2 / sum(variance**2 for variance in variances)
    critical = student_quantile(freedom, (1 + CONFIDENCE) / 2)
    return 1 - noncentral_student_cdf(freedom, min(37.0, gap / math.sqrt(total / blocks)), critical)
