"""How far the parts of requests sum up to their latencies, and what follows where they do not."""

from dataclasses import replace
from typing import cast

import numpy as np
import pytest

from h123.analysis.explanations.causes import UNATTRIBUTED_AT_MOST, VISIT, between, explained_phase, means
from h123.causes import CAUSES, NUMBER, UNATTRIBUTED, ExplainedTrial, Stretch
from h123.causes.cause import CUT, MENDING
from h123.store import Sample

LATENCY_S = 0.1


def _trial(*unattributed: float, counted_twice: float = 0.0) -> ExplainedTrial:
    """Requests of which such shares are unattributed, and such a share of the first one's time has two causes."""
    rows = [cast(Sample, {"phase": "warm", "start_ns": 0, "end_ns": round(LATENCY_S * 1e9)}) for _ in unattributed]
    seconds = np.zeros((len(unattributed), len(CAUSES)))
    seconds[:, NUMBER[UNATTRIBUTED]] = np.array(unattributed) * LATENCY_S
    seconds[:, 0] = LATENCY_S - seconds[:, NUMBER[UNATTRIBUTED]]
    seconds[0, 1] += counted_twice * LATENCY_S
    return ExplainedTrial(rows, seconds, np.zeros(len(unattributed)))


def test_requests_sum_up_that_are_told_but_for_two_percent() -> None:
    assert _trial(0.0, 0.019, 0.021, 1.0).sums_up.tolist() == [True, True, False, False]


def test_what_is_told_twice_does_not_sum_up() -> None:
    assert _trial(0.0, 0.0, counted_twice=0.03).sums_up.tolist() == [False, True]


def test_the_shares_of_both_sides_are_kept() -> None:
    mine, others = _trial(0.0, 0.04), _trial(0.0, 0.0)
    row = between([means(mine)["warm"]], [means(others)["warm"]])
    assert row["sums"] == pytest.approx(
        {"a_requests": 0.5, "b_requests": 1, "a_unattributed": 0.02, "b_unattributed": 0}
    )
    assert row["told"]


def test_where_much_of_one_side_is_unattributed_the_cause_is_not_told() -> None:
    whole, dark = _trial(0.0, 0.0), _trial(0.0, 2.2 * UNATTRIBUTED_AT_MOST)
    assert not between([means(whole)["warm"]], [means(dark)["warm"]])["told"]
    assert not between([means(dark)["warm"]], [means(whole)["warm"]])["told"]


def test_of_pages_the_visits_in_the_middle_are_kept_beside_the_requests() -> None:
    trial = _trial(0.0, 0.0)
    told = len(CAUSES) - 1
    of = ((0.1, 0.1 * told), (0.3, 0.2 * told))  # the second one misses what its client measured
    visits = [Stretch(np.full(len(CAUSES), seconds), head_of_line=seconds, duration=took) for seconds, took in of]
    kept = means(replace(trial, visits=visits))
    assert kept.keys() == {"warm", VISIT}
    assert kept[VISIT].seconds == pytest.approx([0.2] * len(CAUSES))
    assert (kept[VISIT].held, kept[VISIT].sums_up) == (pytest.approx(0.2), 0.5)


def test_what_is_taken_apart_are_times_of_whole_requests_and_pages() -> None:
    phases = {"latency": "warm", "cold_latency": "cold", "page_complete": VISIT}
    phases |= {"page_first_byte": None, "goodput": None}
    assert {name: explained_phase(name) for name in phases} == phases


def test_what_losses_cost_is_told_with_what_they_held_back() -> None:
    mine, others = _trial(0.0, 0.0), _trial(0.0, 0.0)
    mine.seconds[0, [NUMBER[CUT], NUMBER[MENDING]]] = 0.03, 0.01
    mine.head_of_line[0] = 0.008
    row = between([means(mine)["warm"]], [means(others)["warm"]])
    assert row["losses"] == pytest.approx({"a_seconds": 0.02, "b_seconds": 0, "a_held": 0.004, "b_held": 0})
