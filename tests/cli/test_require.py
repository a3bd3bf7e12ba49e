"""What a study requires, as a person runs it: refused before anything runs, and judged at the end, whatever it is."""

import json
from pathlib import Path

import pytest

from cli.conftest import SMOKE, Tool

PASSED, UNDECIDED, FAILED = 0, 98, 99


def requiring(folder: Path, *lines: str) -> str:
    written = "".join(f"  - {line}\n" for line in lines)
    (folder / "mine.yaml").write_text(f"{SMOKE}require:\n{written}")
    return "mine.yaml"


def verdict(folder: Path) -> str:
    return str(json.loads((folder / "gate.json").read_text())["verdict"])


@pytest.mark.parametrize(
    ("condition", "said"),
    [
        (
            "latency h3/h2 =< 1.05",
            "cannot be read; write a metric, two levels, one of <=, <, >=, >, and a ratio or a change",
        ),
        ("latenci h3/h2 <= 1.05", "did you mean latency?"),
        ("latency h9/h2 <= 1.05", "'h9' is not compared here"),
        ("latency h2 <= 1.05", "write it as in '200ms'"),
        ("{holds: latency h3/h2 <= 1.05, by: mean}", "the choices are interval, estimate"),
    ],
)
def test_a_bad_condition_is_refused_at_plan(h123: Tool, condition: str, said: str) -> None:
    study = requiring(h123.folder, "latency h3/h2 <= 100", condition)
    refusal = h123.refusal("plan", study)
    assert f"mine.yaml:{len(SMOKE.splitlines()) + 3}: " in refusal
    assert said in refusal


@pytest.mark.parametrize(
    ("condition", "options", "said"),
    [
        ("latency h3/h1 <= 1.05", ["--filter", "protocol=h3,h2"], "'h1' is not compared here"),
        ("cpu h3/h2 <= 1.05", ["--clock", "virtual"], "no value under the virtual clock"),
    ],
)
@pytest.mark.parametrize("command", [["plan"], ["run", "--out", "out"]])
def test_what_would_be_measured_for_nothing_is_refused(
    h123: Tool, command: list[str], condition: str, options: list[str], said: str
) -> None:
    assert said in h123.refusal(*command, requiring(h123.folder, condition), *options)
    assert not (h123.folder / "out").exists()


@pytest.mark.usefixtures("leaves_nothing_behind")
def test_a_campaign_ends_with_what_became_of_it(h123: Tool) -> None:
    """One block decides nothing by its interval; by estimates it does, unless the machine was too busy to judge."""
    study = requiring(h123.folder, "{holds: latency h3/h2 <= 100, by: estimate}")
    assert "Required: latency h3/h2 <= 100 (estimate)" in h123("plan", study).stdout
    done = h123("run", study, "--filter", "network=medium", "--out", "out")
    assert "Required, latency h3/h2 <= 100 (estimate): " in done.stdout, done.stderr
    out = h123.folder / "out"
    status = {"passed": PASSED, "undecided": UNDECIDED}[verdict(out)]
    assert done.returncode == status, done.stderr
    assert status == PASSED or "not judged: " in done.stdout
    again = h123("gate", "out")
    assert again.returncode == status, again.stderr
    for bound, expected in ((0.01, FAILED), (100, PASSED)):
        held = h123("gate", "out", "--fail-if", f"latency h3/h2 > {bound}", "--by", "estimate")
        assert held.returncode == (expected if status == PASSED else UNDECIDED), held.stderr
    unsure = h123("gate", "out", "--fail-if", "latency h3/h2 > 100")
    assert unsure.returncode == UNDECIDED
    assert verdict(out) == "undecided"
    assert status != PASSED or "more blocks would probably decide (6 in all)" in " ".join(unsure.stdout.split())


def test_a_gate_needs_something_to_hold(h123: Tool) -> None:
    assert "not a campaign" in h123.refusal("gate", ".")
    wrong = h123("gate", ".", "--fail-if", "slow")
    assert "--fail-if 'slow' cannot be read" in wrong.stderr
