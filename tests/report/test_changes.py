"""What each change does to a difference, in words."""

from typing import Any, cast

import pytest

from h123.analysis.explanations.changes import ChangesRow
from h123.analysis.sections import Verdicts
from h123.report.brief.changes import print_changes
from h123.report.text.explanations.changes import (
    above_words,
    agreement_words,
    change_lines,
    difference_words,
    other_changes,
    shapley_words,
    withheld_words,
)
from printing import printed


def _between(seconds: float, confidence: float = 0.969) -> dict[str, float]:
    return {"seconds": seconds, "low": seconds - 0.01, "high": seconds + 0.01, "confidence": confidence}


def _change(name: str, removed: float, expected: float | None = None, confidence: float = 0.969) -> dict[str, Any]:
    share = -removed / 0.5
    row = {
        "change": name,
        "of": name.split("+"),
        "blocks": 6,
        "a_seconds": 1.0,
        "b_seconds": 1.5 + removed,
        "removed": _between(removed, confidence),
        "share": {"share": share, "low": share - 0.02, "high": share + 0.02, "confidence": confidence},
    }
    return row if expected is None else {**row, "expected": _between(expected)}


def _row(*changes: dict[str, Any], metric: str = "latency") -> ChangesRow:
    row = {
        "metric": metric,
        "cell": {"network": "poor"},
        "a": "h3",
        "b": "h2",
        "blocks": 6,
        "trials": 48,
        "a_seconds": 1.0,
        "b_seconds": 1.5,
        "difference": _between(-0.5),
        "changes": changes,
        "withheld": {"resumed": "audit x failed", "cubic": "audit x failed"},
        "shapley": [{"change": "no-loss", "seconds": _between(-0.45), "share": _change("", -0.45)["share"]}],
    }
    return cast(ChangesRow, row)


FEW = (_change("no-pacing", -0.002), _change("bbr", 0.1), _change("no-loss", -0.45, -0.44), _change("all", -0.5))
ROW = _row(*FEW)


def test_the_difference_names_the_slower_side_first() -> None:
    said = "On poor, the mean request takes 500 ms longer with HTTP/2 than with HTTP/3."
    assert difference_words(ROW).replace("\u00a0", " ") == said


def test_large_effects_come_first_and_all_changes_last() -> None:
    lines = change_lines(ROW)
    names = ["no packets were lost at random", "senders used BBR", "all changes together"]
    assert [line.words for line in lines] == names
    assert lines[0].effect == "closes 90 % (88 to 92 %)"
    assert lines[0].why == "88 %"
    assert lines[1].effect == "widens by 20 % (18 to 22 %)"
    assert other_changes(ROW) == "Less than 5 %: no-pacing."
    wide = _change("bbr", -0.002)
    wide["share"] |= {"low": -0.2, "high": 0.1}
    assert other_changes(_row(wide)) == "No clear effect: bbr."


def test_shares_above_all_are_explained() -> None:
    assert above_words(ROW) == ""
    over = above_words(_row(_change("no-loss", -0.55, -0.6)))
    assert over == (
        "Above 100 %, the other side becomes the slower one; `why` is above 100 % if other causes act in the opposite "
        "direction."
    )


def test_too_few_blocks_have_no_interval() -> None:
    (line,) = change_lines(_row(_change("no-loss", -0.45, confidence=0.5)))
    assert line.effect == "closes 90 % so far"


def test_seconds_that_close_the_difference_are_positive() -> None:
    """The difference is -500 ms, from the slower HTTP/2 to HTTP/3."""
    closing, widening = _change("no-loss", -0.45), _change("bbr", 0.1)
    del closing["share"], widening["share"]
    lines = change_lines(_row(closing, widening))
    assert [line.effect for line in lines] == ["closes +450 ms", "closes \u2212100 ms"]


def test_shapley_values_are_shares() -> None:
    assert shapley_words(ROW).replace("\u00a0", " ") == "Shapley values: no-loss 90 % (88 to 92 %)."


@pytest.mark.parametrize(("expected", "said"), [(-0.44, "agree"), (-0.1, "Differs"), (None, "")])
def test_effects_are_compared_with_the_causes(expected: float | None, said: str) -> None:
    assert said in agreement_words(_row(_change("no-loss", -0.45, expected)))


def test_changes_that_are_not_judged_are_named_with_the_reason() -> None:
    assert withheld_words(ROW) == "Not judged: resumed, cubic (audit x failed)."


@pytest.mark.parametrize("count", [1, 2, 4])
def test_the_answer_fits_into_a_ticket(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ["no-loss", "bbr", "resumed", "quick-ack"]
    many = [_change(name, -0.1 - number / 100) for number, name in enumerate(names)]
    rows = [_row(*many, *FEW[:1], _change("all", -0.5)) for _ in range(count)]
    monkeypatch.setattr("h123.report.brief.changes.first_lines", lambda _: [])
    trials = {"planned": 48, "valid": 48, "missing": 0, "invalid": 0}
    verdicts = {"changes": rows, "trials": trials, "blocks": {"planned": 6, "complete": 6}}
    lines = printed(lambda console: print_changes(cast(Verdicts, verdicts), console, most=13), 200).splitlines()
    assert len(lines) <= 13
    assert max(map(len, lines)) <= 110
    assert sum("all changes together" in line for line in lines) == (count == 1)
