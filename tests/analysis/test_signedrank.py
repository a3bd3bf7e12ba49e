"""The signed-rank statistic against published values, against scipy, and against itself: test and interval agree."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import wilcoxon

from h123.analysis.statistics.signedrank import IntervalEstimate, SignedRank, attainable, signed_rank_distribution

DEPRESSION = (
    [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30],
    [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29],
)
"""Hamilton depression scale factor before and after: Hollander and Wolfe, Table 3.1; the data of R's ?wilcox.test."""

DARWIN = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]
"""Crossed minus self-fertilised maize, eighths of an inch: Fisher, The Design of Experiments, section 21."""

numbers = st.lists(st.floats(-10, 10), min_size=1, max_size=14)


def hodges_lehmann(differences: Any) -> IntervalEstimate:
    return SignedRank(differences).estimate()


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


@given(st.lists(st.floats(-10, 10), min_size=2, max_size=14, unique_by=abs))
def test_without_ties_p_is_that_of_scipy(values: list[float]) -> None:
    if min(map(abs, values)) < 1e-6 or np.diff(np.sort(np.abs(values))).min() < 1e-6:
        return  # as good as tied
    assert SignedRank(values).p() == pytest.approx(wilcoxon(values, method="exact").pvalue)


def test_darwins_maize() -> None:
    """T = 96 of 120 with 15 pairs: p = .041 (R: wilcox.test(..., exact = TRUE))."""
    assert SignedRank(DARWIN).p() == pytest.approx(0.0413, abs=5e-5)


@given(st.lists(st.integers(-5, 5), min_size=6, max_size=14))
def test_test_and_interval_never_contradict_each_other(values: list[int]) -> None:
    """With ties and zeros too."""
    found = SignedRank([float(value) for value in values])
    interval = found.estimate()
    rejects = found.p() <= 1 - interval.confidence + 1e-12
    assert rejects == (interval.low > 0 or interval.high < 0)
    if rejects:
        assert interval.centre * interval.low > 0


def test_one_outlier_takes_no_part_in_the_answer() -> None:
    """Twelve blocks at 0.7 and one at 8: the mean's test said p = .387 beside an interval from 0.70 to 0.70."""
    found = SignedRank(np.log([0.7] * 12 + [8.0]))
    assert found.p() == pytest.approx(2 * float(signed_rank_distribution(13)[:14].sum()))
    assert found.p() < 0.05
    assert math.exp(found.estimate().high) < 1


@given(st.lists(st.integers(-100, 100), min_size=2, max_size=10), st.integers(1, 1000))
def test_p_ignores_scale_and_sign_and_order(values: list[int], scale: int) -> None:
    p = SignedRank([float(value) for value in values]).p()
    for other in (np.array(values) * scale, -np.array(values), np.sort(values)):
        assert SignedRank(other.astype(float)).p() == pytest.approx(p)


@pytest.mark.parametrize("seed", range(3))
def test_ties_make_p_too_large_and_never_too_small(seed: int) -> None:
    """Symmetric differences with many ties and zeros: rejections at most as many as the level."""
    random, draws = np.random.default_rng(seed), 3000
    print("seed", seed)
    rejected = sum(SignedRank(random.integers(-2, 3, 10).astype(float)).p() <= 0.05 for _ in range(draws))
    assert rejected / draws <= 0.05


def test_all_alike_is_no_difference() -> None:
    assert SignedRank([0.0] * 8).p() == 1


def test_a_side_that_fails_loses_the_block() -> None:
    """Twelve blocks of which the first side failed in four and was faster in the others."""
    found = SignedRank([-0.2] * 8 + [math.inf] * 4)
    assert found.p() > 0.05
    assert found.estimate().high == math.inf
    certain = SignedRank([math.inf] * 8)
    assert (certain.p(), certain.estimate().centre) == (attainable(8), math.inf)
    torn = SignedRank([math.inf] * 4 + [-math.inf] * 4)
    assert (torn.p(), torn.estimate().centre) == (1, 0)


@pytest.mark.parametrize("pairs", [2, 5, 6, 10, 13, 30])
def test_the_clearest_data_have_the_attainable_p(pairs: int) -> None:
    clearest = SignedRank([1.0 + number / 100 for number in range(pairs)])
    assert clearest.p() == pytest.approx(attainable(pairs))
    assert clearest.p_equivalent(3.0) == pytest.approx(attainable(pairs, sides=1))


def test_attainable_p_of_the_literature() -> None:
    assert (attainable(0), attainable(1), attainable(5), attainable(6)) == (1, 1, 0.0625, 0.03125)


def test_equivalence_needs_differences_within_the_margin() -> None:
    close, apart = SignedRank([0.01] * 6), SignedRank([math.log(1.06)] * 6)
    wide = SignedRank([0.3, -0.3, 0.2, -0.2, 0.1, -0.1])
    assert close.p_equivalent(0.05) == pytest.approx(1 / 64)
    assert apart.p_equivalent(0.05) > 0.9
    assert wide.p_equivalent(0.05) > 0.2
    assert close.p_equivalent(0.005) > 0.9


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


TIED = [[1.0, -1.0], [2.0, 2.0, -2.0, -2.0], [0.5] * 5 + [-0.5] * 5, [3.0, -3.0, 1.0, -1.0, 1.0, -1.0], [0.0] * 7]
"""Magnitudes tied and a sum of 0: a normal approximation beside it said .72 to .99."""


@pytest.mark.parametrize("differences", TIED)
def test_tied_magnitudes_that_add_up_to_nothing_have_p_1(differences: list[float]) -> None:
    found = SignedRank(differences)
    assert found.p() == 1
    assert found.estimate().centre == 0


@pytest.mark.parametrize(
    ("differences", "p"),
    # By hand: Walsh averages at or below 0, looked up in the exact distribution of T.
    [
        ([1.0] * 6, 2 / 64),
        ([1.0] * 5 + [-1.0], 2 * 14 / 64),  # -1 itself, and five averages of 0: P(T <= 6) = 14/64
        ([1.0] * 5 + [0.0], 2 * 2 / 64),  # the 0 alone: P(T <= 1) = 2/64
        ([2.0, 1.0, 1.0, 1.0, 1.0, -1.0], 2 * 10 / 64),  # -1 itself, and four averages of 0: P(T <= 5) = 10/64
    ],
)
def test_known_p_with_ties(differences: list[float], p: float) -> None:
    assert SignedRank(differences).p() == pytest.approx(p)


def test_one_sided_bounds_by_hand() -> None:
    """Six log ratios of 0.05: all are below log 1.1, above -log 1.1, and above log 1.02."""
    found = SignedRank([0.05] * 6)
    assert found.p_not_higher(0.1) == pytest.approx(1 / 64)
    assert found.p_not_lower(0.1) == pytest.approx(1 / 64)
    assert found.p_not_higher(0.02) == 1
