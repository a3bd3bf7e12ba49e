"""`h123 what-if`, as people use it: its mistakes at once, its trials in a virtual kernel."""

import signal
from pathlib import Path

import pytest

from cli.conftest import Tool, h123
from cli.test_virtual_clock import built, kernel
from h123.campaign.loss_costs import LossCosts, LostPacket
from h123.cli.comparisons.loss_costs import loss_lines
from h123.cli.comparisons.what_if import Choice
from h123.store import CampaignFolder
from synthetic import NETWORKS, Scenario, make_campaign

__all__ = ["built", "h123", "kernel"]  # fixtures


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_campaign(tmp_path_factory.mktemp("what-if") / "c", Scenario(blocks=2)).path


def test_all_changes_are_listed(h123: Tool) -> None:
    done = h123.succeed("what-if", "--list")
    assert "What if no packets were lost at random?" in done.stdout
    assert "h123 cannot change" in done.stdout


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "no campaign given"),
        (["nowhere"], "nowhere is not a campaign"),
        (["DIR", "--change", "no-los"], "--change no-los"),
        (["DIR", "--change", "small-certificate"], "none of the changes can make a difference"),
        (["DIR", "--pair", "h3/h9"], "--pair h3/h9"),
        (["DIR", "--filter", "network=lan"], "no trials that h123 can change"),
        (["DIR", "--filter", "network=moon"], "no such level"),
        (["DIR", "--out", "DIR"], "that is the campaign itself"),
        (["DIR", "--quiet", "--json"], "cannot be combined"),
        (["DIR", "--losses-of", "b99"], "has no trial 'b99'"),
    ],
)
def test_a_mistake_is_answered_at_once_and_leaves_nothing(
    h123: Tool, campaign: Path, options: list[str], said: str
) -> None:
    assert said in h123.refusal("what-if", *(str(campaign) if option == "DIR" else option for option in options))
    assert not campaign.with_name("c-what-if").exists()
    assert not (h123.folder / "campaigns").exists()


def test_blocks_that_the_campaign_does_not_have_are_announced(
    campaign: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Six blocks ran in silence, of a campaign of two."""
    choice, folder = Choice(["network=poor"], "h3/h2", ["no-loss"]), CampaignFolder.open(campaign)
    choice.draft(folder, 6, None)
    said = " ".join(capsys.readouterr().err.split())
    assert "trials in 6 blocks" in said
    assert "has only 2 blocks, so h123 adds 4; fewer than 6 give no intervals with 95 % confidence" in said
    choice.draft(folder, 2, None)
    assert "has only" not in capsys.readouterr().err


SMALL = """\
h123: study/1
name: small
question: Which is faster?
blocks: 1
seed: 1
factors: {protocol: [h2, h3]}
settings: {network: poor, clock: virtual, server: go, client: go, size: 100kB, requests: 3, users: 2}
compare:
  factor: protocol
  pairs: [h3/h2]
  twin: h2
  families: [{name: all, correction: holm, metrics: [latency]}]
"""


@pytest.mark.heavy
@pytest.mark.usefixtures("kernel")
def test_changes_are_made_and_an_interrupted_campaign_is_resumed(h123: Tool) -> None:
    (h123.folder / "small.yaml").write_text(SMALL)
    h123.succeed("run", "small.yaml", "--out", "small")
    asked = ["what-if", "small", "--change", "no-loss", "--change", "window-32", "--blocks", "1"]
    interrupted = h123.start(*asked)
    assert interrupted.stderr
    next(line for line in interrupted.stderr if "Making" in line)
    interrupted.send_signal(signal.SIGINT)
    assert interrupted.wait(120) == 130
    done = h123.succeed(*asked)
    assert len(done.stdout.splitlines()) <= 15
    (row,) = h123.verdicts("small-what-if")["changes"]
    by_name = {change["change"]: change for change in row["changes"]}
    assert [change["of"] for change in row["changes"]] == [["no-loss"], ["window-32"], ["no-loss", "window-32"]]
    assert by_name["no-loss"]["b_seconds"] < row["b_seconds"]
    # HTTP/3 begins with 32 packets anyhow, and virtual time repeats: not a nanosecond differs.
    assert by_name["window-32"]["a_seconds"] == row["a_seconds"]
    assert "already makes changes" in h123.refusal("what-if", "small-what-if")
    trial = next(path.name for path in sorted((h123.folder / "small" / "trials").iterdir()) if "h2~" in path.name)
    ranked = h123.succeed("what-if", "small", "--losses-of", trial.partition("~")[0])
    assert "Without this one loss" in ranked.stdout
    other = h123("what-if", "small", "--change", "bbr", "--blocks", "1")
    assert other.returncode == 2
    assert "other options" in other.stderr


def test_losses_are_ranked_by_what_they_cost() -> None:
    costs = [
        LostPacket("down", 7, 2_000_000_000, 0.5),
        LostPacket("up", 3, 1_000_000, 1.0),
        LostPacket("up", 9, 0, 1.25),
    ]
    _, _, *lines, last = loss_lines("b01-t01-poor-h2", LossCosts(1.0, costs))
    words = [" ".join(line.split()) for line in lines]
    assert words == [
        "packet 7 down, at 2 s 500 ms (500 ms less)",
        "packet 3 up, at 1 ms 1 s (the same)",
        "packet 9 up, at 0 µs 1.25 s (250 ms more)",
    ]
    assert last.startswith("1 of 3 losses cost time.")


def test_networks_that_take_no_time_are_left_out(h123: Tool, tmp_path: Path) -> None:
    lan = make_campaign(tmp_path / "lan", Scenario(blocks=1, networks={"lan": NETWORKS["lan"]})).path
    assert "only emulated links take time" in h123.refusal("what-if", str(lan))
