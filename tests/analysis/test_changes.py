"""What each change does to a difference: shares, combinations and Shapley values."""

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from h123.analysis.case import Case
from h123.analysis.comparisons.rows import JudgedComparison
from h123.analysis.explanations import changes
from h123.analysis.explanations.changes import ChangesRow, leading_changes, single_changes
from h123.analysis.explanations.means import Means
from h123.analysis.statistics.signedrank import SignedRank, share_estimate
from h123.causes import CAUSES

LEVELS = {
    "as-is": {"losses": "own"},
    "no-loss": {"losses": "none"},
    "window": {"initial_window": 32},
    "no-loss+window": {"losses": "none", "initial_window": 32},
    "odd": {"losses": "none", "users": 2},
}
CUT = next(number for number, cause in enumerate(CAUSES) if cause.name == "cut")
some_seconds = st.floats(-10, 10).map(lambda s: round(s, 3))


def _means(seconds: float, cut: float = 0.0) -> Means:
    of = [0.0] * len(CAUSES)
    of[CUT] = cut
    of[0] = seconds - cut
    return Means(seconds=tuple(of), sums_up=1.0, held=0.0, sizes={}, round_trip=0.03)


def _rows(
    monkeypatch: pytest.MonkeyPatch,
    times: Mapping[tuple[str, str], Sequence[float]],
    cut: float = 0.0,
    withheld: Sequence[str] = (),
) -> list[ChangesRow]:
    """Return the rows of trials with these times, by protocol and level. HTTP/2 lost `cut` seconds to a window."""

    class Known:
        def __init__(self, _: Case) -> None: ...

        def blocks(self) -> list[int]:
            return list(range(1, 1 + max(map(len, times.values()))))

        def mean(self, block: int, cell: Mapping[str, str], phase: str) -> Means | None:
            assert phase == "warm"
            its = times[cell["protocol"], cell["change"]]
            lost = cut if (cell["protocol"], cell["change"]) == ("h2", "as-is") else 0.0
            return _means(its[block - 1], lost) if block <= len(its) else None

        def keep(self) -> None: ...

    monkeypatch.setattr(changes, "TrialExplanations", Known)
    levels = {name: LEVELS[name] for name in LEVELS if ("h2", name) in times}
    study = SimpleNamespace(factors={"change": levels}, compare=SimpleNamespace(changes="change"))
    case = cast(Case, SimpleNamespace(plan=SimpleNamespace(study=study), factor="protocol"))
    comparisons = [
        {"metric": "latency", "cell": {"network": "poor", "change": level}, "a": "h3", "b": "h2", "twin": False}
        | {"withheld": {"why": "audit x failed", "kind": "audits"} if level in withheld else None}
        for level in levels
    ]
    monkeypatch.setattr(changes, "explainable_comparisons", lambda given: given)
    return changes.changes(case, cast("list[JudgedComparison]", comparisons))


def test_a_level_makes_the_changes_whose_parameters_it_sets() -> None:
    assert single_changes(LEVELS) == {
        "as-is": [],
        "no-loss": ["no-loss"],
        "window": ["window"],
        "no-loss+window": ["no-loss", "window"],
        "odd": ["odd"],
    }


def test_a_change_that_makes_both_sides_alike_closes_the_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    noise = [0.0, 0.01, 0.02, 0.03, 0.04, 0.05]
    times = {
        ("h2", "as-is"): [1.5 + n for n in noise],
        ("h3", "as-is"): [1.0 + n for n in noise],
        ("h2", "no-loss"): [0.3] * 6,
        ("h3", "no-loss"): [0.3] * 6,
        ("h2", "window"): [1.4 + n for n in noise],
        ("h3", "window"): [1.0 + n for n in noise],
    }
    (row,) = _rows(monkeypatch, times, cut=0.4)
    assert (row["cell"], row["blocks"], row["trials"]) == ({"network": "poor"}, 6, 36)
    assert row["difference"]["seconds"] == pytest.approx(-0.5)
    closing, part = row["changes"]
    assert closing["share"] == {"share": 1, "low": 1, "high": 1, "confidence": pytest.approx(0.969, abs=1e-3)}
    assert closing["expected"]["seconds"] == pytest.approx(-0.4)
    assert part["share"]["share"] == pytest.approx(0.2)
    assert part["removed"]["seconds"] == pytest.approx(-0.1)


def test_blocks_that_lack_a_side_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    times = {("h2", "as-is"): [2, 3], ("h3", "as-is"): [1.0, 1], ("h2", "window"): [1, 1], ("h3", "window"): [1.0]}
    (row,) = _rows(monkeypatch, times)
    (change,) = row["changes"]
    assert (row["blocks"], change["blocks"]) == (2, 1)


def test_what_a_failed_audit_withholds_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    times = {("h2", "as-is"): [2.0], ("h3", "as-is"): [1.0], ("h2", "window"): [1.0], ("h3", "window"): [1.0]}
    (row,) = _rows(monkeypatch, times, withheld=["window"])
    assert (row["changes"], row["withheld"]) == ([], {"window": "audit x failed"})
    assert not _rows(monkeypatch, times, withheld=["as-is"])


def test_without_a_clear_direction_there_is_no_share(monkeypatch: pytest.MonkeyPatch) -> None:
    times = {("h2", "as-is"): [2, 1.0], ("h3", "as-is"): [1.0, 2], ("h2", "window"): [1, 1], ("h3", "window"): [1, 1]}
    (row,) = _rows(monkeypatch, times)
    assert "share" not in row["changes"][0]


@given(st.lists(st.lists(some_seconds, min_size=3, max_size=3), min_size=4, max_size=4))
def test_shapley_values_are_mean_effects_over_all_orders(of_levels: list[list[float]]) -> None:
    levels = ["as-is", "no-loss", "window", "no-loss+window"]
    with pytest.MonkeyPatch.context() as patch:
        times: dict[Any, Sequence[float]] = {("h3", level): [0.0] * 3 for level in levels}
        times |= {("h2", level): its for level, its in zip(levels, of_levels, strict=True)}
        (row,) = _rows(patch, times)
    assert [part["change"] for part in row["shapley"]] == ["no-loss", "window"]
    whole = np.array(of_levels[0]) - np.array(of_levels[3])
    halves = [np.array(of_levels[0]) - np.array(of_levels[n]) for n in (1, 2)]
    first = (halves[0] + whole - halves[1]) / 2
    assert row["shapley"][0]["seconds"]["seconds"] == pytest.approx(-SignedRank(first).estimate().centre, abs=1e-9)


@given(st.lists(st.tuples(some_seconds, st.floats(0.1, 10)), min_size=6, max_size=9), st.floats(-3, 3))
def test_the_interval_holds_the_shares_that_the_test_does_not_reject(
    pairs: list[tuple[float, float]], share: float
) -> None:
    parts, wholes = (np.array(side) for side in zip(*pairs, strict=True))
    found = share_estimate(parts, wholes)
    assert found
    left = SignedRank(parts - share * wholes).estimate()
    if min(abs(share - found.low), abs(share - found.high)) > 1e-6:
        assert (found.low < share < found.high) == (left.low < 0 < left.high)


def test_wholes_of_both_signs_have_no_share() -> None:
    assert share_estimate([1, 1], [1, -1]) is None
    assert share_estimate([], []) is None


def test_changes_that_act_on_a_cause_of_the_difference_lead() -> None:
    def row(metric: str, network: str, **seconds: float) -> dict[str, Any]:
        parts = [{"cause": name.replace("_", "-"), "difference": {"seconds": each}} for name, each in seconds.items()]
        times = {"a": "h3", "b": "h2", "a_seconds": 1.0, "b_seconds": 2.0}
        return {"metric": metric, "cell": {"network": network}, "parts": parts, **times}

    warm, cold = row("latency", "poor", cut=0.4, trip=-0.3), row("cold_latency", "poor", slow_start=-1.0, mending=0.02)
    other = row("latency", "medium", queue_loss=1.0)
    verdicts = cast(Any, {"causes": [warm, cold, other]})
    found = leading_changes(verdicts, "h3/h2", {"network": ["poor"]})
    assert found == ["no-loss", "own-connections", "bbr", "cubic", "half-round-trip", "window-32"]
    assert "no-queue-limit" in leading_changes(verdicts, "h3/h2", {})
    assert leading_changes(verdicts, "h2/h1", {}) == []
    held = cast(Any, {"causes": [row("latency", "poor", stream_limit=1.0)]})
    assert leading_changes(held, "h3/h2", {}) == ["half-round-trip"]
