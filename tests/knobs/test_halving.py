"""Which candidates stay, on values that are known."""

import itertools
import math
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from h123.analysis.comparisons.rows import JudgedComparison
from h123.tuning import DEFAULT, Knob, Scores, claims, effects, half, ranked, rounds
from h123.tuning.words import claim_words

MARGIN = 0.03


@given(st.integers(0, 127))
def test_every_round_keeps_half_doubles_the_blocks_and_leaves_one(challengers: int) -> None:
    planned = list(rounds(challengers))
    assert bool(planned) == (challengers > 1)
    for earlier, later in itertools.pairwise(planned):
        assert later.candidates == half(earlier.candidates)
        assert later.blocks == 2 * earlier.blocks
    if planned:
        assert half(planned[-1].candidates) == 1
        assert planned[0].blocks >= 1


def test_the_rounds_of_64_candidates_cost_about_the_same() -> None:
    assert [(each.candidates, each.blocks) for each in rounds(63)] == [
        (63, 1),
        (32, 2),
        (16, 4),
        (8, 8),
        (4, 16),
        (2, 32),
    ]


def test_cells_count_alike_however_many_blocks_they_have() -> None:
    scores = Scores()
    for value in (0.1, 0.3):
        scores.add("c2", ("a",), value)
    scores.add("c2", ("b",), -0.4)
    assert scores.of("c2") == pytest.approx(-0.1)
    assert scores.of(DEFAULT) == 0
    assert scores.of("c3") == math.inf


def test_of_candidates_that_are_alike_the_one_with_fewer_changes_is_better() -> None:
    scores = {"c2": -0.400, "c3": -0.398, "c4": -0.2, "c5": math.inf}
    assert ranked(scores, {"c2": 3, "c3": 1, "c4": 1, "c5": 1}, MARGIN) == ["c3", "c2", "c4", "c5"]


@given(st.dictionaries(st.text("abc", min_size=1), st.floats(-2, 2) | st.just(math.inf), max_size=9))
def test_the_best_is_never_worse_than_another_by_more_than_a_third_of_the_margin(scores: dict[str, float]) -> None:
    order = ranked(scores, dict.fromkeys(scores, 1), MARGIN)
    assert sorted(order) == sorted(scores)
    if order and math.isfinite(min(scores.values())):
        assert scores[order[0]] <= min(scores.values()) + math.log1p(MARGIN) / 3 + 1e-9


def test_the_effect_of_a_knob_is_its_mean_over_the_others() -> None:
    knobs = [Knob("a", ("1", "2"), ""), Knob("b", ("x", "y"), "")]
    values = {
        DEFAULT: {"a": "1", "b": "x"},
        "c2": {"a": "1", "b": "y"},
        "c3": {"a": "2", "b": "x"},
        "c4": {"a": "2", "b": "y"},
    }
    found = effects(knobs, values, {DEFAULT: 0.0, "c2": 0.02, "c3": -0.3, "c4": -0.32})
    assert found["a"] == ("2", pytest.approx(-0.32))
    assert found["b"] == ("y", pytest.approx(0.0, abs=1e-12))


@pytest.mark.parametrize("seed", range(20))
def test_a_planted_optimum_is_found_among_64_in_noise(seed: int) -> None:
    drawn = random.Random(seed)
    values = {f"c{n}": (n % 4, n // 4) for n in range(1, 64)}
    scores, alive = Scores(), list(values)
    for each in rounds(63):
        for name in alive:
            for _ in range(each.blocks):
                scores.add(name, (), -0.1 * values[name][0] + drawn.gauss(0, 0.1))
        alive = ranked({n: scores.of(n) for n in alive}, dict.fromkeys(alive, 2), MARGIN)[: half(len(alive))]
    (chosen,) = alive
    assert values[chosen][0] == 3


def test_an_answer_does_not_name_candidates_by_their_numbers() -> None:
    row: Any = dict.fromkeys(JudgedComparison.__annotations__)
    row |= {"metric": "latency", "a": "c2", "cell": {}, "withheld": {"why": "c2 failed in 9 of 9 attempts"}}
    ((claim,), _) = claims([row], "latency", MARGIN, lambda *_: None)
    assert claim["why"] == "it failed in 9 of 9 attempts"


@pytest.mark.parametrize(("ratio", "bound"), [(1.05, 1.03), (0.99, 1 / 1.03)])
def test_an_undecided_claim_says_how_many_blocks_would_decide_it(ratio: float, bound: float) -> None:
    """It said `cannot tell`, and no more."""
    row: Any = dict.fromkeys(JudgedComparison.__annotations__)
    row |= {
        "metric": "latency",
        "a": "c2",
        "cell": {},
        "blocks": 6,
        "verdict": "inconclusive",
        "failed": {"a": [], "b": []},
    }
    row |= {"pairs": [{"ratio": ratio}] * 6, "ratio": ratio, "test": ""}
    row |= {"low": 0.9, "high": 1.2}
    asked = []
    ((claim,), _) = claims([row], "latency", 0.03, lambda _, at: asked.append(at) or 24, alpha=0.0)
    assert asked == [bound]
    said = "cannot tell: between 10 % faster and 20 % slower; about 24 blocks would decide (--blocks 24)."
    assert claim_words(claim, "3 %") == said
