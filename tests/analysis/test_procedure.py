"""The published procedure's statistics against values that others published: R's documented examples and tables."""

import itertools
import math

import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests

from h123.analysis.as_published import procedure
from h123.analysis.as_published.procedure import MannWhitney, decide, kruskal_wallis, mann_whitney, shapiro_wilk
from h123.analysis.statistics.families import adjust
from h123.analysis.statistics.signedrank import signed_rank_distribution

TERM = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46]
EARLY = [1.15, 0.88, 0.90, 0.74, 1.21]
"""Permeability of human chorioamnion: Hollander and Wolfe (1973), page 69; the data of R's ?wilcox.test."""

OZONE = {
    5: [41, 36, 12, 18, 28, 23, 19, 8, 7, 16, 11, 14, 18, 14, 34, 6, 30, 11, 1, 11, 4, 32, 23, 45, 115, 37],
    6: [29, 71, 39, 23, 21, 37, 20, 12, 13],
    7: [135, 49, 32, 64, 40, 77, 97, 97, 85, 10, 27, 7, 48, 35, 61, 79, 63, 16, 80, 108, 20, 52, 82, 50, 64, 59],
    8: [39, 9, 16, 78, 35, 66, 122, 89, 110, 44, 28, 65, 22, 59, 23, 31, 44, 21, 9, 45, 168, 73, 76, 118, 84, 85],
    9: [96, 78, 73, 91, 47, 32, 20, 23, 21, 24, 44, 21, 28, 9, 13, 46, 18, 13, 24, 16, 13, 23, 36, 7, 14, 30, 14],
}
OZONE[9] += [18, 20]
"""New York's ozone by month of 1973: R's data set airquality."""

WEIGHTS = [148, 154, 158, 160, 161, 162, 166, 170, 182, 195, 236]
"""Weights of 11 men: Shapiro and Wilk, Biometrika 52 (1965), example 1."""

MILES = [21, 21, 22.8, 21.4, 18.7, 18.1, 14.3, 24.4, 22.8, 19.2, 17.8, 16.4, 17.3, 15.2, 10.4, 10.4, 14.7, 32.4]
MILES += [30.4, 33.9, 21.5, 15.5, 15.2, 13.3, 19.2, 27.3, 26, 30.4, 15.8, 19.7, 15, 21.4]
"""R's data set mtcars, mpg."""


def arrays(*samples: list[float]) -> list[np.ndarray]:
    return [np.array(sample, dtype=float) for sample in samples]


def test_exact_mann_whitney_is_that_of_r() -> None:
    """?wilcox.test: W = 35, one-sided p = 0.1272; hence 0.2544 two-sided."""
    found = mann_whitney(*arrays(TERM, EARLY))
    assert found.u == 35
    assert found.p == pytest.approx(2 * 0.1272, abs=1e-4)
    assert found.r_rb == pytest.approx(2 * 35 / 50 - 1)


def test_mann_whitney_with_ties_is_that_of_r() -> None:
    """?wilcox.test, Ozone of May and August: W = 127.5, p-value = 0.0001208."""
    found = mann_whitney(*arrays(OZONE[5], OZONE[8]))
    assert found.u == 127.5
    assert found.p == pytest.approx(0.0001208, abs=5e-8)


@pytest.mark.parametrize(("n", "critical"), [(4, 0), (5, 2), (6, 5), (7, 8), (8, 13)])
def test_mann_whitney_has_the_tabulated_critical_values(n: int, critical: int) -> None:
    """Two-sided 5 %, n = m: Mann and Whitney's U is 0, 2, 5, 8, 13 for 4 to 8 (Milton, JASA 59, 1964)."""

    def with_u(u: int) -> float:
        # Ranks of the first sample: the lowest, with `u` inversions made from the top.
        first = list(range(n))
        for place in reversed(range(n)):
            step = min(n, u)
            first[place] += step
            u -= step
        rest = [value for value in range(2 * n) if value not in first]
        return mann_whitney(*arrays(list(map(float, first)), list(map(float, rest)))).p

    assert with_u(critical) <= 0.05 < with_u(critical + 1)


def test_three_runs_against_three_can_never_be_significant() -> None:
    """The paper's n = 3 of 3: the smallest p is 0.1, and |r_rb| is one of five values, none of which it reports."""
    found = set()
    for chosen in itertools.combinations(range(6), 3):
        rest = [value for value in range(6) if value not in chosen]
        test = mann_whitney(*arrays(list(map(float, chosen)), list(map(float, rest))))
        assert test.p >= 0.1 - 1e-12
        found.add(round(abs(test.r_rb), 3))
    assert sorted(found) == [0.111, 0.333, 0.556, 0.778, 1.0]


def test_signed_rank_is_that_of_r() -> None:
    """?wilcox.test, depression data (n = 9): V = 40, p-value = 0.01953 one-sided."""
    assert signed_rank_distribution(9)[40:].sum() == pytest.approx(0.01953125)


def test_kruskal_wallis_is_that_of_r() -> None:
    """?kruskal.test: mucociliary efficiency (Hollander and Wolfe 1973, page 115) H = 0.7714, p = 0.68; Ozone by month
    chi-squared = 29.267, df = 4, p-value = 6.901e-06."""
    found = kruskal_wallis(arrays([2.9, 3.0, 2.5, 2.6, 3.2], [3.8, 2.7, 4.0, 2.4], [2.8, 3.4, 3.7, 2.2, 2.0]))
    assert found == (pytest.approx(0.7714, abs=5e-5), pytest.approx(0.68, abs=5e-4))
    assert kruskal_wallis(arrays(*OZONE.values())) == (
        pytest.approx(29.267, abs=5e-4),
        pytest.approx(6.901e-06, abs=5e-10),
    )
    assert kruskal_wallis(arrays([1.0, 1.0], [1.0])) is None


def test_shapiro_wilk_is_that_of_the_paper_and_of_r() -> None:
    """Shapiro and Wilk's own example: W = 0.79, significant at 1 %. R's shapiro.test(mtcars$mpg): W = 0.94756,
    p-value = 0.1229."""
    (weights, miles) = arrays(WEIGHTS, MILES)
    found = shapiro_wilk(weights, seed=1)
    assert found is not None
    assert found["w"] == pytest.approx(0.79, abs=5e-3)
    assert found["p"] < 0.01
    found = shapiro_wilk(miles, seed=1)
    assert found is not None
    assert (found["w"], found["p"]) == (pytest.approx(0.94756, abs=5e-6), pytest.approx(0.1229, abs=5e-5))


def test_shapiro_wilk_draws_5000_of_more() -> None:
    many = np.random.default_rng(4).normal(size=20_000)
    found = shapiro_wilk(many, seed=9)
    assert found is not None
    assert found["n"] == 5000
    assert found == shapiro_wilk(many, seed=9) != shapiro_wilk(many, seed=10)
    assert shapiro_wilk(np.ones(50), seed=1) is None


@pytest.mark.parametrize(
    ("spread", "word"),
    [
        (0.0999, "highly consistent"),
        (0.101, "consistent"),
        (0.1499, "consistent"),
        (0.1999, "sufficiently consistent"),
        (0.21, "inconsistent"),
    ],
)
def test_classes_of_consistency(spread: float, word: str) -> None:
    """Three runs at 1 - s, 1, 1 + s have a standard deviation of s."""
    found = procedure.consistency(np.array([1 - spread, 1.0, 1 + spread]) * 0.125)
    assert found == (pytest.approx(spread), word)
    assert procedure.consistency(np.array([1.0])) is None


@pytest.mark.parametrize(
    ("r_rb", "word"),
    [
        (0.05, "negligible"),
        (0.1, "small"),
        (0.299, "small"),
        (-0.422, "moderate"),
        (0.499, "moderate"),
        (-0.508, "large"),
    ],
)
def test_classes_of_effect_are_those_of_table_v(r_rb: float, word: str) -> None:
    assert procedure.effect_class(r_rb) == word


@pytest.mark.parametrize(
    ("p", "r_rb", "difference", "verdict"),
    [
        (0.001, -0.422, -0.312, "faster"),  # the paper's GET, small, high, poor
        (0.001, 0.356, 0.293, "slower"),  # its GET, medium, high, baseline
        (0.001, -0.299, -0.312, "not practical"),
        (0.001, -0.422, -0.099, "not practical"),
        (0.001, -0.3, -0.10, "faster"),
        (0.05, -0.9, -0.5, "not significant"),
    ],
)
def test_all_three_criteria_must_be_met(p: float, r_rb: float, difference: float, verdict: str) -> None:
    assert decide(MannWhitney(0.0, p, r_rb), difference, lower_is_better=True) == verdict
    mirrored = {"faster": "slower", "slower": "faster"}.get(verdict, verdict)
    assert decide(MannWhitney(0.0, p, r_rb), difference, lower_is_better=False) == mirrored


def test_correlation_within_runs_is_found() -> None:
    seed = 12
    print("seed", seed)
    random = np.random.default_rng(seed)
    runs = [np.exp(mean + random.normal(0, math.sqrt(0.8), 50)) for mean in random.normal(0, math.sqrt(0.2), 400)]
    found = procedure.intra_run_correlation(runs)
    assert found == pytest.approx(0.2, abs=0.03)
    assert procedure.independent_requests(runs, 0.2) == pytest.approx(20_000 / (1 + 49 * 0.2))
    same = [np.exp(np.arange(10.0))] * 3
    assert procedure.intra_run_correlation(same) == 0
    assert procedure.intra_run_correlation(same[:1]) is None


@pytest.mark.parametrize(("correction", "method"), [("holm", "holm"), ("bh", "fdr_bh")])
def test_corrections_by_hand_and_by_statsmodels(correction: str, method: str) -> None:
    random = np.random.default_rng(6)
    for size in (1, 2, 7, 72):
        p = np.sort(random.uniform(0, 0.2, size))
        if correction == "holm":  # Holm (1979): p_(i) (m - i + 1), made monotone from below
            hand = np.minimum(1, np.maximum.accumulate(p * (size - np.arange(size))))
        else:  # Benjamini and Hochberg (1995): p_(i) m / i, made monotone from above
            hand = np.minimum(1, np.minimum.accumulate((p * size / np.arange(1, size + 1))[::-1])[::-1])
        assert adjust(p, correction) == pytest.approx(hand)
        assert adjust(p, correction) == pytest.approx(multipletests(p, method=method)[1])
