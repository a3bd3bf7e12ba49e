"""Conditions held against ratios: decided by whole intervals that can be relied on, and told in several forms."""

import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from h123.analysis import analyse, gather
from h123.analysis.comparisons.projection import fewest_blocks
from h123.analysis.comparisons.rows import headline
from h123.base.errors import UserError
from h123.gate import STATUS, GateFigure, GateFigures, gate_row, judge, spoiled, worst, write_gate
from h123.json_schemas import schemas
from h123.report import caveat_lines
from h123.store import CampaignFolder
from h123.study import Condition, PlannedTrial, Study, make_plan
from synthetic import Scenario, answer_family, make_campaign, study_of

NEEDED = 20


def ratio(low: float | None, high: float | None, **more: Any) -> GateFigure:
    usual = {
        "metric": "latency",
        "subject": "new/base",
        "cell": {"network": "lan"},
        "value": 1.0,
        "confidence": 0.95,
        "reliable": True,
        "blocks": 8,
        "withheld": None,
        "needed": lambda _: NEEDED,
    }
    return GateFigure(low=low, high=high, **{**usual, **more})


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
    assert word("latency new/base > 1.05", 0.5, 2.0, by="estimate", value=found, reliable=False) == expected
    assert word("latency new/base > 1.05", None, None, by="estimate", value=None) == "undecided"


def test_what_is_not_judged_decides_nothing() -> None:
    passage = judge(Condition(holds="latency new/base <= 1.05"), [ratio(0.5, 0.6, withheld="bytes are missing")])
    assert (passage.word, passage.open) == ("undecided", [])


def test_an_interval_of_too_few_blocks_decides_nothing() -> None:
    (cell,) = judge(
        Condition(holds="latency new/base <= 1.05"), [ratio(1.2, 1.2, confidence=0.0, reliable=False, blocks=1)]
    ).cells
    assert cell.word == "undecided"
    assert "1 block is too few: about 19 more blocks would probably decide (20 in all)" in cell.why


def test_the_worst_cell_is_the_gates() -> None:
    assert worst(["passed", "undecided"]) == "undecided"
    assert worst(["undecided", "failed", "passed"]) == "failed"
    assert (STATUS["passed"], STATUS["undecided"], STATUS["failed"]) == (0, 98, 99)


def test_a_condition_about_nothing() -> None:
    with pytest.raises(UserError, match="the campaign has no trial with such a value"):
        judge(Condition(holds="ttfb new/base <= 1.1"), [])


def figures(folder: CampaignFolder) -> GateFigures:
    return GateFigures(analyse(folder), lambda: gather(folder))


def test_a_campaign_is_held(tmp_path: Path) -> None:
    """Its ratios are those of its comparisons; of one block none is relied on."""
    condition = Condition(holds="latency h3/h2 <= 1.05")
    known = figures(make_campaign(tmp_path / "c", Scenario(blocks=8)))
    found = known.of(condition)
    assert len(found) == len({one.cell["network"] for one in found}) == 3
    slower = judge(condition, [one for one in found if one.cell["network"] == "lan"])
    assert slower.word == "failed"  # by 40 %, as the scenario has it
    few = figures(make_campaign(tmp_path / "few", Scenario(blocks=1))).of(condition)
    assert not any(one.reliable for one in few)
    assert judge(condition, few).word == "undecided"
    assert all(one.needed(1.05) == 6 for one in few if one.value)


HOLM_OVER_TWO = answer_family("latency", pairs=["h3/h2", "h2/h1"])
EACH = {"each": ["network"]}
PROTOCOL_CONDITIONS = ("latency h3/h2 <= 1.05", "latency h3 <= 1s", "cold_latency h3/h2 <= 1.05", "ttfb h3/h1 <= 2")


@pytest.mark.parametrize("blocks", [1, 2, 5])
@pytest.mark.parametrize("text", PROTOCOL_CONDITIONS)
def test_a_gate_and_an_answer_advise_the_same_least_number_of_blocks(tmp_path: Path, text: str, blocks: int) -> None:
    """A gate advised 6 blocks, and below it stood that 7 were the fewest that could decide anything."""
    known = figures(make_campaign(tmp_path / "c", Scenario(blocks=blocks, families=[HOLM_OVER_TWO | EACH], effects={})))
    condition = Condition(holds=text)
    cells = judge(condition, known.of(condition)).cells
    assert [cell.word for cell in cells] == ["undecided"] * 3
    least = fewest_blocks(headline(known.verdicts["comparisons"]), 0.05 * 15 / 16)
    assert least == 7
    needed = [cell.blocks_needed for cell in cells if cell.blocks_needed]
    assert needed
    assert min(needed) >= least
    if blocks < 3:
        assert needed == [7] * 3
        assert all(f"about {7 - blocks} more blocks would probably decide (7 in all)" in cell.why for cell in cells)
        assert any(line.startswith("7 blocks are the fewest") for line in caveat_lines(known.verdicts))


def test_where_trials_are_missing_the_gate_advises_what_is_planned(tmp_path: Path) -> None:
    plan = make_plan(Study.from_resolved(study_of(Scenario())), blocks=12, seed=1)
    late = frozenset(trial.id for trial in plan.trials() if trial.block > 2)
    condition = Condition(holds="latency h3/h2 <= 1.05")
    found = figures(make_campaign(tmp_path / "c", Scenario(blocks=12, missing=late))).of(condition)
    assert {one.needed(1.05) for one in found} == {12}


@pytest.mark.parametrize("text", PROTOCOL_CONDITIONS)
def test_a_gate_shows_no_value_where_nothing_takes_time(tmp_path: Path, text: str) -> None:
    """It showed `lan: x2`, of the few microseconds in which two programs read a virtual clock."""
    none = {("lan", "h1"): 0.03, ("lan", "h2"): 0.05, ("lan", "h3"): 0.1}
    scenario = Scenario(blocks=6, settings={"clock": "virtual"}, effects=none)
    condition = Condition(holds=text)
    passage = judge(condition, figures(make_campaign(tmp_path / "c", scenario)).of(condition))
    *others, lan = gate_row([passage])["lines"][2:]
    assert lan == "Not checked: lan (without delay or rate limit, requests take no time under the virtual clock)"
    assert len(others) == 2
    assert all("–," not in line for line in others)
    written = {path.name: path.read_text() for path in write_gate(tmp_path, "c", [passage])}
    assert not [entry for entry in json.loads(written["gate-benchmark.json"]) if "lan" in entry["name"]]


TIMELESS = {"withheld": "under the virtual clock nothing takes time over lan", "timeless": True}
POOR = {"network": "poor"}


@pytest.mark.parametrize(("low", "high", "expected"), [(1.0, 1.04, "passed"), (1.1, 1.2, "failed")])
def test_a_cell_that_the_clock_cannot_measure_is_no_part_of_a_gate(
    tmp_path: Path, low: float, high: float, expected: str
) -> None:
    """A gate on `quick` under the virtual clock could never pass, because of lan."""
    outcome = judge(Condition(holds="latency new/base <= 1.05"), [ratio(3, 4, **TIMELESS), ratio(low, high, cell=POOR)])
    assert (outcome.word, [cell.place for cell in outcome.cells]) == (expected, ["poor"])
    written = {path.name: path.read_text() for path in write_gate(tmp_path, "c", [outcome])}
    content = json.loads(written["gate.json"])
    Draft202012Validator(json.loads(dict(schemas())["gate.schema.json"])).validate(content)
    assert [row["cell"] for row in content["conditions"][0]["not_checked"]] == [{"network": "lan"}]
    assert "| lan | – | not checked, without delay or rate limit, " in written["gate.md"]
    suite = ElementTree.fromstring(written["gate.xml"])
    assert (suite.get("tests"), suite.get("skipped"), len(suite.findall("testcase/skipped"))) == ("2", "1", 1)


@pytest.mark.parametrize("cells", [[{"network": "lan"}], [{"network": "lan"}, POOR]])
def test_a_gate_with_nothing_to_check_does_not_pass(cells: list[dict[str, str]]) -> None:
    outcome = judge(Condition(holds="latency new/base <= 9"), [ratio(1, 1.1, cell=cell, **TIMELESS) for cell in cells])
    assert (outcome.word, outcome.open, outcome.unmeasured) == ("undecided", [], [])
    assert len(outcome.cells) == len(cells)


@pytest.mark.parametrize("text", PROTOCOL_CONDITIONS)
@pytest.mark.parametrize("blocks", [2, 3, 4])
def test_no_range_is_printed_that_would_mislead(tmp_path: Path, text: str, blocks: int) -> None:
    """Two blocks made intervals of 50 % confidence, and nothing said so. gate.json has them, with the confidence."""
    condition = Condition(holds=text)
    found = figures(make_campaign(tmp_path / "c", Scenario(blocks=blocks, effects={}))).of(condition)
    passage = judge(condition, found)
    written = {path.name: path.read_text() for path in write_gate(tmp_path, "c", [passage])}
    cells = json.loads(written["gate.json"])["conditions"][0]["cells"]
    assert all(cell["low"] and cell["high"] and cell["confidence"] for cell in cells)
    lines = gate_row([passage])["lines"]
    few = f"({blocks} blocks, too few for an interval)"
    for line in (*lines[2:], *written["gate.md"].splitlines()[4:]):
        assert (few in line) == (blocks < 4)
        assert bool(re.search(r"\([^)]* to [^)]*\)", line)) == (blocks == 4)
    assert (few in written["gate.xml"]) == (blocks < 4)
    entries = json.loads(written["gate-benchmark.json"])
    assert all(("range" in entry) == ("interval" in entry["extra"]) == (blocks == 4) for entry in entries)


@pytest.mark.parametrize(
    "text", ["rps h3/h2 >= 0.2", "latency_p95 h3/h1 <= 9", "cpu_server h2/h3 <= 9", "ttfb h1/h3 > 0.1"]
)
def test_any_metric_and_pair_that_the_campaign_has(tmp_path: Path, text: str) -> None:
    """Named by the study or not, and either way round."""
    scenario = Scenario(blocks=8, settings={"users": 4, "requests": 20})
    condition = Condition(holds=text)
    found = figures(make_campaign(tmp_path / "c", scenario)).of(condition)
    assert len(found) == 3
    assert {one.subject for one in found} == {condition.subject}
    assert judge(condition, found).word == "passed"


def test_a_ratio_is_the_same_whether_it_was_named_before(tmp_path: Path) -> None:
    condition = Condition(holds="latency h3/h2 <= 1")
    named = make_campaign(tmp_path / "named", Scenario(blocks=8))
    families = [answer_family("ttfb")]
    other = make_campaign(tmp_path / "other", Scenario(blocks=8, families=families))
    one, two = figures(named).of(condition), figures(other).of(condition)
    assert [(f.value, f.low, f.high, f.confidence) for f in one] == [
        (f.value, f.low, f.high, f.confidence) for f in two
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("latency h3 <= 10s", "passed"),
        ("latency h3 <= 1ms", "failed"),
        ("cpu_server h2 < 1s", "passed"),
        ("goodput h1 >= 1kbit/s", "passed"),
        ("goodput h1 >= 90Gbit/s", "failed"),
    ],
)
def test_a_value_by_itself(tmp_path: Path, text: str, expected: str) -> None:
    condition = Condition(holds=text)
    found = figures(make_campaign(tmp_path / "c", Scenario(blocks=8))).of(condition)
    passage = judge(condition, found)
    assert passage.word == expected
    assert all(one.low is not None and one.high is not None for one in found)
    assert all((one.low or 0) <= (one.value or 0) <= (one.high or 0) for one in found)
    files = {path.name: path.read_text() for path in write_gate(tmp_path, "c", [passage])}
    content = json.loads(files["gate.json"])
    Draft202012Validator(json.loads(dict(schemas())["gate.schema.json"])).validate(content)
    cell = content["conditions"][0]["cells"][0]
    assert cell["ratio"] is None
    assert cell["value"] == found[0].value
    assert cell["unit"] == found[0].unit
    assert "h123_gate_value{" in files["gate.prom"]
    assert json.loads(files["gate-benchmark.json"])[0]["unit"] == found[0].unit


def test_the_median_trial_is_near_the_value(tmp_path: Path) -> None:
    """The interval of a value is of the trials, and its middle lies among them."""
    folder = make_campaign(tmp_path / "c", Scenario(blocks=12))
    (poor,) = [one for one in figures(folder).of(Condition(holds="latency h3 <= 1s")) if one.cell["network"] == "poor"]
    rows = [row for row in analyse(folder)["values"] if row["cell"] == {"network": "poor", "protocol": "h3"}]
    values = sorted(row["metrics"]["latency"] or 0 for row in rows if not row["twin"])
    assert poor.blocks == len(values) == 12
    assert values[2] < (poor.value or 0) < values[-3]


def test_what_is_left_for_others(tmp_path: Path) -> None:
    far = ratio(1.0, 1.3, value=1.15, cell={"network": "poor"})
    passage = judge(Condition(holds="latency new/base <= 1.05"), [ratio(1.1, 1.3, value=1.2), far])
    written = {path.name: path for path in write_gate(tmp_path, "campaign", [passage])}
    content = json.loads(written["gate.json"].read_text())
    Draft202012Validator(json.loads(dict(schemas())["gate.schema.json"])).validate(content)
    assert (content["h123"], content["verdict"]) == ("gate/1", "failed")
    (told,) = content["conditions"]
    assert [cell["verdict"] for cell in told["cells"]] == ["failed", "undecided"]
    assert [cell["blocks_needed"] for cell in told["cells"]] == [None, NEEDED]
    suite = ElementTree.parse(written["gate.xml"]).getroot()
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("2", "1", "1")
    comment = written["gate.md"].read_text().replace("\xa0", " ")
    assert "| latency new/base <= 1.05 | lan | +20 % (+10 % to +30 %) | FAILED |" in comment
    assert "about 12 more blocks would probably decide (20 in all)" in comment


TEXTS = ("latency h3/h2 > 100", "ttfb h3/h2 > 100", "latency h3 > 100s", "cpu_server h3/h2 > 100")
EMPTY = "2 of 6 responses had a body of 0 bytes instead of 20000"


def failing(path: Path, trials: int, reason: tuple[str, str]) -> GateFigures:
    """The first attempt of so many of six trials of h3 over lan is invalid for that."""
    plan = make_plan(Study.from_resolved(study_of(Scenario())), blocks=6, seed=1)
    names = [one.id for one in plan.trials() if one.cell == {"network": "lan", "protocol": "h3"}][:trials]
    return figures(make_campaign(path, Scenario(invalid=frozenset(names), invalid_by=reason)))


@pytest.mark.parametrize("by", ["interval", "estimate"])
@pytest.mark.parametrize(
    ("code", "detail", "said"),
    [
        ("client-timeout", "no end", "h3 failed in 2 of 8 attempts, and the figures come from the other attempts"),
        (
            "wrong-size",
            EMPTY,
            f"h3 failed in 2 of 8 attempts (at first: {EMPTY}), and the figures come from the other attempts",
        ),
        ("wrong-protocol", "it was h2", "h3 failed in 2 of 8 attempts (at first: it was h2), and"),
    ],
)
def test_a_build_that_fails_or_answers_wrongly_does_not_pass(
    tmp_path: Path, code: str, detail: str, said: str, by: Any
) -> None:
    known = failing(tmp_path / "c", 2, (code, detail))
    for text in TEXTS:
        condition = Condition.forbidding(text, by)
        stuck = judge(condition, known.of(condition))
        assert stuck.word == "undecided"
        assert not stuck.open
        [why] = [one.why for one in stuck.cells if one.word == "undecided"]
        assert said in why
        assert why in str(gate_row([stuck]))


@pytest.mark.parametrize(("trials", "code"), [(1, "wrong-size"), (2, "link-late"), (2, "link-check-failed")])
def test_a_single_failure_or_one_of_the_link_lets_pass(tmp_path: Path, trials: int, code: str) -> None:
    known = failing(tmp_path / "c", trials, (code, "something"))
    for text in TEXTS:
        condition = Condition.forbidding(text, "interval")
        assert judge(condition, known.of(condition)).word == "passed"


def test_nothing_passes_before_the_campaign_is_finished() -> None:
    condition = Condition(holds="latency new/base <= 1.05")
    found = [ratio(1.0, 1.02), ratio(1.2, 1.3, cell={"network": "poor"})]
    passage = judge(condition, found, unfinished="3 of 12 trials have not run")
    assert [(cell.word, cell.why) for cell in passage.cells] == [
        ("undecided", "3 of 12 trials have not run"),
        ("failed", "the whole interval is beyond the bound"),
    ]
    assert judge(condition, spoiled(found, "files are gone")).word == "undecided"


def test_a_failed_audit_and_a_passed_gate_do_not_contradict_each_other(tmp_path: Path) -> None:
    def disturbed(trial: PlannedTrial) -> float:
        return 0.2 if trial.cell == {"network": "lan", "protocol": "h3"} else 0.0

    known = figures(make_campaign(tmp_path / "c", Scenario(blocks=8, disturbed=disturbed)))
    for text in ("latency h3/h2 > 100", "ttfb h2/h3 < 0.01", "rps h3/h2 < 0.01"):
        condition = Condition.forbidding(text, "estimate")
        passage = judge(condition, known.of(condition))
        assert {cell.figure.cell["network"] for cell in passage.cells if cell.word == "undecided"} == {"lan"}
        assert "it may have caused the ratio: lan: up to " in str(gate_row([passage]))
    sound = Condition.forbidding("latency h2/h1 > 100", "estimate")
    assert judge(sound, known.of(sound)).word == "passed"
