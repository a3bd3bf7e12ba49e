"""Gate and diff as a person runs them on campaigns that are damaged, unfinished, or copies."""

import json
import shutil
from pathlib import Path

import pytest

from cli.conftest import Tool
from synthetic import NETWORKS, Scenario, make_campaign

NETS = {"poor": NETWORKS["poor"]}
LOOSE = ("--fail-if", "latency h3/h2 > 100")


@pytest.fixture
def whole(h123: Tool) -> Path:
    make_campaign(h123.folder / "c", Scenario(blocks=7, networks=NETS, effects={}, block_noise=0.05))
    return h123.folder / "c"


def unfinish(folder: Path) -> None:
    """As if the last block had not run yet."""
    journal = folder / "journal.jsonl"
    journal.write_text("".join(line for line in journal.open() if '"b07-' not in line))
    for trial in (folder / "trials").glob("b07-*"):
        shutil.rmtree(trial)


def gate_of(folder: Path) -> str:
    return str(json.loads((folder / "gate.json").read_text())["verdict"])


def test_the_verdict_stands_first_wherever_it_is_read(h123: Tool, whole: Path) -> None:
    """Terminal, page and verdicts.json say the same, also when they are made again later."""
    h123("report", "c")
    held = h123("gate", "c", *LOOSE, "--fail-if", "latency h3 > 1ms", "--fail-if", "ttfb h1/h3 < -99%")
    assert held.returncode == 99, held.stderr
    lines = json.loads((whole / "verdicts.json").read_text())["gate"]["lines"]
    required = [line for line in lines if line.startswith("Required, ")]
    assert lines[:2] == ["Gate: failed", "Required, latency h3 <= 1ms: failed"]
    assert "Required, latency h3/h2 <= 100: passed" in required
    assert [line.rpartition(": ")[2] for line in required] == ["failed", "passed", "passed"]  # the worst first
    assert held.stdout.startswith("Gate: failed\n")
    for command in (["report", "c"], ["analyse", "c"]):
        done = h123.succeed(*command)
        page = (whole / "report.html").read_text()
        main = page[page.index("<main>") :]
        assert main.index("Gate: failed") < main.index("Required, latency h3 &lt;= 1ms: failed") < main.index("<table")
        assert json.loads((whole / "verdicts.json").read_text())["gate"]["lines"] == lines
    assert done.stdout.startswith("Gate: failed\n")


@pytest.mark.parametrize("by", ["interval", "estimate"])
@pytest.mark.parametrize("damage", ["gone", "changed"])
def test_a_damaged_campaign_does_not_pass(h123: Tool, whole: Path, by: str, damage: str) -> None:
    h123.succeed("gate", "c", *LOOSE, "--by", by)
    trial = sorted((whole / "trials").glob("b01-*h3~1"))[0]
    if damage == "gone":
        shutil.rmtree(trial)
    else:
        with (trial / "samples.parquet").open("ab") as file:
            file.write(b"x")
    done = h123("gate", "c", *LOOSE, "--by", by)
    assert done.returncode == 1
    assert trial.name in done.stderr
    assert "the files of 1 trial have changed since the measurement" in " ".join(done.stdout.split())
    assert gate_of(whole) == "undecided"


@pytest.mark.parametrize("by", ["interval", "estimate"])
def test_an_unfinished_campaign_does_not_pass(h123: Tool, whole: Path, by: str) -> None:
    unfinish(whole)
    done = h123("gate", "c", *LOOSE, "--by", by)
    assert done.returncode == 98, done.stderr
    assert "the campaign is not finished: 4 of 28 trials have not run" in " ".join(done.stdout.split())
    assert gate_of(whole) == "undecided"
    assert h123("gate", "c", "--fail-if", "latency h3/h2 < 100", "--by", by).returncode == 99


def test_a_copy_is_no_second_campaign(h123: Tool, whole: Path) -> None:
    shutil.copytree(whole, h123.folder / "copy")
    (h123.folder / "link").symlink_to(whole)
    journal = h123.folder / "copy/journal.jsonl"
    for other, said in (("copy", "one is a copy of the other"), ("link", "was given twice")):
        assert said in h123.refusal("diff", "c", other)
    journal.write_text("".join(line for line in journal.open() if '"b07-' not in line))  # one that went on later
    assert "one is a copy of the other" in h123("diff", "c", "copy").stderr


def test_a_diff_says_what_is_damaged_or_unfinished(h123: Tool, whole: Path) -> None:
    make_campaign(h123.folder / "d", Scenario(blocks=7, seed=2, networks=NETS, effects={}, block_noise=0.05))
    asked = ("--fail-if", "latency after/before > 100")
    h123.succeed("diff", "c", "d", *asked)
    shutil.copytree(h123.folder / "d", h123.folder / "kept")
    unfinish(h123.folder / "d")
    unfinished = h123("diff", "c", "d", *asked)
    assert unfinished.returncode == 98
    assert "d is not finished: 4 trials have not run" in unfinished.stdout
    shutil.rmtree(h123.folder / "d")
    shutil.move(h123.folder / "kept", h123.folder / "d")
    shutil.rmtree(sorted((whole / "trials").glob("b02-*h2~1"))[0])
    damaged = h123("diff", "c", "d", *asked)
    assert damaged.returncode == 1
    assert "1 trial is left out" in damaged.stderr
    assert gate_of(h123.folder / "d/diff") == "undecided"
