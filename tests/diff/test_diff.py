"""Two campaigns beside each other: what is the same is compared, what is not is said, and nothing else."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import synthetic
from h123.base.errors import UserError
from h123.diff import Diff, differ
from h123.gate import judge, unpaired_figures
from h123.json_schemas import schemas
from h123.store import CampaignFolder
from h123.study import Condition, PlannedTrial
from synthetic import NETWORKS, Scenario, answer_family, changed_samples, make_campaign

Make = Callable[..., CampaignFolder]
SMALL = {
    "protocols": ("h2", "h3"),
    "pairs": ("h3/h2",),
    "networks": {name: NETWORKS[name] for name in ("lan", "poor")},
}
LATENCY = [answer_family("latency")]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    def made(name: str, **changes: Any) -> CampaignFolder:
        usual = {"blocks": 6, "block_noise": 0.01, "families": LATENCY, "effects": {}, **SMALL}
        return make_campaign(tmp_path / name, Scenario(**{**usual, **changes}))

    return made


def row(found: Diff, *levels: str) -> Any:
    [mine] = [one for one in found["rows"] if set(one["cell"].values()) == set(levels)]
    return mine


def test_what_became_slower_is_found_where_it_did(make: Make) -> None:
    before, after = make("before", seed=1), make("after", seed=2, effects={("poor", "h3"): 1.2})
    found = differ(before, after)
    Draft202012Validator(json.loads(dict(schemas())["diff.schema.json"])).validate(found)
    assert len(found["rows"]) == 4
    slower = row(found, "h3", "poor")
    assert slower["low"] < 1.2 < slower["high"]
    assert slower["low"] > 1.1
    assert (len(slower["before"]), len(slower["after"])) == (6, 6)
    assert row(found, "h2", "poor")["low"] < 1 < row(found, "h2", "poor")["high"]
    words = {tuple(one.figure.cell.values()): one.word for one in _held(found, "latency after/before <= 1.1").cells}
    assert words["h3", "poor"] == "failed"
    assert words["h2", "poor"] == "passed"
    assert [change["what"] for change in found["changes"]] == ["study, seed"]


def _held(found: Diff, text: str) -> Any:
    condition = Condition(holds=text)
    return judge(condition, unpaired_figures(found, condition))


def test_the_order_is_the_studys(make: Make) -> None:
    found = differ(make("before"), make("after", seed=2))
    expected = [(protocol, network) for protocol in ("h2", "h3") for network in ("lan", "poor")]
    assert [tuple(one["cell"].values()) for one in found["rows"]] == expected


def test_what_pairing_would_bring_is_told(make: Make) -> None:
    """Nearly all of the noise is the block's, which pairs do not have."""
    found = differ(make("before", block_noise=0.2), make("after", block_noise=0.2, seed=2))
    assert found["wider"] is not None
    assert found["wider"] > 3


def test_another_workload_is_another_treatment(make: Make) -> None:
    before, after = make("before"), make("after", settings={"size": 50_000})
    with pytest.raises(UserError, match="no treatment in common: h2 lan: size is 100000 before, 50000") as refused:
        differ(before, after)
    assert "and 1 more" in refused.value.message
    assert refused.value.remedy
    assert "run the same study both times" in refused.value.remedy


def test_other_factors_make_other_treatments(make: Make) -> None:
    loads = {"light": {"users": 1}, "heavy": {"users": 9}}
    with pytest.raises(UserError, match="factors are protocol, network before and protocol, network, load after"):
        differ(make("before"), make("after", loads=loads))


def test_a_network_that_changed_leaves_its_treatments_out(make: Make) -> None:
    changed = {"lan": NETWORKS["lan"], "poor": {**NETWORKS["medium"], "name": "poor", "title": "60 ms"}}
    found = differ(make("before"), make("after", networks=changed))
    assert {one["cell"]["network"] for one in found["rows"]} == {"lan"}
    assert {one["why"] for one in found["left_out"]} == {"the network poor has a different profile"}
    [told] = [change for change in found["changes"] if change["what"] == "network, poor"]
    assert "25 ms delay" in (told["before"] or "")
    assert "15 ms delay" in (told["after"] or "")


def test_a_level_that_one_has(make: Make) -> None:
    found = differ(make("before", protocols=("h1", "h2", "h3")), make("after"))
    assert len(found["rows"]) == 4
    assert {one["why"] for one in found["left_out"]} == {"only the campaign before has it"}


def test_machine_and_versions_are_told(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    before = make("before")
    facts = {**synthetic.machine_facts(), "cpu": "Another 9000", "memory_bytes": 2 * 10**9}
    monkeypatch.setattr(synthetic, "machine_facts", lambda: facts)
    monkeypatch.setattr("h123.store.folder.__version__", "9.9")
    found = differ(before, make("after"))
    told = {change["what"]: change["after"] for change in found["changes"]}
    assert told == {"h123, version": "9.9", "machine, cpu": "Another 9000", "machine, memory": "2 GB"}


def test_the_same_folder_twice(make: Make) -> None:
    before = make("before")
    with pytest.raises(UserError, match="was given twice"):
        differ(before, CampaignFolder.open(before.path))


def test_no_metric_in_common(make: Make) -> None:
    with pytest.raises(UserError, match="no metric in common"):
        differ(make("before"), make("after", families=[answer_family("ttfb")]))


def _fails(trial: PlannedTrial, folder: Path) -> None:
    """A tenth of its requests has no answer."""
    if trial.cell == {"protocol": "h3", "network": "poor"}:
        with changed_samples(folder) as rows:
            for row in rows[::10]:
                row.update(error="timeout", status="0")


def test_what_is_left_of_failures_is_not_judged(make: Make) -> None:
    found = differ(make("before"), make("after", spoil=_fails))
    assert "of its requests failed before" in row(found, "h3", "poor")["withheld"]
    assert row(found, "h2", "poor")["withheld"] is None
    words = {tuple(one.figure.cell.values()): one.word for one in _held(found, "latency after/before <= 9").cells}
    assert words["h3", "poor"] == "undecided"
    assert words["h2", "poor"] == "passed"


def test_a_network_on_which_nothing_takes_time_does_not_keep_a_gate_open(make: Make) -> None:
    """A gate on two campaigns under the virtual clock could never pass, because of lan."""
    quick = {"settings": {"clock": "virtual"}, "effects": {("lan", "h2"): 0.05, ("lan", "h3"): 0.1}}
    found = differ(make("before", **quick), make("after", seed=2, **quick))
    Draft202012Validator(json.loads(dict(schemas())["diff.schema.json"])).validate(found)
    held = _held(found, "latency after/before <= 9")
    assert held.word == "passed"
    assert {figure.cell["network"] for figure in held.unmeasured} == {"lan"}


def test_of_few_blocks_nothing_is_decided(make: Make) -> None:
    found = differ(make("before", blocks=3), make("after", blocks=3, seed=2))
    held = _held(found, "latency after/before <= 9")
    assert held.word == "undecided"
    assert all("3 blocks are too few" in cell.why for cell in held.cells)
