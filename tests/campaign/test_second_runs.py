"""Of each machine that ran virtual trials, one runs on another machine too, and must do the same."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from campaign.scripted import HERE, ScriptedEngine
from campaign.test_joining import BLOCKS, EACH, SMALL, VIRTUAL, joined
from campaign.test_machines import nothing_is_left_over
from campaign.test_runner import Silent, extended, start
from documents import check_documents
from h123.analysis import analyse
from h123.base.errors import UserError
from h123.campaign import Campaign, run_campaign
from h123.documents.shard import Shard
from h123.execution import LocalPool, Machine
from h123.report.text.trust.provenance import place_lines
from h123.store import CampaignFolder

BUILDS = {"kernel": "6.1.0", "cpu": "Old One", "lab_build": "1abe1", "virtual_kernel_build": "be11"}
THERE = Machine(name="there", facts={"virtual_kernel": True, **BUILDS}, cpus=2, memory_bytes=2**33)  # type: ignore[typeddict-item]


class Otherwise(ScriptedEngine):
    """Its trials end a nanosecond later."""

    def wait(self) -> Path:
        folder = super().wait()
        samples = folder / "samples.csv"
        samples.write_text(samples.read_text().replace("40000000,200", "40000001,200"))
        return folder


@pytest.fixture(autouse=True)
def kernel(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("h123.execution.preparation.virtual_kernel", lambda: tmp_path / "linux")


def run(campaign: Campaign, machine: Machine = HERE, engine: ScriptedEngine | None = None) -> ScriptedEngine:
    engine = engine or ScriptedEngine()
    pool = LocalPool(campaign.folder.arrivals, campaign.folder.tls, engine=engine, machine=machine)
    assert run_campaign(campaign, pool, Silent(), 1).valid == len(campaign.plan.trials())
    return engine


def again(campaign: Campaign) -> Campaign:
    return extended(campaign.folder.path)


def second_runs(folder: CampaignFolder) -> list[Mapping[str, Any]]:
    events = [event for event in CampaignFolder.open(folder.path).events() if event["event"] == "second-run"]
    check_documents("journal-event", [json.dumps(event) for event in events])
    return events


def shards(tmp_path: Path, engines: Mapping[int, ScriptedEngine], study: str = VIRTUAL) -> list[CampaignFolder]:
    folders = []
    for number, machine in ((1, HERE), (2, THERE)):
        out = tmp_path / "shards" / str(number)
        campaign = start(tmp_path / "study", study, out=out, shard=Shard(f"{number}/2"))
        run(campaign, machine, engines.get(number))
        assert nothing_is_left_over(campaign)
        folders.append(CampaignFolder.open(out))
    return folders


def test_one_machine_runs_nothing_twice(tmp_path: Path) -> None:
    campaign = start(tmp_path, VIRTUAL)
    assert len(run(campaign).ran) == BLOCKS * EACH
    assert run(again(campaign)).ran == []
    assert second_runs(campaign.folder) == []


def test_another_machine_runs_one_trial_again_and_once(tmp_path: Path) -> None:
    campaign = start(tmp_path, VIRTUAL)
    before = len(run(campaign).ran)
    engine = run(again(campaign), THERE)
    [event] = second_runs(campaign.folder)
    assert engine.ran == [(event["trial"], 1)]
    assert event["place"] == "there"
    assert "samples.parquet" in event["files"]
    assert nothing_is_left_over(campaign)
    assert sum(event["event"] == "trial" for event in campaign.folder.events()) == before
    assert run(again(campaign), THERE).ran == []
    verdicts = analyse(CampaignFolder.open(campaign.folder.path))
    assert place_lines(verdicts)[0] == "1 virtual trial ran on a second machine too, and did the same to the byte"


def test_other_bytes_are_an_error_that_names_kernel_processor_and_build(tmp_path: Path) -> None:
    campaign = start(tmp_path, VIRTUAL)
    run(campaign)
    with pytest.raises(UserError) as refused:
        run(again(campaign), THERE, Otherwise())
    said = refused.value.message
    assert "samples.parquet differ" in said
    assert "there, Linux 6.1.0 on Old One" in said
    assert "lab 1abe1 and virtual kernel be11" in said
    assert "here, Linux" in said
    assert "h123 verify" in (refused.value.remedy or "")
    assert second_runs(campaign.folder) == []


def test_trials_in_real_time_run_once(tmp_path: Path) -> None:
    assert all(second_runs(folder) == [] for folder in shards(tmp_path, {}, SMALL))


def test_a_shard_runs_a_trial_of_another_one_and_join_compares(tmp_path: Path) -> None:
    one, other = shards(tmp_path, {})
    [first], [second] = second_runs(one), second_runs(other)
    assert (first["trial"][:3], second["trial"][:3]) == ("b02", "b03")
    result = joined(tmp_path / "campaign", one, other)
    assert second_runs(result.folder) == [first, second]
    assert second_runs(joined(tmp_path / "campaign", one, other).folder) == [first, second]
    assert analyse(result.folder)["second_runs"] == 2


@pytest.mark.parametrize("together", [True, False])
def test_join_refuses_shards_that_did_otherwise(tmp_path: Path, *, together: bool) -> None:
    one, other = shards(tmp_path, {2: Otherwise()})
    out = tmp_path / "campaign"
    if not together:
        joined(out, one)
    with pytest.raises(UserError, match=r"did not do the same: samples\.parquet differ") as refused:
        joined(out, one, other)
    assert "Old One" in refused.value.message
    assert out.exists() is not together
