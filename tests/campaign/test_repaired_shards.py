"""Shards with damaged trials that were repeated."""

import shutil
from pathlib import Path

import pytest

from campaign.scripted import ScriptedEngine, run_scripted
from campaign.test_joining import BLOCKS, SMALL, joined
from campaign.test_runner import Silent, extended, start
from h123.analysis import analyse
from h123.base.errors import UserError
from h123.documents.shard import Shard
from h123.store import CampaignFolder


@pytest.mark.parametrize("fault", ["changed", "gone"])
def test_a_shard_is_joined_once_its_damaged_trial_was_repeated(tmp_path: Path, fault: str) -> None:
    """`join` refused the damaged attempt for ever, with the advice to repeat it."""
    shard = start(tmp_path / "study", SMALL, out=tmp_path / "shard", shard=Shard.read("1/2")).folder
    run_scripted(extended(shard.path), ScriptedEngine(), Silent(), 1)
    attempt = CampaignFolder.open(shard.path).sealed()[0]
    if fault == "gone":
        shutil.rmtree(attempt)
    else:
        (attempt / "samples.parquet").write_bytes(b"PAR1")
    with pytest.raises(UserError):
        joined(tmp_path / "out", CampaignFolder.open(shard.path))
    run_scripted(extended(shard.path), ScriptedEngine(), Silent(), 1)
    result = joined(tmp_path / "out", CampaignFolder.open(shard.path))
    assert result.added == CampaignFolder.open(shard.path).shard.blocks(BLOCKS)
    ran = [(event["trial"], event["attempt"]) for event in result.folder.events() if event["event"] == "trial"]
    assert (attempt.name.partition("~")[0], 2) in ran
    assert (attempt.name.partition("~")[0], 1) not in ran
    assert joined(tmp_path / "out", CampaignFolder.open(shard.path)).added == []
    assert analyse(result.folder)["trials"]["valid"] == len(ran)
