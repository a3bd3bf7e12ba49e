"""Looks: their levels add up to the error that is allowed, and planned ones keep it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from h123.analysis import next_look, plan_looks, undecided_answers
from h123.analysis.statistics.looks import FIXED, PLANNED, SPENDING, Looks, looks
from h123.analysis.statistics.signedrank import SignedRank

ALPHA = 0.05


@given(st.lists(st.integers(6, 1000), min_size=1, max_size=30, unique=True), st.booleans())
def test_all_looks_together_spend_no_more_than_alpha(blocks: list[int], by_width: bool) -> None:
    levels = [Looks(blocks[: count + 1], by_width=by_width).level(ALPHA) for count in range(len(blocks))]
    assert sum(levels) <= ALPHA * (1 + 1e-12)
    assert levels == sorted(levels, reverse=True)


def test_six_claims_need_no_more_blocks_than_one_look_would() -> None:
    """p of 8 blocks times 6."""
    assert Looks([8]).level(ALPHA) >= 6 * 2 / 2**8


def test_looks_that_could_find_nothing_spend_nothing() -> None:
    assert Looks([2, 5, 8]).level(ALPHA) == Looks([8]).level(ALPHA)
    assert Looks([5]).next_level(ALPHA) == Looks([8]).level(ALPHA)
    assert Looks([6, 8]).level(ALPHA) == Looks([6]).next_level(ALPHA) < Looks([8]).level(ALPHA) / 10


def test_a_look_is_one_however_often_it_is_repeated() -> None:
    events = [{"event": "look", "blocks": blocks} for blocks in (6, 8, 8)]
    assert looks(events, 8).blocks == [6, 8]
    assert looks(events, 12).blocks == [6, 8, 12]
    assert looks([], 8).blocks == [8]


def test_a_look_that_was_not_planned_leaves_the_rule_that_holds_for_all() -> None:
    assert Looks([8, 12], PLANNED).rule == FIXED
    assert Looks([8, 10], PLANNED).rule == SPENDING
    assert Looks([8]).rule == SPENDING


def test_planned_looks_err_no_more_than_alpha() -> None:
    """No difference, looked at with 8, 12, 16, 20 and 30 blocks: rejections at any look within alpha and its 99.9 %."""
    seed, campaigns = 20261122, 1500
    print("seed", seed)
    random, level = np.random.default_rng(seed), Looks([8], PLANNED).level(ALPHA)
    wrong = sum(
        any(SignedRank(row[:blocks]).p() <= level for blocks in PLANNED)
        for row in random.normal(0, 1, (campaigns, PLANNED[-1]))
    )
    print("rejected", wrong / campaigns)
    assert wrong / campaigns <= ALPHA + 3.3 * (ALPHA * (1 - ALPHA) / campaigns) ** 0.5


@pytest.mark.parametrize(
    ("verdicts", "planned", "found"),
    [
        (["faster", "inconclusive"], 8, 12),
        (["faster", "slower"], 8, None),
        (["inconclusive"], 30, None),
        (["withheld"], 8, None),
    ],
)
def test_the_next_look_is_where_something_is_undecided(verdicts: list[str], planned: int, found: int | None) -> None:
    comparisons = [
        {
            "twin": False,
            "family": "answer",
            "verdict": "inconclusive" if verdict == "withheld" else verdict,
            "withheld": {"kind": "audits"} if verdict == "withheld" else None,
        }
        for verdict in verdicts
    ]
    content = {"comparisons": comparisons, "looks": {"planned": list(PLANNED)}, "blocks": {"planned": planned}}
    assert next_look(content, undecided=bool(undecided_answers(content))) == found


def test_planned_looks_end_where_they_may_at_most() -> None:
    assert plan_looks(None) == list(PLANNED)
    assert plan_looks(16) == [8, 12, 16]
