"""The forms of a gate that others read, held against what they are to be."""

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from gate.test_gate import ratio
from h123.analysis import analyse, gather
from h123.gate import ConditionOutcome, GateFigures, judge, write_gate
from h123.study import Condition
from synthetic import Scenario, make_campaign

WIDE = "latency new/base <= 1.05"
CONDITIONS = (WIDE, "latency new/base <= 1.2", "goodput new/base >= 0.9")


def outcomes() -> list[ConditionOutcome]:
    """Several conditions about several ratios: decided, undecided, unknown, without bound, better the more."""
    cells = {"network": "lan"}, {"network": 'po"or\\', "protocol": "h3"}
    ratios = [
        ratio(1.1, 1.3, value=1.2, cell=cells[0]),
        ratio(1.0, None, value=1.15, cell=cells[1]),
        ratio(0.4, 0.8, value=0.5, metric="goodput", cell=cells[0]),
        ratio(None, None, value=None, metric="goodput", cell=cells[1], withheld="the machine was busy"),
    ]
    asked = [Condition(holds=text) for text in CONDITIONS]
    return [judge(one, [ratio for ratio in ratios if ratio.metric == one.metric]) for one in asked]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_gate(tmp_path, "c", outcomes())
    return tmp_path


def test_what_github_action_benchmark_takes(folder: Path) -> None:
    """By its `BenchmarkResult` (src/extract.ts): a list of these fields, which it tells apart by their names; a range
    is drawn where it is ± and a number (src/extractRangeInfo.ts)."""
    entries = json.loads((folder / "gate-benchmark.json").read_text())
    assert len({entry["name"] for entry in entries}) == len(entries) == 3
    for entry in entries:
        assert {*entry} >= {"name", "unit", "value"}
        assert {*entry} <= {"name", "unit", "value", "range", "extra"}
        assert all(isinstance(entry[name], str) for name in {*entry} - {"value"})
        assert isinstance(entry["value"], float)
    lan, poor, goodput = entries
    assert (lan["name"], lan["unit"], lan["value"]) == ("latency new/base, lan", "ratio", 1.2)
    assert re.fullmatch(r"(\+-|±)\s*\d.+", lan["range"])
    assert float(lan["range"].removeprefix("± ")) == pytest.approx(0.1)
    assert lan["extra"].splitlines() == [
        "95.0% interval 1.1000 to 1.3000, 8 blocks",
        "required latency new/base <= 1.05: failed",
        "required latency new/base <= 1.2: undecided",
    ]
    assert "range" not in poor
    assert (goodput["name"], goodput["value"]) == ("goodput base/new, lan", 2.0)
    assert float(goodput["range"].removeprefix("± ")) == pytest.approx(0.75)


def test_what_prometheus_reads(folder: Path) -> None:
    text = (folder / "gate.prom").read_text()
    families = {family.name: family for family in text_string_to_metric_families(text)}
    assert {family.type for family in families.values()} == {"info", "gauge", "stateset"}
    ratios = {tuple(v for _, v in sorted(s.labels.items())): s.value for s in families["h123_gate_ratio"].samples}
    assert ratios == {
        ("lan", "latency", "new/base"): 1.2,
        ('po"or\\ h3', "latency", "new/base"): 1.15,
        ("lan", "goodput", "new/base"): 0.5,
    }
    assert len(families["h123_gate_ratio_low"].samples) == 3
    assert len(families["h123_gate_ratio_high"].samples) == 2
    assert [sample.value for sample in families["h123_gate_bound"].samples] == [1.05, 1.2, 0.9]
    states = [s.labels for s in families["h123_gate_verdict"].samples if s.value]
    assert [state["h123_gate_verdict"] for state in states if state["condition"] == WIDE] == ["failed", "undecided"]
    assert len(states) == 6


def test_junit_as_its_readers_have_it(folder: Path) -> None:
    suite = ElementTree.parse(folder / "gate.xml").getroot()
    cases = suite.findall("testcase")
    assert suite.tag == "testsuite"
    assert int(suite.get("tests", "")) == len(cases) == 6
    assert int(suite.get("failures", "")) == len(suite.findall("testcase/failure")) == 2
    assert int(suite.get("skipped", "")) == len(suite.findall("testcase/skipped")) == 4
    assert all(case.get("name") and case.get("classname") for case in cases)


def test_of_a_real_campaign(tmp_path: Path) -> None:
    """Nothing of what an analysis may leave out or call infinite upsets a form."""
    campaign = make_campaign(tmp_path / "c", Scenario(blocks=2, missing={"b02-t01-poor-h3"}))
    figures = GateFigures(analyse(campaign), lambda: gather(campaign))
    texts = ("latency h3/h2 <= 1", "goodput h3/h2 <= 1", "cpu h3/h2 <= 1", "rps h3 >= 10/s", "latency h2 <= 1s")
    held = [judge(Condition(holds=text), figures.of(Condition(holds=text))) for text in texts]
    for path in write_gate(tmp_path, "c", held):
        assert path.read_text().strip()
    assert json.loads((tmp_path / "gate-benchmark.json").read_text())
    assert list(text_string_to_metric_families((tmp_path / "gate.prom").read_text()))
