"""The triples test against a count by hand and its level; the sign test against the binomial distribution."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from h123.analysis.statistics.symmetry import FEWEST, LEVEL, SignTest, _leaning, symmetry

numbers = st.lists(st.floats(-10, 10), min_size=1, max_size=14)


@pytest.mark.parametrize("blocks", [8, 13, 20, 30])
def test_symmetric_differences_fail_as_often_as_the_level_says(blocks: int) -> None:
    seed, campaigns = 20261122, 600
    print("seed", seed)
    random = np.random.default_rng([seed, blocks])
    found = [symmetry(row) for row in random.normal(0, 1, (campaigns, blocks))]
    share = sum(p is not None and p <= LEVEL for p in found) / campaigns
    print("rejected", share)
    assert share <= LEVEL + 0.06  # its standard error is an estimate, so the level is near and not exact


def test_lopsided_differences_are_seen() -> None:
    seed = 20261122
    print("seed", seed)
    rows = np.exp(np.random.default_rng(seed).normal(0, 1, (100, 30)))
    assert np.mean([(symmetry(row) or 0.0) <= LEVEL for row in rows]) > 0.8


@given(st.lists(st.integers(-20, 20), min_size=FEWEST, max_size=9))
def test_the_statistic_counts_triples_that_lean(values: list[int]) -> None:
    """Mirrored differences lean the other way as much, and shifting them changes nothing."""
    p = symmetry([float(value) for value in values])
    for other in ([-value for value in values], [value + 7 for value in values], values[::-1]):
        assert symmetry([float(value) for value in other]) == (None if p is None else pytest.approx(p))
    leans = sum(np.sign(a + c - 2 * b) for a, b, c in (sorted(triple) for triple in itertools.combinations(values, 3)))
    if leans == 0 and p is not None:
        assert p == pytest.approx(1)


@given(st.lists(st.integers(-9, 9), min_size=FEWEST, max_size=12), st.sampled_from([1.0, 0.1]))
def test_pairs_lean_as_counting_every_triple_says(values: list[int], scale: float) -> None:
    """Ties included, those that rounding hides too: `_leaning` never makes a triple."""
    d = np.sort(np.array(values, dtype=float))
    counted = np.zeros((len(d), len(d)))
    for triple in itertools.combinations(range(len(d)), 3):
        low, middle, high = d[list(triple)]
        for pair in itertools.combinations(triple, 2):
            counted[pair] += np.sign(low + high - 2 * middle)
    assert np.array_equal(_leaning(d * scale), counted)


def test_nothing_is_said_of_few_or_infinite_differences() -> None:
    assert symmetry([1.0] * (FEWEST - 1)) is None
    assert symmetry([1.0] * FEWEST + [float("inf")]) is None


@given(st.lists(st.floats(-10, 10).filter(bool), min_size=1, max_size=20))
def test_p_is_that_of_the_binomial_test(values: list[float]) -> None:
    if min(map(abs, values)) > 1e-9:
        positive = sum(value > 0 for value in values)
        assert SignTest(values).p() == pytest.approx(binomtest(positive, len(values)).pvalue)


@given(numbers, st.floats(0.6, 0.99))
def test_test_and_interval_never_contradict_each_other(values: list[float], confidence: float) -> None:
    found = SignTest(values)
    interval = found.estimate(confidence)
    if interval.confidence >= confidence:
        rejects = found.p() <= 1 - interval.confidence + 1e-12
        assert rejects == (interval.low > 1e-12 or interval.high < -1e-12)
