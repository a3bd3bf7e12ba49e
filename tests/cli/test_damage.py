"""A campaign that lost files: shown with what it still has, and the status says so."""

import os
import shutil

import pytest

from cli.conftest import Tool
from synthetic import Scenario, make_campaign


def test_every_command_names_the_trial_and_how_to_repeat_it(h123: Tool) -> None:
    folder = make_campaign(h123.folder / "c", Scenario(blocks=1))
    lost = folder.sealed()[0]
    shutil.rmtree(lost)
    for command in ("analyse", "export"):
        done = h123(command, "c")
        assert done.returncode == 1, done.stderr
        assert f"{lost.name}: its folder is gone" in done.stderr
        assert "h123 run --out c repeats only this trial" in " ".join(done.stderr.split())
        assert "Traceback" not in done.stderr
    said = h123("analyse", "c").stdout
    assert "11 of 12 trials valid" in said
    assert "1 of 12 trials has damaged or missing files: h123 run --out c" in said
    assert "not run" not in said + h123("analyse", "c", "--details").stdout


@pytest.mark.parametrize("kept", [0, 200, 0.6])
def test_trials_that_a_cut_journal_lacks_are_reported(h123: Tool, kept: float) -> None:
    """The trials counted as not run, and nothing said that the journal was damaged."""
    folder = make_campaign(h123.folder / "c", Scenario(blocks=1))
    journal = folder.path / "journal.jsonl"
    os.truncate(journal, int(kept * journal.stat().st_size) if kept < 1 else int(kept))
    lacking = len(folder.unjournalled())
    for command in ("analyse", "export", "report"):
        done = h123(command, "c")
        said = " ".join(done.stderr.split())
        assert done.returncode == 1, done.stderr
        assert f"{lacking} finished trials are left out, because the journal was cut short and lacks them" in said
        assert "h123 run --out c puts them into the journal again" in said


def test_broken_files_of_a_campaign_are_sentences(h123: Tool) -> None:
    folder = make_campaign(h123.folder / "c", Scenario(blocks=1)).path
    for name, said in (("journal.jsonl", "line 1"), ("campaign.json", "campaign.json")):
        whole = (folder / name).read_bytes()
        (folder / name).write_bytes(b"[" * 100_000 + b"\n" + whole)
        assert said in h123.refusal("analyse", "c")
        (folder / name).write_bytes(whole)
