"""A campaign goes through whatever its servers do, and counts no answer that is none."""

import json

import pytest

from adversary.trial import write_hostile
from catalogue.own_cache import own_cache
from cli.conftest import Tool
from h123.catalogue import subjects_folder
from stored import stored_rows

STUDY = """\
h123: study/1
name: hostile
question: What becomes of servers that harm?
factors:
  server: [go, endless, half, zeros, wrong]
settings: {protocol: h2, client: go, network: lan, size: 100kB, users: 1, requests: 2, cold: false, timeout: 5s}
compare:
  factor: server
  pairs: [endless/go, half/go, zeros/go, wrong/go]
  twin: go
  families: [{name: answer, correction: holm, metrics: [latency]}]
blocks: 1
seed: 1
"""


def _errors(h123: Tool, trial: str) -> tuple[str, ...]:
    """Of the trial's requests."""
    [samples] = (h123.folder / "out/trials").glob(f"{trial}*/samples.parquet")
    return tuple(row["error"] for row in stored_rows(samples))


@pytest.mark.usefixtures("leaves_nothing_behind")
def test_a_campaign_with_hostile_servers_ends(h123: Tool, monkeypatch: pytest.MonkeyPatch) -> None:
    subjects = h123.folder / "subjects"
    subjects.mkdir()
    for folder in subjects_folder().iterdir():
        (subjects / folder.name).symlink_to(folder)
    write_hostile(subjects / "endless", "endless-body")
    write_hostile(subjects / "half", "half")
    write_hostile(subjects / "zeros", "zeros")
    write_hostile(subjects / "wrong", "wrong-byte")
    monkeypatch.setenv("H123_CACHE", str(own_cache(h123.folder)))
    monkeypatch.setenv("H123_SUBJECTS", str(subjects))
    (h123.folder / "hostile.yaml").write_text(STUDY)
    done = h123("run", "hostile.yaml", "--out", "out")
    assert done.returncode == 1, done.stderr
    events = [json.loads(line) for line in (h123.folder / "out/journal.jsonl").read_text().splitlines()]
    found = {event["cell"]["server"]: event for event in events if event["event"] == "trial"}
    assert (found["go"]["valid"], found["endless"]["valid"]) == (True, True)
    assert [reason["code"] for reason in found["half"]["reasons"]] == ["wrong-size"]
    assert {_errors(h123, found[name]["trial"]) for name in ("zeros", "wrong")} == {("wrong-bytes", "wrong-bytes")}
    assert _errors(h123, found["go"]["trial"]) == ("", "")
    exported = h123.succeed("export", "out", "--format", "csv")
    assert any("protocol" in (h123.folder / line).read_text() for line in exported.stdout.split())
