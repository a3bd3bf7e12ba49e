"""Campaigns of earlier versions are read like any other."""

from pathlib import Path

from h123.analysis import analyse
from h123.store import CampaignFolder
from results.test_seal import unseal
from synthetic import Scenario, make_campaign


def test_a_journal_with_the_earlier_word_for_the_default_controller_is_read(tmp_path: Path) -> None:
    path = make_campaign(tmp_path / "c", Scenario(blocks=1)).path
    unseal(path)
    for name in ("campaign.json", "journal.jsonl"):
        file = path / name
        file.write_text(file.read_text().replace('"congestion": "cubic"', '"congestion": "own"'))
    events = CampaignFolder.open(path).events()
    assert {event["parameters"]["congestion"] for event in events if event["event"] == "trial"} == {"default"}
    analyse(CampaignFolder.open(path))
