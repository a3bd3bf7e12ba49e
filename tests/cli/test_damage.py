"""A campaign that lost files: shown with what it still has, and the status says so."""

import shutil

from cli.conftest import Tool
from synthetic import Scenario, make_campaign


def test_every_command_names_the_trial_and_how_to_repeat_it(h123: Tool) -> None:
    folder = make_campaign(h123.folder / "c", Scenario(blocks=1))
    lost = folder.sealed()[0]
    shutil.rmtree(lost)
    for command in (["analyse", "c"], ["export", "c"]):
        done = h123(*command)
        assert done.returncode == 1, done.stderr
        assert f"{lost.name}: its folder is gone" in done.stderr
        assert "h123 run --out c repeats just these trials" in " ".join(done.stderr.split())
        assert "Traceback" not in done.stderr
    assert "11 of 12 trials valid" in h123("analyse", "c").stdout


def test_broken_files_of_a_campaign_are_sentences(h123: Tool) -> None:
    folder = make_campaign(h123.folder / "c", Scenario(blocks=1)).path
    for name, said in (("journal.jsonl", "line 1"), ("campaign.json", "campaign.json")):
        whole = (folder / name).read_bytes()
        (folder / name).write_bytes(b"[" * 100_000 + b"\n" + whole)
        done = h123("analyse", "c")
        assert (done.returncode, "Traceback" in done.stderr) == (2, False), done.stderr
        assert said in done.stderr
        (folder / name).write_bytes(whole)
