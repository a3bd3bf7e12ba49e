"""`h123 diff` as a person runs it."""

import json
import shutil
from pathlib import Path

import pytest

from cli.conftest import Tool
from synthetic import NETWORKS, Scenario, make_campaign

NETS = {"poor": NETWORKS["poor"]}
SAME = "latency after/before > 1.5"


@pytest.fixture
def two(h123: Tool) -> Path:
    for name, seed in (("before", 1), ("after", 2)):
        make_campaign(h123.folder / name, Scenario(blocks=6, seed=seed, networks=NETS, block_noise=0.05, effects={}))
    return h123.folder


@pytest.fixture
def begun(h123: Tool, two: Path) -> Path:
    """One whose trials are still to come."""
    shutil.copytree(two / "before", h123.folder / "begun")
    journal = h123.folder / "begun/journal.jsonl"
    journal.write_text(journal.read_text().splitlines(keepends=True)[0])
    return journal


def test_it_says_what_it_is_worth_and_holds_conditions(h123: Tool, two: Path) -> None:
    done = h123.succeed("diff", "before", "after")
    for said in ("Not paired:", "times narrower", "study, seed: 1 -> 2", "h3 poor", "misses the true value"):
        assert said in done.stdout, said
    assert json.loads((two / "after/diff/diff.json").read_text())["h123"] == "diff/1"
    assert not (two / "after/diff/gate.json").exists()
    for condition, status in ((SAME, 0), ("latency after/before < 1.5", 99), ("latency after/before > 1", 98)):
        held = h123("diff", "before", "after", "--fail-if", condition, "--out", "told", "--force")
        assert held.returncode == status, held.stdout
    assert json.loads((two / "told/gate.json").read_text())["verdict"] == "undecided"
    assert (two / "told/gate.prom").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["before", "before"], "was given twice"),
        (["before", "nowhere"], "is not a campaign: there is no folder"),
        (["before", "before/study.yaml"], "is not a campaign: it is a file"),
        (["before", "begun"], "begun has no trial that counts"),
        (["before", "after", "--fail-if", "latency new/base > 1"], "here the levels are after and before"),
        (["before", "after", "--fail-if", "rps after/before < 1"], "no trial with such a value"),
        (["before", "after", "--fail-if", "slow"], "cannot be read"),
    ],
)
@pytest.mark.usefixtures("begun")
def test_what_cannot_be_compared(h123: Tool, arguments: list[str], said: str) -> None:
    assert said in h123.refusal("diff", *arguments)
