"""The distributions against SciPy's, over all that tests and intervals ask of them, and against exact values."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import special, stats

from h123.base.distributions import (
    binomial_cdf,
    binomial_quantile,
    noncentral_student_cdf,
    normal_cdf,
    student_cdf,
    student_quantile,
)

SMALLEST = 1e-250
"""Below it SciPy's values have fewer digits."""
freedoms = st.one_of(st.integers(1, 200).map(float), st.floats(0.5, 1000))


@given(st.integers(1, 3000), st.one_of(st.sampled_from([0.5, 0.95, 0.99]), st.floats(1e-4, 1 - 1e-4)))
def test_binomial_sums_are_those_of_scipy(n: int, share: float) -> None:
    found, wanted = binomial_cdf(n, share), special.bdtr(np.arange(n + 1), n, share)
    told = wanted > SMALLEST
    np.testing.assert_allclose(found[told], wanted[told], rtol=2e-11)
    assert (found[~told] <= 2 * SMALLEST).all()
    assert (np.diff(found) >= 0).all()
    assert found[-1] == 1


@given(st.integers(1, 200))
def test_tosses_of_a_coin_are_counted(n: int) -> None:
    exact = [sum(math.comb(n, other) for other in range(k + 1)) / 2**n for k in range(n + 1)]
    np.testing.assert_allclose(binomial_cdf(n, 0.5), exact, rtol=1e-12)


@given(st.integers(1, 10_000_000), st.floats(1e-5, 1 - 1e-5), st.sampled_from([0.0005, 0.025, 0.5, 0.9995]))
def test_binomial_quantiles_are_those_of_scipy(n: int, share: float, level: float) -> None:
    near = int(stats.binom.ppf(level, n, share))
    # Where a sum is the level itself but for rounding, either number is right.
    assume(min(abs(special.bdtr(k, n, share) - level) for k in (near - 1, near) if k >= 0) > 1e-9)
    assert binomial_quantile(level, n, share) == near


@given(st.floats(-35, 35))
def test_the_normal_distribution_is_that_of_scipy(z: float) -> None:
    assert normal_cdf(z) == pytest.approx(float(special.ndtr(z)), rel=1e-12)


@given(freedoms, st.floats(-300, 300))
def test_students_t_is_that_of_scipy(freedom: float, t: float) -> None:
    wanted = float(special.stdtr(freedom, t))
    assume(wanted > SMALLEST)
    assume(t == 0 or abs(t) > 1e-4 * freedom)  # SciPy adds t * t to the freedom, and loses the digits of a smaller t
    assert student_cdf(freedom, t) == pytest.approx(wanted, rel=1e-11)


@given(st.floats(-1e6, 1e6))
def test_students_t_with_one_and_two_degrees_of_freedom_is_known_exactly(t: float) -> None:
    """Cauchy's distribution; and 1/2 + t / (2 sqrt(2 + t^2))."""
    one = math.atan2(1, -t) / math.pi
    assert student_cdf(1, t) == pytest.approx(one, rel=1e-12)
    root = math.sqrt(2 + t * t)
    two = 1 / (root * (root - t)) if t < 0 else 1 - 1 / (root * (root + t))
    assert student_cdf(2, t) == pytest.approx(two, rel=1e-12)


@given(freedoms, st.one_of(st.floats(1e-12, 0.499), st.floats(0.501, 1 - 1e-6)))
def test_students_quantiles_are_those_of_scipy(freedom: float, p: float) -> None:
    assert student_quantile(freedom, p) == pytest.approx(float(special.stdtrit(freedom, p)), rel=1e-11)


@given(freedoms, st.floats(1e-9, 0.4999))
def test_a_quantile_is_reached(freedom: float, p: float) -> None:
    assert student_cdf(freedom, student_quantile(freedom, p)) == pytest.approx(p, rel=1e-12)
    assert student_quantile(freedom, 1 - p) == pytest.approx(-student_quantile(freedom, p), rel=1e-6)
    assert student_quantile(freedom, 0.5) == 0


@given(st.floats(1, 400), st.floats(-37, 37), st.floats(-8, 8))
def test_the_noncentral_t_is_that_of_scipy(freedom: float, noncentrality: float, off: float) -> None:
    t = noncentrality + off * math.sqrt(1 + noncentrality**2 / freedom)
    wanted = float(special.nctdtr(freedom, noncentrality, t))
    assume(not math.isnan(wanted))
    # SciPy is 1.4e-11 away from the arctangent at 1 degree of freedom and t = 1e-6.
    assert noncentral_student_cdf(freedom, noncentrality, t) == pytest.approx(wanted, abs=1e-10)


@given(freedoms, st.floats(-50, 50))
def test_without_noncentrality_it_is_students(freedom: float, t: float) -> None:
    assert noncentral_student_cdf(freedom, 0, t) == pytest.approx(student_cdf(freedom, t), abs=1e-13)


@given(freedoms, st.floats(-37, 37))
def test_at_zero_it_is_the_normal_distribution(freedom: float, noncentrality: float) -> None:
    assert noncentral_student_cdf(freedom, noncentrality, 0) == pytest.approx(normal_cdf(-noncentrality), rel=1e-12)


def test_no_test_finds_what_no_value_reaches() -> None:
    assert noncentral_student_cdf(5, 3, math.inf) == 1
    assert noncentral_student_cdf(5, 3, -math.inf) == 0
