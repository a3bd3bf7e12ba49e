"""A side of which no trial is valid: every command says what it did, and a gate stays undecided."""

import json
from pathlib import Path
from unittest import mock

import pytest

import synthetic
from cli.conftest import Tool
from h123.study import PlannedTrial
from synthetic import NETWORKS, Scenario, answer_family, changed_samples, make_campaign

FAMILIES = [
    answer_family("latency", pairs=["b/a"], each=["network"]),
    {"name": "details", "correction": "bh", "metrics": ["cpu"], "pairs": ["b/a"]},
]
EMPTY = "(at first: 17 of 21 responses had a body of 0 bytes instead of 100000), so it has no figures"


def empty(*builds: str) -> synthetic.Spoil:
    """After four answers those builds send empty bodies."""

    def spoil(trial: PlannedTrial, folder: Path) -> None:
        if trial.cell["server"] in builds:
            with changed_samples(folder) as rows:
                for row in rows[4:]:
                    row["bytes_down"] = "0"

    return spoil


def compared(path: Path, spoil: synthetic.Spoil | None = None) -> None:
    scenario = Scenario(
        builds=("a", "b"),
        protocols=("h2",),
        pairs=("b/a",),
        twin="a",
        networks={"poor": NETWORKS["poor"]},
        families=FAMILIES,
        require=("latency b/a <= 1.5",),
        spoil=spoil,
    )
    make_campaign(path, scenario)


def unchecked(path: Path) -> None:
    """The link check of each trial of b failed, which says nothing about b."""
    original = synthetic._attempt

    def attempt(folder: object, scenario: object, trial: PlannedTrial, number: int, reasons: list[object]) -> None:
        failed = [{"code": "link-check-failed", "detail": "late"}] if trial.cell["server"] == "b" else reasons
        original(folder, scenario, trial, number, failed)  # type: ignore[arg-type]

    with mock.patch.object(synthetic, "_attempt", attempt):
        compared(path)


@pytest.mark.parametrize("dead", ["one", "both", "unchecked"])
def test_every_command_says_what_the_side_did(h123: Tool, dead: str) -> None:
    """They ended with `the campaign has no trial with such a value`, and left no report."""
    if dead == "unchecked":
        unchecked(h123.folder / "c")
    else:
        compared(h123.folder / "c", empty("b") if dead == "one" else empty("a", "b"))
    said = (
        "no attempt of b is valid (6 link-check-failed)"
        if dead == "unchecked"
        else f"b failed in 6 of 6 attempts {EMPTY}"
    )
    gate = h123("gate", "c")
    assert gate.returncode == 98, gate.stderr
    assert said in " ".join(gate.stdout.split())
    for command in ("analyse", "report"):
        h123.succeed(command, "c")
    folder = h123.folder / "c"
    assert "no clear winner" not in (folder / "report.html").read_text()
    for text in ((folder / "report.html").read_text(), (folder / "gate.md").read_text()):
        assert said.partition("), ")[0] in text
    verdicts = json.loads((folder / "verdicts.json").read_text())
    assert {c["withheld"]["why"] for c in verdicts["comparisons"] if not c["twin"]} == {said}
    assert said in h123.refusal("why", "c")


@pytest.mark.parametrize("dead", [("b",), ("a", "b")])
def test_diff_names_the_reason(h123: Tool, dead: tuple[str, ...]) -> None:
    compared(h123.folder / "before")
    compared(h123.folder / "after", empty(*dead))
    done = h123("diff", "before", "after", "--fail-if", "latency after/before > 1.5")
    shown = " ".join((done.stdout + done.stderr).split())
    assert f"b failed in 6 of 6 attempts {EMPTY}" in shown
    assert done.returncode == (98 if dead == ("b",) else 2)


def test_what_no_trial_can_have_is_still_refused(h123: Tool) -> None:
    compared(h123.folder / "c", empty("b"))
    for text, said in (
        ("latency c/a > 1", "'c' is not compared here; the choices are a, b"),
        ("latency_p99 a < 1ms", "the campaign has no trial with such a value"),
    ):
        assert said in h123.refusal("gate", "c", "--fail-if", text)
