"""Wilcoxon's signed-rank statistic: one statistic for the estimate, its interval, the test and the equivalence.

All four derive from the Walsh averages (d_i + d_j) / 2, i <= j, of n paired differences. With T the sum of those of
the ranks 1 .. n whose difference is positive, T of the differences d - c is the number of Walsh averages above c
(Tukey 1949). So the values of c that the test does not reject are the interval, and the two cannot contradict each
other. An average equal to c counts against a difference on both sides, which makes p with ties too large, never too
small. The only assumption is that the differences are symmetric about their centre, as those of two equal things
are.

A difference may be infinite: one side failed, which ranks it beyond all others. The average of two opposite
infinities is unknown, and counts against a difference on both sides too.

Source: Hollander, Wolfe, Chicken, Nonparametric Statistical Methods (2014), chapter 3; the same numbers as R's
wilcox.test(exact = TRUE, conf.int = TRUE) if no magnitudes are tied.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

CONFIDENCE = 0.95
"""The confidence that the interval must reach. The exact distribution has steps, so it usually reaches slightly
more."""
ROUNDING = 1e-12


@dataclass(frozen=True)
class IntervalEstimate:
    """The centre of paired differences. `confidence` is what the interval attains, which may differ from the requested
    one."""

    centre: float
    low: float
    high: float
    confidence: float


def ratio_of(logarithm: float) -> float | None:
    """The ratio for a difference of logarithms. None if it has no bound, or exceeds what a float can hold."""
    with np.errstate(over="ignore", under="ignore"):
        ratio = float(np.exp(logarithm))
    return ratio if 0 < ratio < math.inf else None


class SignedRank:
    """The statistic of n >= 1 paired differences."""

    def __init__(self, differences: Sequence[float] | Floats) -> None:
        d = np.asarray(differences, dtype=np.float64)
        self._cumulative = cumulative(len(d))
        with np.errstate(invalid="ignore"):
            averages = (d[:, None] + d)[np.triu_indices(len(d))] / 2
        self._lowest, self._highest = (
            np.sort(np.where(np.isnan(averages), unknown, averages)) for unknown in (-math.inf, math.inf)
        )

    def estimate(self, confidence: float = CONFIDENCE) -> IntervalEstimate:
        """Median of the Walsh averages (Hodges and Lehmann), with the exact interval.

        From the k-th smallest to the k-th largest average, k the largest number with 2 P(T <= k - 1) <= 1 - confidence.
        With fewer than 6 pairs no interval reaches 95 %: the widest is given, with the confidence that it has.
        """
        # _cumulative[k - 1] is P(T <= k - 1). Where nothing is narrow enough, k = 1 gives the widest interval.
        k = max(1, int(np.searchsorted(self._cumulative, (1 - confidence) / 2, side="right")))
        return IntervalEstimate(
            centre=_middle(_median(self._lowest), _median(self._highest)),
            low=float(self._lowest[k - 1]),
            high=float(self._highest[-k]),
            confidence=max(0.0, float(1 - 2 * self._cumulative[k - 1])),
        )

    def p(self) -> float:
        """Two-sided p against no difference."""
        return min(1.0, 2 * min(self._above(0.0), self._below(0.0)))

    def p_equivalent(self, margin: float) -> float:
        """The larger p of two one-sided tests (TOST) that the centre of the log ratios is beyond +-log(1 + margin).

        A small p means that the difference is within the margin. Source: Schuirmann, J. Pharmacokinet. Biopharm. 15
        (1987).
        """
        return max(self.p_not_lower(margin), self.p_not_higher(margin))

    def p_not_higher(self, margin: float) -> float:
        """One-sided p against the centre of the log ratios being above log(1 + margin)."""
        return self._below(math.log1p(margin))

    def p_not_lower(self, margin: float) -> float:
        """One-sided p against it being below -log(1 + margin)."""
        return self._above(-math.log1p(margin))

    def _above(self, bound: float) -> float:
        """One-sided p, small where the centre is above the bound. What rounding moves off the bound is on it."""
        return float(self._cumulative[np.searchsorted(self._lowest, bound + ROUNDING, side="right")])

    def _below(self, bound: float) -> float:
        against = len(self._highest) - np.searchsorted(self._highest, bound - ROUNDING, side="left")
        return float(self._cumulative[against])


def attainable(pairs: int, sides: int = 2) -> float:
    """The smallest p that data with this many pairs can have, in a one-sided or two-sided test."""
    return min(1.0, sides * 2.0**-pairs)


def size(pairs: int, level: float, sides: int = 2) -> float:
    """The largest possible p not above `level` for data with this many pairs: how often the test errs at that level."""
    total = sides * cumulative(pairs)
    return float(max(total[total <= level * (1 + 1e-9)], default=0.0))


@cache
def signed_rank_distribution(n: int) -> Floats:
    """P(T = t) for t = 0 .. n (n + 1) / 2 under the null hypothesis, n pairs without ties.

    Each rank counts with probability 1/2: the coefficients of the product over i of (1 + x^i) / 2.
    """
    distribution = np.ones(1)
    for rank in range(1, n + 1):
        positive = np.concatenate([np.zeros(rank), distribution])
        negative = np.concatenate([distribution, np.zeros(rank)])
        distribution = (positive + negative) / 2
    return distribution


@cache
def cumulative(n: int) -> Floats:
    """P(T <= t) for t = 0 .. n (n + 1) / 2."""
    return np.minimum(1.0, np.cumsum(signed_rank_distribution(n)))


def _median(averages: Floats) -> float:
    """The median of sorted averages, some of which may be infinite."""
    return _middle(float(averages[(len(averages) - 1) // 2]), float(averages[len(averages) // 2]))


def _middle(low: float, high: float) -> float:
    """Halfway between two; 0, which favours neither, between opposite infinities."""
    return 0.0 if math.isinf(low) and math.isinf(high) and low != high else (low + high) / 2
