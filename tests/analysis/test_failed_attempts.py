"""Attempts that a treatment's server or client failed are counted, and told before the answer where they are many."""

from typing import Any

import pytest

from h123.analysis.comparisons.failed_attempts import failed_attempts
from h123.report.text.trust.failed_attempts import failed_attempt_lines, often_failed_lines


def tried(protocol: str, *codes: str, disturbed: bool = False, network: str = "lan", detail: str = "") -> Any:
    reasons = [{"code": code, "detail": detail} for code in codes]
    cell = {"protocol": protocol, "network": network}
    return {"event": "trial", "cell": cell, "valid": not codes, "reasons": reasons, "disturbed": disturbed}


def told(*events: Any) -> Any:
    return {"factor": "protocol", "failed_attempts": failed_attempts(events)}


def test_who_failed_and_why() -> None:
    stuck, ended, late = tried("h3", "client-timeout"), tried("h3", "server-exited"), tried("h3", "link-late")
    rows = failed_attempts(
        [{"event": "look"}, stuck, stuck, ended, late, tried("h3", "moved"), tried("h3"), tried("h2")]
    )  # type: ignore[list-item]
    assert rows == [
        {
            "cell": {"protocol": "h3", "network": "lan"},
            "attempts": 5,  # the block of one has moved
            "failed": 3,
            "reasons": {"client-timeout": 2, "server-exited": 1},
            "wrong": {},
        }
    ]


@pytest.mark.parametrize("code", ["wrong-size", "wrong-protocol"])
def test_wrong_answers_are_failures_and_named(code: str) -> None:
    """Nine of nineteen attempts answered with nothing, and the answer never said so."""
    verdicts = told(*[tried("b", code, detail="2 of 6 responses had a body of 0 bytes instead of 20000")] * 9)
    verdicts["failed_attempts"][0]["attempts"] = 19
    assert often_failed_lines(verdicts) == [
        "On lan, b failed in 9 of 19 attempts (at first: 2 of 6 responses had a body of 0 bytes instead of 20000). "
        "Every figure here is of the others."
    ]
    verdicts["failed_attempts"][0]["attempts"] = 9
    assert often_failed_lines(verdicts)[0].endswith("So there is no figure of it.")


def test_where_both_kinds_happen_both_are_said() -> None:
    (line,) = often_failed_lines(told(tried("b", "wrong-size", detail="no bytes"), tried("b", "server-exited")))
    assert "(at first: no bytes or the server ended before the client did)" in line


def test_what_the_machine_disturbed_is_no_loss() -> None:
    assert failed_attempts([tried("h3", "client-timeout", disturbed=True)]) == []


@pytest.mark.parametrize(("good", "often"), [(12, True), (18, True), (19, False)])
def test_a_tenth_of_the_attempts_is_told_first(good: int, often: bool) -> None:
    verdicts = told(*[tried("h3", "client-timeout")] * 2, *[tried("h3")] * good)
    lines = [*often_failed_lines(verdicts), *failed_attempt_lines(verdicts)]
    said = f"On lan, HTTP/3 failed in 2 of {good + 2} attempts (the client did not finish in time)"
    assert lines == [said + ". Every figure here is of the others." * often]
    assert bool(often_failed_lines(verdicts)) == often


def test_one_is_not_often_and_none_is_not_told() -> None:
    assert often_failed_lines(told(tried("h3", "client-failed"), tried("h3"))) == []
    assert failed_attempt_lines(told(tried("h3"))) == failed_attempt_lines({"factor": "protocol"}) == []
