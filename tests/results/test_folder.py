"""The campaign folder: what is sealed stays, what is partial goes, and strangers are refused."""

import json
from pathlib import Path
from typing import Any

import pytest

from h123.base.errors import UserError
from h123.base.files import journal
from h123.documents.events import AttemptFacts
from h123.execution import machine_facts
from h123.store import CampaignFolder
from h123.store.seal import seal_attempt
from h123.study import find_study, load_study

EVENT: AttemptFacts = {
    "event": "trial",
    "trial": "b01-t01",
    "attempt": 1,
    "block": 1,
    "position": 1,
    "cell": {},
    "twin": False,
    "parameters": {},
    "link_seed": 7,
    "valid": True,
    "reasons": [],
    "seconds": 1.0,
}


def create(path: Path) -> CampaignFolder:
    study = load_study(find_study("quick"))
    arguments: dict[str, Any] = {
        "study": study.resolved(),
        "study_text": "# ä\n",
        "networks": {name: network.resolved() for name, network in study.networks.items()},
        "machine": {},
    }
    return CampaignFolder.create(path, **arguments, seed=7, blocks=3, level_filter={"network": ["lan"]}, subjects={})


def test_what_was_created_is_what_opens(tmp_path: Path) -> None:
    create(tmp_path / "c")
    folder = CampaignFolder.open(tmp_path / "c")
    assert (folder.seed, folder.blocks, folder.level_filter) == (7, 3, {"network": ["lan"]})
    quick = load_study(find_study("quick"))
    assert (folder.study, folder.networks.keys(), folder.name) == (quick.resolved(), quick.networks.keys(), "c")
    assert (folder.path / "study.yaml").read_text(encoding="utf-8") == "# ä\n"
    assert folder.tls.is_dir()


def test_more_blocks_are_remembered(tmp_path: Path) -> None:
    create(tmp_path / "c").set_blocks(9)
    assert CampaignFolder.open(tmp_path / "c").blocks == 9


def test_a_campaign_is_not_created_over_another_nor_among_foreign_files(tmp_path: Path) -> None:
    create(tmp_path / "c")
    with pytest.raises(UserError, match="already contains a campaign"):
        create(tmp_path / "c")
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "letter.txt").touch()
    with pytest.raises(UserError, match=r"letter\.txt"):
        create(tmp_path / "d")
    with pytest.raises(UserError, match="is a file"):
        create(tmp_path / "d" / "letter.txt")


def test_a_creation_that_a_crash_cut_short_can_be_done_again(tmp_path: Path) -> None:
    (create(tmp_path / "c").path / "campaign.json").unlink()
    with pytest.raises(UserError, match="not a campaign"):
        CampaignFolder.open(tmp_path / "c")
    create(tmp_path / "c")
    assert CampaignFolder.open(tmp_path / "c").blocks == 3


@pytest.mark.parametrize("form", ["campaign/2", "trial/1", None])
def test_another_format_is_refused_by_name(tmp_path: Path, form: str | None) -> None:
    file = create(tmp_path / "c").path / "campaign.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "h123": form}))
    with pytest.raises(UserError, match=form or "unknown"):
        CampaignFolder.open(tmp_path / "c")


def test_no_folder_and_damaged_files_are_clear_errors(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="not a campaign"):
        CampaignFolder.open(tmp_path / "nothing")
    (create(tmp_path / "c").path / "campaign.json").write_text("{")
    with pytest.raises(UserError, match="cannot be read"):
        CampaignFolder.open(tmp_path / "c")


def test_sealed_attempts_stay_and_partial_ones_go(tmp_path: Path) -> None:
    folder = create(tmp_path / "c")
    whole, torn = folder.partial("b01-t01", 1), folder.partial("b01-t02", 1)
    (whole / "logs").mkdir()
    (whole / "logs" / "client.log").write_text("fine")
    (torn / "samples.csv").touch()
    assert seal_attempt(whole, EVENT) == folder.trial("b01-t01", 1)
    folder.discard_partials()
    assert folder.sealed() == [folder.trial("b01-t01", 1)]
    assert (folder.trial("b01-t01", 1) / "logs" / "client.log").read_text() == "fine"
    assert not torn.exists()


def test_finished_trials_without_a_campaign_are_not_taken_for_an_empty_folder(tmp_path: Path) -> None:
    folder = create(tmp_path / "c")
    seal_attempt(folder.partial("b01-t01", 1), EVENT)
    (folder.path / "campaign.json").unlink()
    with pytest.raises(UserError, match=r"1 finished trial, but no campaign\.json"):
        create(tmp_path / "c")
    assert len(folder.sealed()) == 1


def test_a_partial_folder_begins_empty(tmp_path: Path) -> None:
    folder = create(tmp_path / "c")
    (folder.partial("b01-t01", 1) / "samples.csv").touch()
    assert list(folder.partial("b01-t01", 1).iterdir()) == []


def test_machine_facts_are_json_and_say_what_matters() -> None:
    facts = json.loads(json.dumps(machine_facts()))
    assert facts["cpus"] >= 1
    assert facts["memory_bytes"] > 2**26
    assert all(facts[name] for name in ("kernel", "python", "clock_source", "cpu"))


def test_the_journal_is_read_once_as_long_as_nobody_writes_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, read = create(tmp_path / "c"), list[Path]()
    whole = journal.read_events
    monkeypatch.setattr("h123.store.folder.read_events", lambda path: [read.append(path), *whole(path)][1:])
    folder.append({"event": "resume"})
    folder.events()[0]["event"] = "what somebody makes of it"
    assert [event["event"] for event in folder.events()] == ["resume"]
    assert len(read) == 1
    CampaignFolder.open(folder.path).append({"event": "look", "blocks": 6})
    assert [event["event"] for event in folder.events()] == ["resume", "look"]
    assert len(read) == 2
