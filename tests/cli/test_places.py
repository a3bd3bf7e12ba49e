"""Where results cannot be written, a command says so before it starts anything."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from cli.conftest import ROOT, Tool
from synthetic import NETWORKS, Scenario, make_campaign

COMPARE = ("compare", "--server", "touch started", "--url", "https://localhost:8443/", "--out")


@pytest.fixture
def places(h123: Tool) -> Path:
    (h123.folder / "file").touch()
    (h123.folder / "occupied").mkdir()
    (h123.folder / "occupied/letter").touch()
    return h123.folder


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("file", "file is a file"),
        ("file/below", "file is a file"),
        ("occupied", "occupied is not empty: it contains letter"),
        ("/proc/x", "/proc cannot be written to: No such file or directory"),
        ("/sys/x", "/sys cannot be written to"),
        ("a?", "cannot be used for results"),
    ],
)
def test_compare_refuses_a_folder_before_it_starts_the_server(h123: Tool, places: Path, place: str, said: str) -> None:
    refusal = h123.refusal(*COMPARE, place)
    assert said in refusal
    assert "Finding out" not in refusal
    assert not (places / "started").exists()


@pytest.mark.parametrize("command", [["sleep 1"], []])
def test_compare_refuses_the_folder_of_another_study_at_once(h123: Tool, command: list[str]) -> None:
    h123.succeed("run", "smoke", "--filter", "network=lan", "--blocks", "1", "--out", "c")
    servers = [word for one in command for word in ("--server", one)]
    refusal = h123.refusal("compare", *servers, "--url", "https://localhost:1/", "--out", "c")
    assert "c holds a campaign of another study" in refusal
    assert "Finding out" not in refusal


@pytest.mark.usefixtures("places")
@pytest.mark.parametrize(
    "command",
    [
        ["run", "smoke", "--out", "/proc/x"],
        ["matrix", "--servers", "go", "--clients", "go", "--out", "/proc/x"],
        ["matrix", "--servers", "go", "--clients", "go", "--out", "file"],
        ["import", "file", "--schema", "h2load", "--out", "/proc/x"],
        ["compare", "--server", "true", "--url", "https://localhost/", "--save", "/proc/x"],
    ],
    ids=" ".join,
)
def test_every_command_says_what_to_do(h123: Tool, command: list[str]) -> None:
    refusal = h123.refusal(*command)
    assert "cannot be written to: No such file" in refusal or "file is a file" in refusal
    assert "-> name another" in refusal


READERS = """
    set -e
    mount --bind c c; mount -o remount,bind,ro c
    h123() { name=$1; shift; "$PYTHON" -m hasty "$@" > $name.out 2> $name.err || echo $? > $name.status; }
    h123 analyse analyse c
    h123 details analyse c --details
    h123 json analyse c --json
    h123 gate gate c --fail-if 'latency h3/h2 > 100'
    h123 gate-json gate c --fail-if 'latency h3/h2 > 100' --json
    h123 report report c
    h123 elsewhere report c --out page
    h123 show show c b01-t01-poor-h3
    h123 export export c
    h123 diff diff d c
"""


def test_a_folder_that_cannot_be_written_to_is_read(h123: Tool) -> None:
    """Each command ended with `verdicts.json.tmp: Read-only file system`."""
    for name, seed in (("c", 1), ("d", 2)):
        make_campaign(h123.folder / name, Scenario(blocks=6, seed=seed, networks={"poor": NETWORKS["poor"]}))
    before = {path.name for path in (h123.folder / "c").iterdir()}
    env = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT / 'tests'}", "COLUMNS": "200", "PYTHON": sys.executable}
    command = ["unshare", "--mount", "sh", "-c", READERS]
    subprocess.run(command, cwd=h123.folder, env=env, timeout=600, check=True)
    assert {path.name for path in (h123.folder / "c").iterdir()} == before

    def written(name: str, kind: str) -> str:
        return (h123.folder / f"{name}.{kind}").read_text()

    statuses = {path.stem: int(path.read_text()) for path in h123.folder.glob("*.status")}
    assert statuses == {"report": 1, "show": 1, "export": 1, "diff": 1}
    for name in ("analyse", "details", "json", "gate", "gate-json"):
        assert written(name, "err") == "Note: c cannot be written to, so nothing was saved.\n"
    assert "Does the analysis find what was put in?" in written("analyse", "out")
    assert written("gate", "out").startswith("Gate: passed\n")
    assert json.loads(written("gate-json", "out"))["verdict"] == "passed"
    assert json.loads(written("json", "out"))["h123"] == "verdicts/1"
    for name, option in (("report", "DIR"), ("show", "FILE"), ("export", "DIR"), ("diff", "DIR")):
        said = written(name, "err")
        assert said == f"h123: c cannot be written to\n  -> name another place with --out {option}\n"
    assert "Does the analysis find what was put in?" in (h123.folder / "page/report.html").read_text()


def test_a_report_elsewhere_replaces_only_what_may_be_replaced(h123: Tool) -> None:
    make_campaign(h123.folder / "c", Scenario(blocks=2, networks={"poor": NETWORKS["poor"]}))
    (h123.folder / "page").mkdir()
    (h123.folder / "page/report.html").write_text("mine")
    assert "is there already" in h123.refusal("report", "c", "--out", "page")
    h123.succeed("report", "c", "--out", "page", "--force")
    assert "<main>" in (h123.folder / "page/report.html").read_text()
