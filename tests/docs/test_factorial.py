"""docs/factorial.md to the letter: its study, its commands, and its models of a campaign whose truth is known."""

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from cli.conftest import Tool, h123
from h123.analysis import analyse
from h123.base.paths import project_root
from h123.study import load_study
from synthetic import Scenario, make_campaign

__all__ = ["h123"]  # a fixture
PAGE = (project_root() / "docs/factorial.md").read_text("utf-8")
SAVED = re.compile(r"^h3/h2, (\w+) (\w+): (\S+) \((\S+) to (\S+)\)", re.MULTILINE)


def block(language: str) -> str:
    [found] = re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    return str(found)


@pytest.fixture
def campaign(h123: Tool) -> dict[str, Any]:
    """The page's campaign, exported, in which HTTP/3 takes 0.7 of the time on the poor line; its verdicts."""
    (h123.folder / "factorial.yaml").write_text(block("yaml"))
    study = load_study(h123.folder / "factorial.yaml")
    networks = {name: network.resolved() for name, network in study.networks.items()}
    truth = Scenario(study=study, networks=networks, blocks=study.blocks, effects={("poor", "h3"): 0.7})
    verdicts = analyse(make_campaign(h123.folder / "campaigns/factorial", truth))
    h123.succeed("export", "campaigns/factorial", "--format", "csv")
    return dict(verdicts)


def test_its_study_can_be_planned(h123: Tool) -> None:
    (h123.folder / "factorial.yaml").write_text(block("yaml"))
    done = h123.succeed("plan", "factorial.yaml")
    assert "10 blocks, 120 trials" in done.stdout


def test_its_models_say_what_is_so(
    h123: Tool, campaign: dict[str, Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(h123.folder)
    known: dict[str, Any] = {}
    exec(compile(block("python pandas"), "docs/factorial.md", "exec"), known)  # the page is ours
    told = SAVED.findall(capsys.readouterr().out)
    assert {place[:2] for place in told} == {(line, load) for line in ("medium", "poor") for load in ("few", "many")}
    terms = {tuple(one["term"]): one["ratio"] for one in campaign["interactions"] if one["metric"] == "latency"}
    assert known["network"] == pytest.approx(terms["network",], rel=1e-6)
    assert known["load"] == pytest.approx(terms["load",], rel=1e-6)
    assert known["network"] == pytest.approx(0.7, rel=0.1)
    if shutil.which("Rscript") is None:
        pytest.skip("there is no R here: its half of the page has not been run")
    Path("page.R").write_text(block("r"))
    in_r = subprocess.run(["Rscript", "page.R"], capture_output=True, text=True, check=True)
    assert sorted(SAVED.findall(in_r.stdout)) == sorted(told)
    assert "cell_protocol:cell_network:cell_load" in in_r.stdout
