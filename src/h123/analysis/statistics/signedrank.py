"""Implements Wilcoxon's signed-rank statistic, which gives the estimate, its interval, the test and the equivalence
test.

All four derive from the Walsh averages (d_i + d_j) / 2, i <= j, of n paired differences. Let T be the sum of the ranks
(1 .. n) of positive differences. Then T of the differences d - c is the number of Walsh averages above c (Tukey 1949).
So the interval consists of the values of c that the test does not reject, and the interval and the test cannot
contradict each other. An average equal to c counts against a difference in either direction, so with ties p can be too
large but never too small. The only assumption is that the differences are symmetric about their centre, which is true
if the two levels are equal.

If one level failed, the difference is infinite, and its rank is above all others. The average of two opposite
infinities is unknown, and also counts against a difference in either direction.

Source: Hollander, Wolfe, Chicken, Nonparametric Statistical Methods (2014), chapter 3. The results equal those of R's
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
"""The confidence that the interval must reach. The exact distribution has steps, so the actual confidence is usually
slightly higher."""
ROUNDING = 1e-12


@dataclass(frozen=True)
class IntervalEstimate:
    """The centre of paired differences with its interval. `confidence` is the interval's actual confidence, which may
    differ from the requested one."""

    centre: float
    low: float
    high: float
    confidence: float


def ratio_of(logarithm: float) -> float | None:
    """Return the ratio for a difference of logarithms. None if a float cannot represent it, for example because it is
    infinite."""
    with np.errstate(over="ignore", under="ignore"):
        ratio = float(np.exp(logarithm))
    return ratio if 0 < ratio < math.inf else None


class SignedRank:
    """The signed-rank statistic of n >= 1 paired differences."""

    def __init__(self, differences: Sequence[float] | Floats) -> None:
        d = np.asarray(differences, dtype=np.float64)
        self._cumulative = cumulative(len(d))
        with np.errstate(invalid="ignore"):
            averages = (d[:, None] + d)[np.triu_indices(len(d))] / 2
        self._lowest, self._highest = (
            np.sort(np.where(np.isnan(averages), unknown, averages)) for unknown in (-math.inf, math.inf)
        )

    def estimate(self, confidence: float = CONFIDENCE) -> IntervalEstimate:
        """Return the median of the Walsh averages (Hodges and Lehmann) with the exact interval.

        The interval reaches from the k-th smallest to the k-th largest average, where k is the largest number with 2
        P(T <= k - 1) <= 1 - confidence. With fewer than 6 pairs no interval reaches 95 %; then the widest interval is
        returned, with its actual confidence.
        """
        return _estimate(self._lowest, self._highest, self._cumulative, confidence)

    def p(self) -> float:
        """Return the two-sided p value for the null hypothesis of no difference."""
        return min(1.0, 2 * min(self._above(0.0), self._below(0.0)))

    def p_equivalent(self, margin: float) -> float:
        """Return the larger p of two one-sided tests (TOST). Their null hypotheses are that the centre of the log
        ratios is above log(1 + margin), and that it is below -log(1 + margin).

        A small p means that the difference is within the margin. Source: Schuirmann, J. Pharmacokinet. Biopharm. 15
        (1987).
        """
        return max(self.p_not_lower(margin), self.p_not_higher(margin))

    def p_not_higher(self, margin: float) -> float:
        """Return the one-sided p value for the null hypothesis that the centre of the log ratios is above log(1 +
        margin)."""
        return self._below(math.log1p(margin))

    def p_not_lower(self, margin: float) -> float:
        """Return the one-sided p value for the null hypothesis that the centre of the log ratios is below -log(1 +
        margin)."""
        return self._above(-math.log1p(margin))

    def _above(self, bound: float) -> float:
        """Return the one-sided p, which is small if the centre is above the bound. Values within rounding error count
        as equal."""
        return float(self._cumulative[np.searchsorted(self._lowest, bound + ROUNDING, side="right")])

    def _below(self, bound: float) -> float:
        against = len(self._highest) - np.searchsorted(self._highest, bound - ROUNDING, side="left")
        return float(self._cumulative[against])


def attainable(pairs: int, sides: int = 2) -> float:
    """Return the smallest p that data with this many pairs can have, in a one-sided or two-sided test."""
    return min(1.0, sides * 2.0**-pairs)


def size(pairs: int, level: float, sides: int = 2) -> float:
    """Return the largest possible p that is not above `level` for this many pairs. This is how often a test at that
    level finds a difference where there is none."""
    total = sides * cumulative(pairs)
    return float(max(total[total <= level * (1 + 1e-9)], default=0.0))


def share_estimate(parts: Sequence[float] | Floats, wholes: Sequence[float] | Floats) -> IntervalEstimate | None:
    """Return the share s for which the paired differences part - s * whole are centred at zero, with the exact interval
    of all s that the signed-rank test does not reject. None if not all wholes have the same sign.

    A Walsh average of these differences is above zero exactly if (part_i + part_j) / (whole_i + whole_j) is above s, so
    these quotients take the place of the averages.
    """
    part, whole = np.asarray(parts, dtype=np.float64), np.asarray(wholes, dtype=np.float64)
    if not len(whole) or not (np.all(whole > 0) or np.all(whole < 0)):
        return None
    pairs = np.triu_indices(len(whole))
    quotients = np.sort(((part[:, None] + part) / (whole[:, None] + whole))[pairs])
    return _estimate(quotients, quotients, cumulative(len(whole)), CONFIDENCE)


def _estimate(lowest: Floats, highest: Floats, distribution: Floats, confidence: float) -> IntervalEstimate:
    """Return the median of sorted averages with the interval from the k-th smallest to the k-th largest. `lowest` and
    `highest` differ only in averages that are unknown."""
    # distribution[k - 1] is P(T <= k - 1). If no interval has enough confidence, k = 1 gives the widest.
    k = max(1, int(np.searchsorted(distribution, (1 - confidence) / 2, side="right")))
    return IntervalEstimate(
        centre=_middle(_median(lowest), _median(highest)),
        low=float(lowest[k - 1]),
        high=float(highest[-k]),
        confidence=max(0.0, float(1 - 2 * distribution[k - 1])),
    )


@cache
def signed_rank_distribution(n: int) -> Floats:
    """Return P(T = t) for t = 0 .. n (n + 1) / 2 under the null hypothesis, for n pairs without ties.

    T includes each rank with probability 1/2, so these are the coefficients of the product over i of (1 + x^i) / 2.
    """
    distribution = np.ones(1)
    for rank in range(1, n + 1):
        positive = np.concatenate([np.zeros(rank), distribution])
        negative = np.concatenate([distribution, np.zeros(rank)])
        distribution = (positive + negative) / 2
    return distribution


@cache
def cumulative(n: int) -> Floats:
    """Return P(T <= t) for t = 0 .. n (n + 1) / 2."""
    return np.minimum(1.0, np.cumsum(signed_rank_distribution(n)))


def _median(averages: Floats) -> float:
    """Return the median of sorted averages, some of which may be infinite."""
    return _middle(float(averages[(len(averages) - 1) // 2]), float(averages[len(averages) // 2]))


def _middle(low: float, high: float) -> float:
    """Return the middle of two values. Between opposite infinities it is 0, which favours neither side."""
    return 0.0 if math.isinf(low) and math.isinf(high) and low != high else (low + high) / 2
