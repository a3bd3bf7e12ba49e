"""Shards on the command line: what is said of them, what is refused, and which commands take a joined campaign."""

from dataclasses import replace
from pathlib import Path

import pytest

from campaign.shard_copies import cut
from campaign.test_runner import two_levels
from cli.conftest import Tool
from h123.documents.shard import Shard
from h123.store import CampaignFolder
from h123.virtual import installed_kernel
from synthetic import NETWORKS, Scenario, make_campaign

WHOLE = Scenario(blocks=6, protocols=("h2", "h3"), networks={"poor": NETWORKS["poor"]})


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> CampaignFolder:
    return make_campaign(tmp_path_factory.mktemp("whole") / "c", WHOLE)


def halves(whole: CampaignFolder, folder: Path) -> list[str]:
    return [str(cut(whole, Shard(f"{k}/2"), folder / f"shard{k}").path) for k in (1, 2)]


def words(text: str) -> str:
    return " ".join(text.replace("\N{NO-BREAK SPACE}", " ").split())


def test_join_says_what_is_missing_and_how_to_run_it(h123: Tool, whole: CampaignFolder) -> None:
    first, second = halves(whole, h123.folder)
    done = h123("join", first, "--out", "c")
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith("c has 3 of 6 blocks, all of them new")
    said = words(done.stderr)
    assert "Missing: blocks 2, 4, 6." in said
    assert "h123 run --out c" in said
    assert "h123 run c/study.yaml --seed 1 --blocks 6 --shard blocks:2,4,6 --out shards/missing" in said
    done = h123.succeed("join", first, second, "--out", "c")
    assert done.stdout.startswith("c has 6 of 6 blocks, 3 of them new")
    assert "h123 analyse c" in done.stderr


def test_commands_take_a_joined_campaign(h123: Tool, whole: CampaignFolder) -> None:
    h123.succeed("join", *halves(whole, h123.folder), "--out", "c")
    make_campaign(h123.folder / "other", replace(WHOLE, seed=2))
    for command in (
        ["analyse", "c"],
        ["report", "c"],
        ["gate", "c", "--fail-if", "latency h3/h2 > 9"],
        ["diff", "other", "c"],
        ["export", "c", "--out", "e"],
    ):
        h123.succeed(*command)


@pytest.mark.heavy
def test_commands_take_virtual_shards_that_were_joined(h123: Tool, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the lab's trials: each shard has run one of the other's too."""
    if installed_kernel() is None:
        pytest.skip("the virtual kernel is not installed")
    (h123.folder / "study.yaml").write_text(two_levels(2).replace("size: 1kB", "size: 50kB"))
    run = ["run", "study.yaml", "--clock", "virtual"]
    for k in ("1", "2"):
        monkeypatch.setenv("H123_MACHINE", f"machine{k}")
        h123.succeed(*run, "--shard", f"{k}/2", "--out", f"s{k}")
    done = h123.succeed("join", "s1", "s2", "--out", "c")
    h123.succeed(*run, "--out", "whole")
    trial = next(path.name for path in (h123.folder / "c/trials").iterdir() if path.name.startswith("b02"))
    for command, said in (
        (["analyse", "c", "--details"], "2 virtual trials ran on a second machine too"),
        (["diff", "whole", "c"], "after: c"),
        (["why", "c"], "HTTP/3"),
        (["gate", "c", "--fail-if", "latency h3/h2 > 9", "--by", "estimate"], "latency h3/h2"),
        (["show", "c", trial], "show"),
    ):
        done = h123.succeed(*command)
        assert said in words(done.stdout + done.stderr), command
    whole, parts = (h123.verdicts(name) for name in ("whole", "c"))
    assert whole["comparisons"] == parts["comparisons"]


def test_a_foreign_shard_is_refused_with_its_file_and_the_difference(h123: Tool, whole: CampaignFolder) -> None:
    mine, _ = halves(whole, h123.folder)
    other = cut(whole, Shard("2/2"), h123.folder / "other", seed=99).path
    refusal = h123.refusal("join", mine, str(other), "--out", "c")
    said = f"{other}/campaign.json belongs to a different campaign: seed is 99, but 1 in {mine}/campaign.json"
    assert said in refusal
    assert not (h123.folder / "c").exists()


def test_the_report_of_a_shard_says_so_first(h123: Tool, whole: CampaignFolder) -> None:
    first, _ = halves(whole, h123.folder)
    done = h123.succeed("analyse", first, "--details")
    said = words(done.stdout)
    assert "This is shard 1/2 of a campaign (blocks 1, 3, 5 of 6), and not the campaign" in said
    assert "not been run in this shard: h123 join adds those of the others" in said
    h123.succeed("report", first)
    page = (Path(first) / "report.html").read_text()
    assert "This is shard 1/2 of a campaign" in page


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--shard", "1/2", "--until-decided"], "--until-decided needs all blocks to decide when to stop"),
        (["--shard", "1/2", "--precision", "5%"], "--precision needs all blocks to decide when to stop"),
        (
            ["--shard", "1/2", "--precision", "5%", "--max-blocks", "20"],
            "--precision needs all blocks to decide when to stop",
        ),
        (["--shard", "3/2"], "shards are numbered from 1 to 2"),
        (["--shard", "half"], "this is not a shard"),
        (["--shard", "9/9", "--blocks", "4"], "shard 9/9 has no blocks"),
    ],
)
def test_what_no_shard_can_do_is_refused(h123: Tool, arguments: list[str], said: str) -> None:
    assert said in h123.refusal("run", "smoke", "--out", "c", *arguments)
    assert not (h123.folder / "c").exists()


def test_a_shard_stays_the_shard_that_it_is(h123: Tool, whole: CampaignFolder) -> None:
    first, _ = halves(whole, h123.folder)
    assert "--shard cannot change" in h123.refusal("run", "--out", first, "--shard", "2/2")


def test_a_plan_says_where_more_machines_stop_helping(h123: Tool) -> None:
    done = h123.succeed("plan", "smoke", "--blocks", "12", "--machines", "20", "--clock", "virtual")
    said = words(done.stdout)
    assert "On 20 machines like this one: about" in said
    assert "12 machines would take as long" in said
    assert "More than 12 machines cannot help" in said
    rows = [line.split()[:4] for line in done.stdout.splitlines() if " up to " in line]
    assert [(int(row[0]), int(row[3])) for row in rows] == [(1, 12), (2, 6), (4, 3), (6, 2), (12, 1)]
