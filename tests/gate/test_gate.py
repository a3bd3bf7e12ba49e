"""Conditions: read as they are written, held against intervals, and told in three forms."""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from h123.errors import UserError
from h123.gate import STATUS, judge, read_condition, worst, write_gate


def verdicts(*cells: dict[str, Any]) -> Any:
    usual = {"twin": False, "metric": "latency", "a": "new", "b": "base", "cell": {"network": "lan"}, "withheld": None}
    return {"comparisons": [{**usual, **cell} for cell in cells]}


def word(text: str, low: float | None, high: float | None, **more: Any) -> str:
    cell = {"ratio": 1.0, "low": low, "high": high, **more}
    return judge(read_condition(text), verdicts(cell)).word


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        *[(1.06, 1.10, "failed"), (1.02, 1.05, "passed"), (1.02, 1.06, "undecided")],
        *[(1.06, None, "failed"), (None, 1.04, "passed"), (None, None, "undecided"), (1.05, 1.05, "passed")],
    ],
)
def test_a_whole_interval_decides(low: float | None, high: float | None, expected: str) -> None:
    assert word("latency new/base > 1.05", low, high) == expected


@given(st.floats(0.1, 9), st.floats(0.1, 9), st.floats(0.1, 9))
def test_below_is_above_of_the_inverse(low: float, high: float, limit: float) -> None:
    low, high = sorted((low, high))
    limit = float(f"{limit:.3f}")
    below = word(f"latency new/base < {limit}", low, high)
    expected = "failed" if high < limit else "passed" if low >= limit else "undecided"
    assert below == expected


def test_what_is_not_judged_decides_nothing() -> None:
    withheld = {"kind": "audit", "why": "bytes are missing"}
    assert word("latency new/base > 1.05", 0.5, 0.6, withheld=withheld) == "undecided"


def test_the_worst_cell_is_the_gates() -> None:
    assert worst(["passed", "undecided"]) == "undecided"
    assert worst(["undecided", "failed", "passed"]) == "failed"
    assert (STATUS["passed"], STATUS["undecided"], STATUS["failed"]) == (0, 98, 99)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("latency new/base", "cannot be read"),
        ("latenzy new/base > 1", "no metric 'latenzy'; did you mean latency"),
        ("latency new/base > 0", "above 0"),
        ("ttfb new/base > 1.1", "the campaign does not compare it"),
        ("latency h3/h2 > 1.1", "of latency the campaign compares new/base"),
    ],
)
def test_a_condition_that_means_nothing(text: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        word(text, 1, 1)


def test_what_is_left_for_others(tmp_path: Path) -> None:
    lan = {"ratio": 1.2, "low": 1.1, "high": 1.3}
    far = {"ratio": None, "low": None, "high": None, "cell": {"network": "poor"}}
    passage = judge(read_condition("latency new/base > 1.05"), verdicts(lan, far))
    told, junit, comment = write_gate(tmp_path, "campaign", [passage])
    content = json.loads(told.read_text())
    assert (content["h123"], content["verdict"]) == ("gate/1", "failed")
    assert [cell["verdict"] for cell in content["conditions"][0]["cells"]] == ["failed", "undecided"]
    suite = ElementTree.parse(junit).getroot()
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("2", "1", "1")
    assert "| latency new/base > 1.05 | lan | 1.200 (1.100 to 1.300) | FAILED |" in comment.read_text()
