"""The Hodges-Lehmann estimate and its exact interval against published values."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import wilcoxon

from h123.analysis.estimate import hodges_lehmann, signed_rank_distribution

DEPRESSION = (
    [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30],
    [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29],
)
"""Hamilton depression scale factor before and after: Hollander and Wolfe, Table 3.1; the data of R's ?wilcox.test."""

numbers = st.lists(st.floats(-10, 10), min_size=1, max_size=14)


def test_published_estimate_and_interval() -> None:
    """Hollander and Wolfe (1999), examples 3.3 and 3.4: after - before -0.46, and (-0.786, -0.010) with 96.1 %."""
    before, after = map(np.array, DEPRESSION)
    found = hodges_lehmann(after - before)
    assert found.centre == pytest.approx(-0.46)
    assert (found.low, found.high) == (pytest.approx(-0.786), pytest.approx(-0.010))
    assert found.confidence == pytest.approx(1 - 2 * 0.0195, abs=1e-4)


@pytest.mark.parametrize(
    ("n", "k", "confidence"),
    # Critical values of the signed-rank statistic, two-sided 5 %: 0, 2, 3, 5, 8, 10, 13, 17, 21, 25, 29 for n = 6 to 16
    # (Hollander and Wolfe, Table A.4); k is one more.
    [
        (6, 1, 0.96875),
        (7, 3, 0.953125),
        (8, 4, 0.9609375),
        (9, 6, 0.9609375),
        (10, 9, 0.951171875),
        (11, 11, 0.958),
        (12, 14, 0.9575),
        (13, 18, 0.9521),
        (14, 22, 0.9506),
        (15, 26, 0.9521),
        (16, 30, 0.9557),
    ],
)
def test_the_interval_ends_at_tabulated_ranks(n: int, k: int, confidence: float) -> None:
    differences = np.array([2.0**i for i in range(n)])
    walsh = sorted((differences[i] + differences[j]) / 2 for i in range(n) for j in range(i, n))
    found = hodges_lehmann(differences)
    assert (found.low, found.high) == (walsh[k - 1], walsh[-k])
    assert found.confidence == pytest.approx(confidence, abs=5e-4)


@pytest.mark.parametrize(("n", "confidence"), [(1, 0.0), (2, 0.5), (3, 0.75), (4, 0.875), (5, 0.9375)])
def test_below_six_pairs_the_widest_interval_with_its_true_confidence(n: int, confidence: float) -> None:
    found = hodges_lehmann([float(i) for i in range(n)])
    assert (found.low, found.high, found.confidence) == (0.0, n - 1.0, confidence)


@pytest.mark.parametrize("n", [1, 3, 8])
def test_the_null_distribution_is_that_of_all_signs(n: int) -> None:
    counted = np.zeros(n * (n + 1) // 2 + 1)
    for signs in range(2**n):
        counted[sum(rank for rank in range(1, n + 1) if signs >> (rank - 1) & 1)] += 1
    assert signed_rank_distribution(n) == pytest.approx(counted / 2**n)


@given(numbers)
def test_the_interval_excludes_zero_exactly_where_the_signed_rank_test_rejects(values: list[float]) -> None:
    d = np.array(values)
    magnitudes = np.abs(d)
    if len(d) < 6 or len(set(magnitudes)) < len(d) or magnitudes.min() == 0:
        return  # the exact test knows neither ties nor zeros
    found = hodges_lehmann(d)
    rejects = wilcoxon(d, method="exact").pvalue <= 1 - found.confidence + 1e-12
    assert rejects == (found.low > 0 or found.high < 0)


@given(numbers, st.floats(-5, 5), st.randoms())
def test_shift_sign_and_order(values: list[float], shift: float, random: object) -> None:
    found = hodges_lehmann(values)
    assert found.low <= found.centre <= found.high
    shifted = hodges_lehmann([value + shift for value in values])
    assert (shifted.centre, shifted.low) == (pytest.approx(found.centre + shift), pytest.approx(found.low + shift))
    mirrored = hodges_lehmann([-value for value in values])
    assert (mirrored.centre, mirrored.low) == (pytest.approx(-found.centre), pytest.approx(-found.high))
    shuffled = list(values)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    again = hodges_lehmann(shuffled)
    assert (again.centre, again.low, again.high) == (
        pytest.approx(found.centre),
        pytest.approx(found.low),
        pytest.approx(found.high),
    )


def test_coverage_is_what_it_says() -> None:
    """Share of intervals that hold the true centre, 8 pairs, 4000 draws: within its 99.9 % binomial band."""
    seed, n, draws = 20261121, 8, 4000
    print("seed", seed)
    data = np.random.default_rng(seed).normal(0.3, 1, (draws, n))
    found = [hodges_lehmann(row) for row in data]
    covered = sum(one.low <= 0.3 <= one.high for one in found)
    claimed = found[0].confidence
    assert abs(covered / draws - claimed) < 3.3 * math.sqrt(claimed * (1 - claimed) / draws)
