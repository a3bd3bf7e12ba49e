"""Reasons stand beside what they are reasons of."""

from typing import Any

import pytest

from h123.report.text.explanations.reasons import reason_lines

PAIR = {"cell": {"network": "far"}, "a": "new", "b": "base", "twin": False, "withheld": None}


def _row(metric: str, seconds: float) -> dict[str, Any]:
    difference = {"seconds": seconds, "low": seconds, "high": seconds, "confidence": 0.96}
    part = {"cause": "made-up", "group": "trip", "words": f"parts of {metric}", "difference": difference}
    sides = {"a_seconds": 0.1 + seconds, "b_seconds": 0.1}
    return {**PAIR, "metric": metric, "blocks": 8, "difference": difference, "parts": [{**part, **sides}], **sides}


@pytest.mark.parametrize(
    ("latency", "cold", "said"),
    [
        ("equivalent", "slower", ["latency", "cold_latency"]),
        ("slower", "slower", ["latency"]),
        ("equivalent", "equivalent", ["latency"]),
        ("inconclusive", "slower", ["latency", "cold_latency"]),
    ],
)
def test_what_differs_only_at_first_has_its_reason(latency: str, cold: str, said: list[str]) -> None:
    verdicts = {"latency": latency, "cold_latency": cold}
    compared = [
        {**PAIR, "metric": metric, "family": metric, "verdict": verdict} for metric, verdict in verdicts.items()
    ]
    lines = reason_lines({"comparisons": compared, "causes": [_row(metric, 0.04) for metric in verdicts]})
    assert [next(name for name in ("cold_latency", "latency") if f"parts of {name}" in line) for line in lines] == said


def test_what_differs_by_nothing_has_none() -> None:
    compared = [{**PAIR, "metric": "latency", "family": "latency", "verdict": "equivalent"}]
    assert reason_lines({"comparisons": compared, "causes": [_row("latency", 0.00001)]}) == []


@pytest.mark.parametrize("kind", ["answers", "audits", "failures", "timeless"])
def test_what_cannot_be_relied_on_has_none(kind: str) -> None:
    compared = {**PAIR, "metric": "latency", "family": "latency", "verdict": "inconclusive"}
    assert reason_lines({"comparisons": [compared], "causes": [_row("latency", 0.04)]})
    spoiled = {**compared, "withheld": {"kind": kind, "why": "that is why"}}
    assert reason_lines({"comparisons": [spoiled], "causes": [_row("latency", 0.04)]}) == []
