"""Which attempts a page shows."""

from dataclasses import replace
from pathlib import Path

import pytest

from h123.base.errors import UserError
from h123.cli.campaigns import show
from h123.report.trial_view import choose, trial_lines
from h123.report.trial_view.arm import arms
from h123.report.trial_view.facts import rows
from h123.report.trial_view.latency import latency_figure
from h123.store import CampaignFolder
from synthetic import Scenario, make_campaign


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> CampaignFolder:
    return make_campaign(tmp_path_factory.mktemp("campaign") / "c", Scenario(blocks=2))


def _trial(campaign: CampaignFolder, protocol: str, block: int = 1, twin: bool = False) -> str:
    for event in campaign.events():
        if event["event"] != "trial" or event["cell"] != {"protocol": protocol, "network": "poor"}:
            continue
        if event["block"] == block and event["twin"] == twin:
            return event["trial"]
    raise AssertionError("the campaign has no such trial")


def test_of_a_trial_the_attempt_that_counts_is_shown(campaign: CampaignFolder) -> None:
    name = _trial(campaign, "h3")
    (chosen,) = choose(campaign, [name])
    assert chosen.counts
    assert chosen.folder.is_dir()
    assert choose(campaign, [chosen.name]) == [chosen]
    assert choose(campaign, [f"some/where/{chosen.name}"]) == [chosen]  # as a shell completes it


def test_the_trials_are_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`show DIR` only asked for a trial, whose names nothing had printed."""
    known = make_campaign(tmp_path / "c", Scenario(blocks=1))
    tried = next(event["trial"] for event in known.events() if event["event"] == "trial" and not event["twin"])
    twin = next(event["trial"] for event in known.events() if event["event"] == "trial" and event["twin"])
    folder = make_campaign(tmp_path / "d", Scenario(blocks=1, invalid=frozenset({tried}), failed=frozenset({twin})))
    lines = trial_lines(folder, 100)
    assert len(lines) == 12
    assert f"{tried} (2 attempts)" in lines
    assert f"{twin} (A/A twin, 3 attempts, none counts: add ~3)" in lines
    assert choose(folder, [next(line for line in lines if " " not in line)])
    assert trial_lines(folder, 5)[5] == f"and 7 more, in {folder.path / 'trials'}"
    show.command(folder.path)
    assert capsys.readouterr().out.splitlines() == lines


def test_an_unknown_trial_is_refused_with_the_near_ones(campaign: CampaignFolder) -> None:
    name = _trial(campaign, "h3")
    with pytest.raises(UserError, match="no trial") as refused:
        choose(campaign, [name.replace("poor", "por")])
    assert name in str(refused.value.remedy)
    with pytest.raises(UserError, match="no trial") as refused:
        choose(campaign, ["x"])
    assert "are called like b01-" in str(refused.value.remedy)


def test_an_unknown_attempt_is_refused_with_those_that_are_there(campaign: CampaignFolder) -> None:
    name = _trial(campaign, "h3")
    with pytest.raises(UserError, match="has no attempt 9") as refused:
        choose(campaign, [f"{name}~9"])
    assert f"{name}~1" in str(refused.value.remedy)


def test_too_many_trials_and_one_twice_are_refused(campaign: CampaignFolder) -> None:
    with pytest.raises(UserError, match="too many"):
        choose(campaign, ["a", "b", "c"])
    with pytest.raises(UserError, match="twice"):
        choose(campaign, ["a", "a"])


def test_a_trial_whose_files_have_changed_is_refused(tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path / "c", Scenario(blocks=1))
    name = _trial(campaign, "h3")
    (campaign.trial(name, 1) / "samples.parquet").unlink()
    with pytest.raises(UserError, match="have changed since it was measured"):
        choose(CampaignFolder.open(campaign.path), [name])


def test_an_answer_is_a_success_only_with_the_status_that_the_workload_asks_for(campaign: CampaignFolder) -> None:
    chosen = choose(campaign, [_trial(campaign, "h3")])
    (arm,) = arms(chosen, "protocol")
    assert latency_figure([arm])
    assert ", median " in dict(rows([arm]))["requests"][0]
    (other,) = arms([replace(chosen[0], statuses=[201])], "protocol")
    assert latency_figure([other]) is None
    assert dict(rows([other]))["requests"] == [f"none that succeeded; {len(arm.requests)} failed"]


def test_arms_are_called_by_what_tells_them_apart(campaign: CampaignFolder) -> None:
    h2, h3, twin = _trial(campaign, "h2"), _trial(campaign, "h3"), _trial(campaign, "h2", twin=True)
    later = _trial(campaign, "h3", block=2)

    def names(*trials: str) -> list[str]:
        return [arm.name for arm in arms(choose(campaign, trials), "protocol")]

    assert names(h2, h3) == ["HTTP/2", "HTTP/3"]
    assert names(h3) == ["HTTP/3"]
    assert names(h3, later) == ["block 1", "block 2"]
    assert names(h2, twin) == ["itself", "twin"]
