"""A shard whose journal was cut short: named, and made whole again by running it."""

import os
from pathlib import Path

import pytest
from typer import Exit

from campaign.scripted import ScriptedEngine, run_scripted
from campaign.shard_copies import cut
from campaign.test_joining import whole
from campaign.test_runner import Silent, extended
from h123.base.paths import typed
from h123.campaign import join_shards
from h123.cli.shards import join
from h123.documents.shard import Shard
from h123.store import CampaignFolder

__all__ = ["whole"]  # a fixture


@pytest.mark.parametrize("kept", [0, 200, 0.5])
def test_a_shard_whose_journal_was_cut_is_damaged(
    tmp_path: Path, whole: CampaignFolder, kept: float, capsys: pytest.CaptureFixture[str]
) -> None:
    """It was dropped in silence. Its trials are there, so running it puts them into the journal again."""
    _, _, third = (cut(whole, Shard.read(f"{k}/3"), tmp_path / str(k)) for k in (1, 2, 3))
    journal = third.path / "journal.jsonl"
    os.truncate(journal, int(kept * journal.stat().st_size) if kept < 1 else int(kept))
    lacking = len(third.unjournalled())
    with pytest.raises(Exit):
        join.command([tmp_path / "1", tmp_path / "2", third.path], tmp_path / "out")
    said = " ".join(capsys.readouterr().err.split())
    assert f"{third.path} is damaged: its journal lacks {lacking} finished trials." in said
    assert f"h123 run --out {typed(third.path)} Missing: block 3." in said
    engine = ScriptedEngine()
    run_scripted(extended(third.path), engine, Silent(), 1)
    assert engine.ran == []
    again = join_shards([third.path], tmp_path / "out", lambda _: None)
    assert (again.missing, again.damaged) == ([], {})
