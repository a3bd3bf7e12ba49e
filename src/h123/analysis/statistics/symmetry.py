"""Provides a test of whether differences are symmetric, as the signed-rank statistic assumes, and the sign test, which
does not assume symmetry.

If two levels are equal, only chance decides the signs of their differences, so the differences are symmetric. If one
level is occasionally much slower, the differences need not be symmetric. Their centre is then not their median, and the
signed-rank test may find a difference although the ratio is above 1 in half of the blocks and below 1 in the other
half.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from h123.analysis.statistics.signedrank import ROUNDING, Floats, IntervalEstimate
from h123.base.distributions import binomial_cdf, normal_cdf

FEWEST = 8
"""The fewest differences for the triples test. With fewer, it is meaningless."""
LEVEL = 0.1
"""The significance level of the triples test. If it rejects symmetry by mistake, h123 uses the sign test, which is
valid with or without symmetry."""


def symmetry(differences: Sequence[float] | Floats) -> float | None:
    """Return the two-sided p of the triples test, whose null hypothesis is that the differences are symmetric. None if
    there are too few differences, or if one is infinite.

    A triple leans right if its middle value is nearer to its lowest value than to its highest. T is the number of
    triples that lean right minus the number that lean left. T divided by its standard error is about standard normal.
    References: Randles, Fligner, Policello, Wolfe, J. Am. Stat. Assoc. 75 (1980); Hollander, Wolfe, Chicken,
    Nonparametric Statistical Methods (2014), section 3.9.
    """
    d = np.sort(np.asarray(differences, dtype=np.float64))
    n = len(d)
    if n < FEWEST or not np.all(np.isfinite(d)):
        return None
    pairs = _leaning(d)
    ones = (pairs + pairs.T).sum(axis=1) / 2
    total = float(ones.sum()) / 3
    variance = (
        (n - 3) * (n - 4) / ((n - 1) * (n - 2)) * float((ones**2).sum())
        + (n - 3) / (n - 4) * float((pairs**2).sum())
        + n * (n - 1) * (n - 2) / 6
        - (1 - (n - 3) * (n - 4) * (n - 5) / (n * (n - 1) * (n - 2))) * total**2
    )
    return 2 * normal_cdf(-abs(total) / math.sqrt(variance)) if variance > 0 else None


def _leaning(d: Floats) -> Floats:
    """Return, for each i < j, the number of triples that lean right minus the number that lean left. The triples
    consist of d[i], d[j] and a third value of the sorted `d`.

    Whether a triple leans right or left depends only on how the third value compares with a bound that i and j
    determine. A binary search for that bound counts the triples without building them.
    """
    n = len(d)
    first, second = np.triu_indices(n, 1)
    pairs = np.zeros((n, n))
    pairs[first, second] = (
        # The third value is the lowest, and the triple leans right if it is above 2 d[i] - d[j] ...
        _above(d, 2 * d[first] - d[second], 0, first)
        # ... or the highest, and the triple leans right if it is above 2 d[j] - d[i] ...
        + _above(d, 2 * d[second] - d[first], second + 1, n)
        # ... or between the two, and the triple leans right if it is below their mean.
        - _above(d, (d[first] + d[second]) / 2, first + 1, second)
    )
    return pairs


def _above(d: Floats, bound: Floats, start: Any, end: Any) -> Any:
    """Return how many values of the sorted d[start:end] are above the bound, minus how many are below it. Values within
    rounding error of the bound count as equal to it."""
    below = np.clip(np.searchsorted(d, bound - ROUNDING, side="left"), start, end) - start
    return end - np.clip(np.searchsorted(d, bound + ROUNDING, side="right"), start, end) - below


class SignTest:
    """The sign test for the median of n >= 1 differences. A zero counts against a difference in either direction.

    Source: Hollander, Wolfe, Chicken (2014), sections 3.4 to 3.6.
    """

    def __init__(self, differences: Sequence[float] | Floats) -> None:
        self._d = np.sort(np.asarray(differences, dtype=np.float64))
        self._cumulative = binomial_cdf(len(self._d), 0.5)

    def estimate(self, confidence: float) -> IntervalEstimate:
        """Return the median, and the exact interval from the k-th smallest to the k-th largest value.

        k is the largest number with 2 P(B <= k - 1) <= 1 - confidence, where B is binomial (n, 1/2).
        """
        k = max(1, int(np.searchsorted(self._cumulative, (1 - confidence) / 2, side="right")))
        attained = max(0.0, float(1 - 2 * self._cumulative[k - 1]))
        return IntervalEstimate(float(np.median(self._d)), float(self._d[k - 1]), float(self._d[-k]), attained)

    def p(self) -> float:
        """Return the two-sided p value for the null hypothesis of no difference."""
        return min(1.0, 2 * min(self._above(0.0), self._below(0.0)))

    def p_equivalent(self, margin: float) -> float:
        """Return the larger p of two one-sided tests. Their null hypotheses are that the median of the log ratios is
        above log(1 + margin), and that it is below -log(1 + margin)."""
        bound = math.log1p(margin)
        return max(self._above(-bound), self._below(bound))

    def _above(self, bound: float) -> float:
        return float(self._cumulative[np.count_nonzero(self._d <= bound + ROUNDING)])

    def _below(self, bound: float) -> float:
        return float(self._cumulative[np.count_nonzero(self._d >= bound - ROUNDING)])
