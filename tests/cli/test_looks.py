"""When a campaign that goes on until it is decided goes on: where conditions are required, for their sake alone."""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cli.conftest import Tool
from h123.analysis import analyse
from h123.cli.campaigns.report import conclude
from h123.cli.campaigns.requirements import later_look, required
from h123.report import early_look_lines
from h123.store import CampaignFolder
from h123.study import Study, make_plan
from synthetic import NETWORKS, Scenario, make_campaign, study_of

EFFECT = {("poor", "h3"): 1.2}
WIDE = 0.3
"""Of a trial's noise, with which eight blocks decide nothing of the study's own question."""


@pytest.mark.parametrize(
    ("require", "noise", "expected"),
    [
        ((), 0.02, None),
        ((), WIDE, 12),
        (("latency h3/h2 <= 1.2",), 0.02, 12),  # which is the truth: not decided, though the question is
        (("latency h3/h2 <= 9",), WIDE, None),  # decided, though the question is not
        (("latency h3/h2 <= 9", "latency h3/h2 <= 1.2"), 0.02, 12),
        (("latency h3/h2 <= 1.01",), 0.02, None),
    ],
)
def test_it_goes_on_for_what_is_asked(
    tmp_path: Path, require: tuple[str, ...], noise: float, expected: int | None
) -> None:
    folder = make_campaign(
        tmp_path / "c",
        Scenario(
            blocks=8,
            looks=(8, 12),
            require=require,
            trial_noise=noise,
            effects=EFFECT,
            protocols=("h2", "h3"),
            networks={"poor": NETWORKS["poor"]},
        ),
    )
    assert [one.holds for one in required(folder)] == list(require)
    look = later_look(folder)
    assert (look and look.blocks) == expected
    held = "latency h3/h2 <= 1.2" if require else "h3/h2 latency"
    assert not look or look.undecided == [f"{held} (poor)"]


def _unfinished(path: Path, blocks: int, done: int, **more: Any) -> CampaignFolder:
    scenario = Scenario(blocks=blocks, effects=EFFECT, protocols=("h2", "h3"), networks={"poor": NETWORKS["poor"]})
    plan = make_plan(Study.from_resolved(study_of(scenario)), blocks=blocks, seed=scenario.seed)
    late = frozenset(trial.id for trial in plan.trials() if trial.block > done)
    return make_campaign(path, replace(scenario, missing=late, **more))


GATE = ("gate", "c", "--fail-if", "latency h3/h2 > 9")


@pytest.mark.parametrize(
    "command",
    [
        *(GATE, (*GATE, "--json"), ("report", "c"), ("why", "c", "--limits")),
        *(("analyse", "c", *form) for form in ((), ("--details",), ("-q",), ("--json",))),
    ],
)
def test_a_look_at_an_unfinished_campaign_says_what_it_costs(h123: Tool, command: tuple[str, ...]) -> None:
    """The look was taken in silence, and the finished campaign needed twice the blocks that were promised."""
    folder = _unfinished(h123.folder / "c", blocks=8, done=6)
    done = h123(*command)
    said = " ".join((done.stdout + done.stderr).split())
    looked = [event for event in folder.events() if event["event"] == "look"]
    cost = "This early look, after 6 of 8 planned blocks, has used up error: with more blocks an adjusted p must be at"
    assert bool(looked) == (cost in said) == ("--limits" not in command)
    if looked:
        assert "at most 0.29 % instead of 4.7 %, so the campaign may need more than 8 blocks. Finish a" in said


def test_damage_is_no_further_look(tmp_path: Path) -> None:
    """A trial whose files were lost made the campaign's next verdicts stricter for good."""
    folder = _unfinished(tmp_path / "c", blocks=8, done=8)
    analyse(folder)
    shutil.rmtree(folder.sealed()[0])
    verdicts = analyse(CampaignFolder.open(folder.path))
    assert (verdicts["looks"]["blocks"], verdicts["blocks"]["complete"]) == ([8], 7)
    assert (verdicts["projection"]["waiting"], verdicts["projection"].get("damaged")) == (0, 1)


@pytest.mark.parametrize(("blocks", "done", "looks"), [(8, 5, ()), (8, 8, ()), (12, 8, (8, 12))])
def test_no_other_look_is_called_early(tmp_path: Path, blocks: int, done: int, looks: tuple[int, ...]) -> None:
    """Nothing can be found in so few blocks; all have run; or the look was planned."""
    assert early_look_lines(analyse(_unfinished(tmp_path / "c", blocks, done, looks=looks))) == []


def test_a_gate_says_which_confidence_is_needed_and_why(h123: Tool) -> None:
    """It said `only 99% confidence`, and not that 99.7 % were needed because of an earlier look."""
    folder = _unfinished(h123.folder / "c", blocks=8, done=8)
    folder.append({"event": "look", "blocks": 6})
    said = " ".join(h123(*GATE).stdout.split())
    assert "the interval has 99.2 % confidence from 8 blocks, and 99.7 % is needed because of an earlier look" in said
    assert "earlier look with 6 blocks: about " in said


def test_a_gate_of_fewer_blocks_does_not_stay(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """gate.json and its other forms kept the outcome of 8 blocks when a campaign had got 12."""
    folder = _unfinished(tmp_path / "c", blocks=12, done=12)
    old = {"condition": "latency h3/h2 <= 9", "by": "interval", "verdict": "undecided", "cells": []}
    content = {"h123": "gate/1", "campaign": "c", "verdict": "undecided", "conditions": [old]}
    (folder.path / "gate.json").write_text(json.dumps(content))
    assert conclude(folder) == 0
    assert capsys.readouterr().out.startswith("Gate: passed\n")
    now = json.loads((folder.path / "gate.json").read_text())
    assert (now["verdict"], now["conditions"][0]["cells"][0]["blocks"]) == ("passed", 12)
