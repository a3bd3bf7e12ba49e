"""Sign-flip tests against enumeration by hand, and how families correct them."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from h123.analysis.families import adjust, blocks_needed, membership, smallest_adjusted
from h123.analysis.signflip import EXACT_UP_TO, attainable, equivalence, sign_flip
from h123.study import Family

DARWIN = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]
"""Crossed minus self-fertilised maize, eighths of an inch: Fisher, The Design of Experiments, section 21."""


def by_hand(values: list[float]) -> float:
    flipped = [
        sum(s * v for s, v in zip(signs, values, strict=True))
        for signs in itertools.product((1, -1), repeat=len(values))
    ]
    extreme = (
        sum(total >= sum(values) - 1e-9 for total in flipped),
        sum(total <= sum(values) + 1e-9 for total in flipped),
    )
    return min(1.0, 2 * min(extreme) / len(flipped))


@pytest.mark.parametrize("values", [[1.0, 2, 3, 4, 5, 6], [1.0, -2, 3, 4, 5, 6], [0.1, 0.2, -0.1, 0.4, 0.0, 0.3, 0.3]])
def test_exact_p_is_that_of_all_signs(values: list[float]) -> None:
    assert sign_flip(np.array([values]), seed=1)[0] == pytest.approx(by_hand(values))


def test_fishers_own_example_by_monte_carlo() -> None:
    """Fisher found 863 of 32768 sign assignments as extreme above: 5.267 % for both sides."""
    p = sign_flip(np.array([DARWIN], dtype=float), seed=3)[0]
    assert p == pytest.approx(2 * 863 / 32768, abs=3.3 * 2 * math.sqrt(0.0263 * 0.9737 / 2**EXACT_UP_TO))
    assert p == sign_flip(np.array([DARWIN], dtype=float), seed=3)[0]


def test_many_comparisons_at_once_are_the_same_as_one_by_one() -> None:
    data = np.random.default_rng(5).normal(0.5, 1, (7, 9))
    together = sign_flip(data, seed=1)
    assert together == pytest.approx([sign_flip(row[None], seed=1)[0] for row in data])


@pytest.mark.parametrize("pairs", [2, 5, 6, 10, 13, 30])
def test_the_clearest_data_have_the_attainable_p(pairs: int) -> None:
    clearest = np.full((1, pairs), 1.0) + np.arange(pairs) / 100
    assert sign_flip(clearest, seed=1)[0] == pytest.approx(attainable(pairs))
    assert sign_flip(clearest, seed=1, alternative="greater")[0] == pytest.approx(attainable(pairs, sides=1))


def test_attainable_p_of_the_literature() -> None:
    assert (attainable(0), attainable(1), attainable(5), attainable(6)) == (1, 1, 0.0625, 0.03125)


def test_equivalence_needs_differences_within_the_margin() -> None:
    close, apart = np.full((1, 6), 0.01), np.full((1, 6), math.log(1.06))
    wide = np.array([[0.3, -0.3, 0.2, -0.2, 0.1, -0.1]])
    assert equivalence(close, 0.05, 1)[0] == pytest.approx(1 / 64)
    assert equivalence(apart, 0.05, 1)[0] > 0.9
    assert equivalence(wide, 0.05, 1)[0] > 0.2
    assert equivalence(close, 0.005, 1)[0] > 0.9


@settings(max_examples=40)
@given(st.lists(st.integers(-100, 100), min_size=2, max_size=10), st.integers(1, 1000))
def test_p_ignores_scale_and_sign_and_order(values: list[int], scale: int) -> None:
    p = sign_flip(np.array([values], dtype=float), 1)[0]
    for other in (np.array(values) * scale, -np.array(values), np.sort(values)):
        assert sign_flip(other[None].astype(float), 1)[0] == pytest.approx(p)


def test_corrections_are_those_of_the_papers() -> None:
    # Benjamini and Hochberg (1995), section 3.2: 15 p values; at 5 % BH rejects the first four, Holm the first three.
    p = [
        0.0001,
        0.0004,
        0.0019,
        0.0095,
        0.0201,
        0.0278,
        0.0298,
        0.0344,
        0.0459,
        0.3240,
        0.4262,
        0.5719,
        0.6528,
        0.7590,
        1.0,
    ]
    assert sum(value <= 0.05 for value in adjust(p, "bh")) == 4
    assert sum(value <= 0.05 for value in adjust(p, "holm")) == 3
    assert adjust([0.01, 0.04, 0.03], "holm") == pytest.approx([0.03, 0.06, 0.06])
    assert adjust([], "bh") == []


def test_blocks_needed_for_a_verdict() -> None:
    assert blocks_needed(1, "holm", 0.05) == 6
    assert blocks_needed(9, "holm", 0.05) == 9
    assert blocks_needed(9, "bh", 0.05) == 6
    assert blocks_needed(10_000, "holm", 0.05) is None
    for size in (1, 9, 21, 60):
        blocks = blocks_needed(size, "holm", 0.05)
        assert blocks is not None
        assert smallest_adjusted(blocks, size, "holm") <= 0.05 < smallest_adjusted(blocks - 1, size, "holm")


def test_a_comparison_belongs_to_the_first_family_that_names_it() -> None:
    answer = Family(name="answer", correction="holm", metrics=["latency"], pairs=["b/a"], each=["network"])
    rest = Family(name="rest", correction="bh", metrics=["latency", "ttfb"])
    cell = {"network": "poor"}
    found = [
        membership([answer, rest], m, pair, cell)
        for m, pair in [("latency", ("b", "a")), ("latency", ("c", "a")), ("ttfb", ("b", "a")), ("cpu", ("b", "a"))]
    ]
    assert [one and (one.name, one.correction) for one in found] == [
        ("answer/poor", "holm"),
        ("rest", "bh"),
        ("rest", "bh"),
        None,
    ]
