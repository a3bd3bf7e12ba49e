"""A paper's printed values beside a campaign's: the right cells, averages of replications, what the link allows."""

from pathlib import Path
from typing import Any

import pytest

from h123.analysis import analyse
from h123.analysis.as_published.bounds import bounds, bounds_of_cell
from h123.analysis.as_published.replications import centre, change
from h123.store import CampaignFolder, connect
from h123.study import Network, Parameters
from study.test_printed import PRINTED, write
from synthetic import Scenario, make_campaign

SCENARIO = Scenario(seed=7, blocks=6, as_published=True, protocols=("h2", "h3"), effects={})


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> tuple[CampaignFolder, dict[str, Any]]:
    folder = make_campaign(tmp_path_factory.mktemp("printed") / "c", SCENARIO)
    path = write(tmp_path_factory.mktemp("published"), PRINTED)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("h123.study.claims.printed_values.list_published", lambda: [path])
        return folder, analyse(folder)


def test_the_share_of_a_link_and_the_whole_of_it() -> None:
    """2 MB at 10 Mbit/s take 1.6 s; 20 Mbit/s are 2.5 MB/s, for 20 users 125 kB/s each, for 5 users 500 kB/s."""
    link = {"size": 2_000_000, "rate": 10e6, "round_trip": 0.05}
    assert bounds("latency", users=20, **link) == {"alone": 1.6, "share": 32.0}
    assert bounds("ttfb", users=20, **link) == {"alone": 0.05, "share": None}
    shares = [bounds("throughput", size=None, users=users, rate=20e6, round_trip=None) for users in (20, 5, None)]
    assert shares == [{"alone": 2.5e6, "share": one} for one in (125e3, 500e3, None)]
    assert bounds("throughput", size=1, users=1, rate=None, round_trip=None) is None
    assert bounds("latency", size=None, users=1, rate=1e6, round_trip=None) is None


def test_a_cell_s_link_is_that_of_the_way_its_bodies_go() -> None:
    up, down = {"rate": {"bps": 8_000_000}}, {"rate": {"bps": 80_000_000}}
    ways = {"slow-up": {"up": up, "down": down}, "trace": {"up": up, "down": {"rate": {"trace_ms": [1]}}}}
    ways["lan"] = {}
    networks = {name: Network.from_resolved({"name": name, "title": "", **link}) for name, link in ways.items()}
    common: dict[str, Any] = {"protocol": "h2", "server": "go", "client": "go", "users": 2}
    post, get = (Parameters(network="slow-up", method=method, **common) for method in ("POST", "GET"))
    assert bounds_of_cell("throughput", post, networks) == {"alone": 1e6, "share": 5e5}
    assert bounds_of_cell("throughput", get, networks) == {"alone": 1e7, "share": 5e6}
    assert bounds_of_cell("throughput", post, networks, ["users"]) == {"alone": 1e6, "share": None}
    for network in ("lan", "trace"):
        cell = Parameters(network=network, method="GET", **common)
        assert bounds_of_cell("latency", cell, networks) is None


def test_centres_and_changes_of_trials() -> None:
    """Paired by block: each ratio is 2, whatever the blocks do; blocks that one side lacks are left out."""
    b = [{"block": block, "mean": float(block), "median": 1.0} for block in range(1, 7)]
    a = [{**one, "mean": 2 * one["mean"]} for one in b] + [{"block": 9, "mean": 1.0, "median": 1.0}]
    found = centre(b, "mean")
    assert (found["value"], found["low"], found["high"], found["trials"]) == (3.5, 1.0, 6.0, 6)
    assert found["confidence"] == pytest.approx(1 - 2 / 64)
    ratio = change(a, b, "mean")
    assert ratio
    assert [ratio[name] for name in ("value", "low", "high", "trials")] == [pytest.approx(1.0)] * 3 + [6]
    assert change(a[-1:], b, "mean") is None


def test_replications_are_the_analysed_trials(campaign: tuple[CampaignFolder, dict[str, Any]]) -> None:
    folder, verdicts = campaign
    rows = verdicts["as_published"]["replications"]
    assert len(rows) == 2 * 3 * 3
    (found,) = [r for r in rows if r["metric"] == "latency" and r["cell"] == {"protocol": "h3", "network": "poor"}]
    table = connect(folder).execute(
        "SELECT block, count(*), avg((end_ns - start_ns) / 1e9), median((end_ns - start_ns) / 1e9) FROM samples "
        "JOIN analysed USING (trial, attempt) WHERE phase = 'warm' AND NOT twin AND cell_network = 'poor' "
        "AND cell_protocol = 'h3' GROUP BY block ORDER BY block"
    )
    assert [tuple(trial.values()) for trial in found["trials"]] == [pytest.approx(row) for row in table.fetchall()]
    assert found["link"] == {"alone": 0.08, "share": 0.32}


def test_printed_values_find_their_cells(campaign: tuple[CampaignFolder, dict[str, Any]]) -> None:
    _, verdicts = campaign
    published = verdicts["as_published"]
    h2, h3, difference, effect, wide = published["printed"]["rows"]
    trials = {
        r["cell"]["protocol"]: sorted(trial["median"] for trial in r["trials"])
        for r in published["replications"]
        if r["metric"] == "latency" and r["cell"]["network"] == "poor"
    }
    for row in (h2, h3):
        (ours,) = row["ours"]
        values = trials[row["of"]]
        assert ours["value"] == pytest.approx((values[2] + values[3]) / 2)
        assert row["ratio"] == pytest.approx(ours["value"] / row["printed"]["low"])
    # 100 kB at 10 Mbit/s: 80 ms alone; 40 ms printed would need twice the link, and eight times a share of four users.
    assert h2["link"]["alone"] == {"low": 0.08, "high": 0.08, "used": pytest.approx(2.0)}
    assert h2["link"]["share"]["used"] == pytest.approx(8.0)
    (sound,) = [
        c
        for c in verdicts["comparisons"]
        if c["metric"] == "latency" and c["cell"] == {"network": "poor"} and not c["twin"]
    ]
    (ours,) = difference["ours"]
    assert [ours["value"], ours["low"], ours["high"]] == pytest.approx([sound[k] - 1 for k in ("ratio", "low", "high")])
    (pooled,) = [c for c in published["comparisons"] if c["metric"] == "latency" and c["cell"] == {"network": "poor"}]
    assert effect["ours"][0]["value"] == pooled["r_rb"]
    assert (difference["link"], difference["ratio"], effect["ratio"]) == (None, None, None)
    # An open cell stands for three treatments, of which one has no limited link.
    assert len(wide["ours"]) == 3
    assert (wide["ratio"], wide["link"]) == (None, None)


def test_a_study_may_call_a_factor_otherwise(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = PRINTED.replace("network", "link").replace("{synthetic: {}}", "{synthetic: {link: network}}")
    path = write(tmp_path, text)
    monkeypatch.setattr("h123.study.claims.printed_values.list_published", lambda: [path])
    folder = make_campaign(tmp_path / "c", Scenario(seed=7, blocks=1, as_published=True))
    rows = analyse(folder)["as_published"]["printed"]["rows"]
    assert [len(row["ours"]) for row in rows] == [1, 1, 1, 1, 3]
    assert rows[0]["ours"][0]["cell"] == {"protocol": "h2", "network": "poor"}


def test_a_study_without_printed_values(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("h123.study.claims.printed_values.list_published", list)
    folder = make_campaign(tmp_path / "c", Scenario(seed=7, blocks=1, as_published=True))
    assert analyse(folder)["as_published"]["printed"] is None
