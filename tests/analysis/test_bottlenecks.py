"""What limited a treatment: by processors over a plain veth, by packets over a link."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from h123.analysis import Bottlenecks, bottlenecks, gather
from h123.analysis.explanations.bottlenecks import CLIENT, SERVER, WAITING, TrialExplanations
from h123.analysis.explanations.means import Means
from h123.base.errors import UserError
from h123.causes import CAUSES
from h123.report import limits_lines
from h123.store import CampaignFolder
from h123.study import PlannedTrial, Study
from synthetic import NETWORKS, Scenario, answer_family, make_campaign

BUSY = {"h1": (0.97, 0.4), "h2": (0.3, 0.6), "h3": (0.2, 0.25)}
"""Shares of the time that client and server are at work, by protocol."""


def _busy(trial: PlannedTrial, folder: Path) -> None:
    path = folder / "report.json"
    report = json.loads(path.read_text())
    for role, share in zip(("client", "server"), BUSY[trial.parameters.protocol], strict=True):
        cpu = next(one["cpu"] for one in report["roles"] if one["name"] == role)
        # A third of that it was ready to run and waited.
        used, waited = 2 * share / 3, share / 3
        wall = report["machine"]["wall_ns"]
        cpu |= {"main_ns": round(used * wall), "main_wait_ns": round(waited * wall), "main_turns": 10}
    path.write_text(json.dumps(report))


@pytest.fixture
def campaign(tmp_path: Path) -> CampaignFolder:
    return make_campaign(tmp_path / "c", Scenario(blocks=2, networks={"lan": NETWORKS["lan"]}, spoil=_busy))


def _rows(campaign: CampaignFolder) -> dict[str, Bottlenecks]:
    return {row.cell["protocol"]: row for row in bottlenecks(gather(campaign))}


def test_who_has_nothing_to_spare_is_the_limit_else_who_works_most_of_the_time(campaign: CampaignFolder) -> None:
    rows = _rows(campaign)
    assert {name: row.limits for name, row in rows.items()} == {"h1": [CLIENT], "h2": [SERVER], "h3": [WAITING]}
    assert rows["h1"].shares == pytest.approx({CLIENT: 0.97, SERVER: 0.4}, rel=0.01)
    assert list(rows["h2"].shares) == [SERVER, CLIENT]


def test_two_that_have_nothing_to_spare_are_both_the_limit() -> None:
    assert Bottlenecks({}, "processors", {SERVER: 1.2, CLIENT: 0.95}).limits == [SERVER, CLIENT]


def test_the_table_has_a_column_for_each_level_and_says_what_it_means(campaign: CampaignFolder) -> None:
    study = Study.from_resolved(campaign.study)
    head, _, row, _, meaning = limits_lines(list(_rows(campaign).values()), study, {"protocol": ["h1", "h3"]})
    assert head == "| network | HTTP/1.1 | HTTP/3 |"
    assert "**the client's processor** 97 %, the server's processor 40 %" in row
    assert "**waiting**, the server's processor 25 %, the client's processor 20 %" in row
    assert "plain veth" in meaning


def test_packets_tell_the_largest_group_of_causes(campaign: CampaignFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [cause.name for cause in CAUSES]
    spent = {"slow-start": 0.2, "cut": 0.25, "rate": 0.3, "trip": 0.1, "unattributed": 0.15}
    seconds = tuple(spent.get(name, 0.0) for name in names)
    told = {"warm": Means(seconds=seconds, sums_up=1.0, held=0.0)}
    monkeypatch.setattr(TrialExplanations, "of", lambda _, attempt: told if attempt.cell["protocol"] == "h2" else {})
    row = _rows(campaign)["h2"]
    assert (row.told_by, row.limits) == ("packets", ["a window"])
    assert row.shares["a window"] == pytest.approx(0.45)
    assert sum(row.shares.values()) == pytest.approx(1)
    assert "| **a window** 45 %, the link's rate 30 % |" in next(
        line for line in limits_lines([row], Study.from_resolved(campaign.study), {}) if "**a window**" in line
    )


@pytest.mark.parametrize(
    ("settings", "where"),
    [
        ({"clock": "virtual"}, "waiting at the client"),
        ({"users": 4, "connections": 2}, "waiting at the client"),
        ({}, CLIENT),
    ],
)
def test_where_nothing_can_be_processing_it_is_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: dict[str, object], where: str
) -> None:
    """Under the virtual clock; and where HTTP/1.1 has more users than connections."""
    scenario = Scenario(
        blocks=1, networks={"lan": NETWORKS["lan"]}, settings=settings, families=[answer_family("latency")]
    )
    campaign = make_campaign(tmp_path / "c", replace(scenario, protocols=("h1", "h2")))
    seconds = tuple(1.0 if cause.name == "client-work" else 0.0 for cause in CAUSES)
    told = {"warm": Means(seconds=seconds, sums_up=1.0, held=0.0)}
    monkeypatch.setattr(TrialExplanations, "of", lambda *_: told)
    assert _rows(campaign)["h1"].limits == [where]


def test_processing_that_takes_no_time_limits_nothing(tmp_path: Path) -> None:
    only_virtual = Scenario(blocks=1, networks={"lan": NETWORKS["lan"]}, settings={"clock": "virtual"})
    campaign = make_campaign(tmp_path / "c", replace(only_virtual, protocols=("h2", "h3")))
    rows = bottlenecks(gather(campaign))
    assert rows == []
    with pytest.raises(UserError, match="none of these trials shows what limited it"):
        next(limits_lines(rows, Study.from_resolved(campaign.study), {}))
