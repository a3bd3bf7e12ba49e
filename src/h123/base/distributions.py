"""Implements the distributions that tests and intervals need: binomial, normal, Student's t and the noncentral t.

SciPy offers all of them, but is larger than the rest of h123. tests/base/test_distributions.py compares these functions
with SciPy's.
"""

import math
from statistics import NormalDist
from typing import Any

import numpy as np

Floats = np.ndarray[Any, np.dtype[np.float64]]

_NOTHING = 745
"""exp(-_NOTHING) is too small for a float."""
_NEGLIGIBLE = 40
"""exp(-_NEGLIGIBLE) is too small to change a float near 1."""
_LARGE = 32.0
"""From this argument on, the series in `_half_step` is exact to the last digit."""
_TINY = 1e-300
_STEPS = 10_000


def binomial_cdf(n: int, share: float) -> Floats:
    """Return P(B <= k) for k from 0 to n, where B is binomial (n, share) and 0 < share < 1."""
    low, some = _binomial(n, share)
    whole = np.ones(n + 1)
    whole[:low] = 0.0
    whole[low : low + len(some)] = some
    return whole


def binomial_quantile(level: float, n: int, share: float) -> int:
    """Return the smallest k with P(B <= k) >= level, where B is binomial (n, share)."""
    low, some = _binomial(n, share)
    return low + int(np.searchsorted(some, level))


def _binomial(n: int, share: float) -> tuple[int, Floats]:
    """Return a k below which every probability is too small for a float, and P(B <= k) for this k and larger ones.

    Starting at the mode, each probability is its neighbour's times a ratio of whole numbers and the odds (Johnson,
    Kemp, Kotz, Univariate Discrete Distributions (2005), section 3.4). The sum is scaled to 1, so the probability of
    the mode need not be known.
    """
    mode, odds = min(n, int((n + 1) * share)), share / (1 - share)
    # Bernstein's inequality: the probability beyond is too small for a float.
    reach = math.ceil(_NOTHING / 3 + math.sqrt((_NOTHING / 3) ** 2 + 2 * _NOTHING * n * share * (1 - share)))
    low, high = max(0, mode - reach), min(n, mode + reach)
    up, down = np.arange(mode, high, dtype=np.float64), np.arange(mode, low, -1, dtype=np.float64)
    above = np.cumprod((n - up) / (up + 1) * odds)
    below = np.cumprod(down / (n - down + 1) / odds)
    cumulative = np.cumsum(np.concatenate([below[::-1], [1.0], above]))
    return low, cumulative / cumulative[-1]


def normal_cdf(z: float) -> float:
    """Return P(Z <= z), where Z is standard normal."""
    return math.erfc(-z / math.sqrt(2)) / 2


def student_cdf(freedom: float, t: float) -> float:
    """Return P(T <= t) for Student's t with `freedom` > 0 degrees of freedom.

    Uses the incomplete beta function. Source: Johnson, Kotz, Balakrishnan, Continuous Univariate Distributions 2
    (1995), section 28.2.
    """
    tail = _student_tail(freedom, abs(t))
    return tail if t < 0 else 1 - tail


def student_quantile(freedom: float, p: float) -> float:
    """Return the t with P(T <= t) = p for Student's t, where 0 < p < 1.

    Uses Newton's method for the logarithm of the tail as a function of log t. This function is concave, so from the
    second step on, the method approaches the result from above.
    """
    if p == 0.5:
        return 0.0
    tail = min(p, 1 - p)
    # Start at the quantile of the normal distribution, which is closer to 0.
    log = math.log(-NormalDist().inv_cdf(tail))
    for _ in range(_STEPS):
        t = math.exp(log)
        tail_at_t = _student_tail(freedom, t)
        step = (math.log(tail_at_t) - math.log(tail)) * tail_at_t / (t * _student_density(freedom, t))
        log += step
        if abs(step) < 1e-9:  # the remaining error is about its square
            break
    return math.copysign(math.exp(log), p - 0.5)


def noncentral_student_cdf(freedom: float, noncentrality: float, t: float) -> float:
    """Return P(T <= t) for T = (Z + noncentrality) / S, where S is the square root of a chi-squared variable divided by
    its degrees of freedom. The result is the mean of P(Z <= t * s - noncentrality) over all values s of S.

    Uses the trapezoid rule over log s, whose error falls exponentially for analytic functions that vanish on both sides
    (Trefethen, Weideman, SIAM Review 56, 2014, section 5). The absolute error is below 1e-13.
    """
    width = 1 / math.sqrt(2 * freedom + noncentrality**2 + 25)
    step = width / 2
    # Log s has the density exp(freedom * (u - exp(2 u) / 2)), times a constant, which is highest at 0.
    low = -1.0
    while _spread(freedom, low) > -_NEGLIGIBLE:
        low *= 1.25
    high = 0.25
    while _spread(freedom, high) > -_NEGLIGIBLE:
        high *= 1.25
    places = np.arange(math.floor(low / step), math.ceil(high / step) + 1) * step
    weights = np.exp(freedom * (places - np.expm1(2 * places) / 2))
    densities = [normal_cdf(t * s - noncentrality) for s in np.exp(places).tolist()]
    return min(1.0, float(weights @ densities) / float(weights.sum()))


def _spread(freedom: float, place: float) -> float:
    return freedom * (place - math.expm1(2 * place) / 2)


def _student_density(freedom: float, t: float) -> float:
    height = _half_step(freedom / 2) / math.sqrt(freedom * math.pi)
    return height * math.exp(-(freedom + 1) / 2 * math.log1p(t * t / freedom))


def _student_tail(freedom: float, t: float) -> float:
    """Return P(T > t) for Student's t, where t >= 0."""
    if t == 0:
        return 0.5
    ratio = t * t / freedom
    x, rest = 1 / (1 + ratio), ratio / (1 + ratio)
    # x ** a * rest ** b / B(a, b), with a = freedom / 2, b = 1/2; the gamma function of 1/2 is the root of pi.
    front = _half_step(freedom / 2) * math.sqrt(rest / math.pi) * math.exp(-freedom / 2 * math.log1p(ratio))
    if x < (freedom + 2) / (freedom + 5):
        return front / freedom * _beta_fraction(freedom / 2, 0.5, x)
    return 0.5 - front * _beta_fraction(0.5, freedom / 2, rest)


def _beta_fraction(a: float, b: float, x: float) -> float:
    """Return the regularized incomplete beta function I_x(a, b) times a * B(a, b) / (x ** a * (1 - x) ** b).
    Converges quickly for x < (a + 1) / (a + b + 2).

    Uses the continued fraction of the NIST Digital Library of Mathematical Functions, 8.17.22, with Lentz's method
    (ibid., 3.10(iii)).
    """
    c, d = 1.0, 1 / _nonzero(1 - (a + b) * x / (a + 1))
    fraction = d
    for m in range(1, _STEPS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d, c = 1 / _nonzero(1 + term * d), _nonzero(1 + term / c)
            fraction *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return fraction


def _nonzero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY


def _half_step(a: float) -> float:
    """Return Gamma(a + 1/2) / Gamma(a), for a > 0.

    Uses Gamma(a + 1) = a * Gamma(a) until a is large, and then the asymptotic series (NIST Digital Library of
    Mathematical Functions, 5.11.13).
    """
    product = 1.0
    while a < _LARGE:
        product *= a / (a + 0.5)
        a += 1
    by = 1 / a
    series = 1 + by * (-1 / 8 + by * (1 / 128 + by * (5 / 1024 + by * (-21 / 32768 + by * (-399 / 262144)))))
    # From _LARGE on, only two more terms are large enough to matter.
    series += by**6 * (869 / 4194304 + by * 39325 / 33554432)
    return product * math.sqrt(a) * series
