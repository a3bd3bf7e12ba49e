"""Conditions held against ratios: decided by whole intervals that can be relied on, and told in several forms."""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from h123.analysis import analyse
from h123.errors import UserError
from h123.gate import STATUS, Ratio, judge, ratios_of, worst, write_gate
from h123.json_schemas import schemas
from h123.study import Condition
from synthetic import Scenario, make_campaign

NEEDED = 20


def ratio(low: float | None, high: float | None, **more: Any) -> Ratio:
    usual = {
        "metric": "latency",
        "pair": "new/base",
        "cell": {"network": "lan"},
        "ratio": 1.0,
        "confidence": 0.95,
        "reliable": True,
        "blocks": 8,
        "withheld": None,
        "needed": lambda _: NEEDED,
    }
    return Ratio(low=low, high=high, **{**usual, **more})


def word(text: str, low: float | None, high: float | None, by: Any = "interval", **more: Any) -> str:
    return judge(Condition.forbidding(text, by), [ratio(low, high, **more)]).word


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        *[(1.06, 1.10, "failed"), (1.02, 1.05, "passed"), (1.02, 1.06, "undecided")],
        *[(1.06, None, "failed"), (None, 1.04, "passed"), (None, None, "undecided"), (1.05, 1.05, "passed")],
    ],
)
def test_a_whole_interval_decides(low: float | None, high: float | None, expected: str) -> None:
    assert word("latency new/base > 1.05", low, high) == expected


@pytest.mark.parametrize(("sign", "expected"), [(">", "passed"), (">=", "failed"), ("<", "passed"), ("<=", "failed")])
def test_the_bound_itself(sign: str, expected: str) -> None:
    assert word(f"latency new/base {sign} 1.05", 1.05, 1.05) == expected


@given(st.floats(0.1, 9), st.floats(0.1, 9), st.floats(0.1, 9))
def test_below_is_above_of_the_inverse(low: float, high: float, bound: float) -> None:
    low, high = sorted((low, high))
    bound = float(f"{bound:.3f}")
    below = word(f"latency new/base < {bound}", low, high)
    expected = "failed" if high < bound else "passed" if low >= bound else "undecided"
    assert below == expected


@given(st.floats(0.1, 9), st.floats(0.1, 9), st.sampled_from([("<=", ">"), ("<", ">="), (">=", "<"), (">", "<=")]))
def test_what_is_required_is_what_is_not_forbidden(low: float, high: float, signs: tuple[str, str]) -> None:
    required = Condition(holds=f"latency new/base {signs[0]} 1.05")
    low, high = sorted((low, high))
    assert judge(required, [ratio(low, high)]).word == word(f"latency new/base {signs[1]} 1.05", low, high)


@pytest.mark.parametrize(("found", "expected"), [(1.051, "failed"), (1.05, "passed"), (0.9, "passed")])
def test_on_the_estimate_the_interval_counts_for_nothing(found: float, expected: str) -> None:
    assert word("latency new/base > 1.05", 0.5, 2.0, by="estimate", ratio=found, reliable=False) == expected
    assert word("latency new/base > 1.05", None, None, by="estimate", ratio=None) == "undecided"


def test_what_is_not_judged_decides_nothing() -> None:
    passage = judge(Condition(holds="latency new/base <= 1.05"), [ratio(0.5, 0.6, withheld="bytes are missing")])
    assert (passage.word, passage.open) == ("undecided", False)


def test_an_interval_of_too_few_blocks_decides_nothing() -> None:
    (cell,) = judge(
        Condition(holds="latency new/base <= 1.05"), [ratio(1.2, 1.2, confidence=0.0, reliable=False, blocks=1)]
    ).cells
    assert cell.word == "undecided"
    assert "only 0% confidence from 1 block: about 19 more blocks would probably decide (20 in all)" in cell.why


def test_the_worst_cell_is_the_gates() -> None:
    assert worst(["passed", "undecided"]) == "undecided"
    assert worst(["undecided", "failed", "passed"]) == "failed"
    assert (STATUS["passed"], STATUS["undecided"], STATUS["failed"]) == (0, 98, 99)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("ttfb new/base > 1.1", "the campaign does not compare it"),
        ("latency h3/h2 > 1.1", "of latency the campaign compares new/base"),
    ],
)
def test_a_condition_about_nothing(text: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        word(text, 1, 1)


def test_a_campaign_is_held(tmp_path: Path) -> None:
    """Its ratios are those of its comparisons; of one block none is relied on."""
    verdicts = analyse(make_campaign(tmp_path / "c", Scenario(blocks=8)))
    ratios = ratios_of(verdicts)
    assert len(ratios) == sum(not one["twin"] for one in verdicts["comparisons"])
    slower = judge(Condition(holds="latency h3/h2 <= 1.05"), [one for one in ratios if one.cell["network"] == "lan"])
    assert slower.word == "failed"  # by 40 %, as the scenario has it
    few = ratios_of(analyse(make_campaign(tmp_path / "few", Scenario(blocks=1))))
    assert not any(one.reliable for one in few)
    assert judge(Condition(holds="latency h3/h2 <= 1.05"), few).word == "undecided"
    assert all(one.needed(1.05) == 6 for one in few if one.metric == "latency" and one.ratio)


def test_what_is_left_for_others(tmp_path: Path) -> None:
    far = ratio(1.0, 1.3, ratio=1.15, cell={"network": "poor"})
    passage = judge(Condition(holds="latency new/base <= 1.05"), [ratio(1.1, 1.3, ratio=1.2), far])
    written = {path.name: path for path in write_gate(tmp_path, "campaign", [passage])}
    content = json.loads(written["gate.json"].read_text())
    Draft202012Validator(json.loads(dict(schemas())["gate.schema.json"])).validate(content)
    assert (content["h123"], content["verdict"]) == ("gate/1", "failed")
    (told,) = content["conditions"]
    assert [cell["verdict"] for cell in told["cells"]] == ["failed", "undecided"]
    assert [cell["blocks_needed"] for cell in told["cells"]] == [None, NEEDED]
    suite = ElementTree.parse(written["gate.xml"]).getroot()
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("2", "1", "1")
    comment = written["gate.md"].read_text()
    assert "| latency new/base <= 1.05 | lan | 1.200 (1.100 to 1.300) | FAILED |" in comment
    assert "about 12 more blocks would probably decide (20 in all)" in comment


def test_a_build_that_gets_stuck_does_not_pass(tmp_path: Path) -> None:
    verdicts = analyse(make_campaign(tmp_path / "campaign", Scenario()))
    condition = Condition.forbidding("latency h3/h2 > 100", "interval")
    assert judge(condition, ratios_of(verdicts)).word == "passed"
    cell = next(one["cell"] for one in verdicts["comparisons"] if one["metric"] == "latency")
    row = {"cell": {**cell, "protocol": "h3"}, "attempts": 16, "failed": 4, "reasons": {"client-timeout": 4}}
    stuck = judge(condition, ratios_of({**verdicts, "failed_attempts": [row]}))  # type: ignore[typeddict-item]
    assert stuck.word == "undecided"
    assert not stuck.open
    [why] = [one.why for one in stuck.cells if one.word == "undecided"]
    assert "h3 failed in 4 of 16 attempts, and the figures are of the others" in why
    seldom = [{**row, "failed": 1}]
    assert judge(condition, ratios_of({**verdicts, "failed_attempts": seldom})).word == "passed"  # type: ignore[typeddict-item]
