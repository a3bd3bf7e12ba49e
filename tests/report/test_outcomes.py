"""What came of each comparison is said once."""

from typing import Any

import pytest

from h123.report.text.difference import confidence
from h123.report.text.outcomes import outcomes

JUDGED = {
    "metric": "latency",
    "cell": {"network": "poor"},
    "a": "h3",
    "b": "h2",
    "blocks": 8,
    "note": "",
    "small": None,
    "ratio": 0.8,
    "low": 0.7,
    "high": 0.9,
    "confidence": 0.95,
    "failed": {"a": [], "b": []},
    "verdict": "faster",
    "withheld": None,
    "projection": None,
}


def _unjudged(kind: str, why: str, **changes: Any) -> dict[str, Any]:
    note = f"some blocks are far off; not judged: {why}"
    ground = {"withheld": {"kind": kind, "why": why}, "projection": {"blocks": None, "basis": kind}}
    return {**JUDGED, **ground, "verdict": "inconclusive", "note": note, **changes}


@pytest.mark.parametrize("kind", ["failures", "audits", "timeless", "answers"])
def test_pairs_that_are_not_judged_for_one_reason_share_a_sentence(kind: str) -> None:
    both = [_unjudged(kind, "this is why"), _unjudged(kind, "this is why", a="h2", b="h1")]
    (only,) = outcomes(both, 0.05)
    said = only.text.replace("\u00a0", " ")
    assert said.startswith(
        "On poor, HTTP/3 v HTTP/2 and HTTP/2 v HTTP/1.1 are not judged: this is why. More blocks would"
    )
    assert only.note == ""
    assert confidence(both) == ""


@pytest.mark.parametrize(
    "other",
    [
        _unjudged("audits", "that is why", a="h2", b="h1"),
        _unjudged("audits", "this is why", a="h2", b="h1", cell={"network": "home"}),
        {**JUDGED, "a": "h2", "b": "h1"},
    ],
    ids=["reason", "place", "judged"],
)
def test_what_differs_has_a_sentence_of_its_own(other: dict[str, Any]) -> None:
    first, second = outcomes([_unjudged("audits", "this is why"), other], 0.05)
    assert first.text.replace("\u00a0", " ").startswith("On poor, HTTP/3 v HTTP/2 is not judged: this is why.")
    assert "HTTP/2" in second.text
    assert second.standing == {"faster": "better"}.get(other["verdict"], other["verdict"])


def test_one_pair_alone_needs_no_name() -> None:
    here = [_unjudged("audits", "this is why", cell={"network": name}) for name in ("poor", "home")]
    assert [one.text.partition(":")[0] for one in outcomes(here, 0.05)] == [
        "On poor, not judged",
        "On home, not judged",
    ]


def test_what_a_busy_machine_spoils_keeps_its_figures() -> None:
    both = [_unjudged("machine", "the machine was busy"), _unjudged("machine", "the machine was busy", a="h2", b="h1")]
    first, second = outcomes(both, 0.05)
    assert "so far HTTP/3 is" in first.text
    assert "so far HTTP/2 is" in second.text
