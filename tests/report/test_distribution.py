"""The curves of latency are those of the samples, and few enough points for a page."""

import json
from pathlib import Path
from typing import Any

import pytest

from h123.report.figures.distribution import distribution_figure
from h123.report.figures.drawing import inline
from h123.report.quantiles import latency_quantiles
from h123.store import connect
from h123.study import PlannedTrial
from synthetic import NETWORKS, Scenario, make_campaign


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, list[dict[str, Any]]]:
    scenario = Scenario(seed=4, blocks=2, invalid=frozenset({"b01-t01-poor-h1"}))
    folder = make_campaign(tmp_path_factory.mktemp("curves") / "c", scenario)
    return folder, latency_quantiles(folder)


def test_quantiles_are_of_the_warm_requests_of_analysed_trials(campaign: tuple[Any, list[dict[str, Any]]]) -> None:
    folder, rows = campaign
    pooled = [row for row in rows if row["trial"] is None]
    assert len(pooled) == 12  # three protocols and a twin on three networks
    assert len(rows) - len(pooled) == 24
    for row in pooled:
        found = connect(folder).execute(
            "SELECT min(end_ns - start_ns), median(end_ns - start_ns), max(end_ns - start_ns), count(*) FROM samples "
            "JOIN analysed t USING (trial, attempt) WHERE phase = 'warm' AND t.cell = ? AND t.twin = ?",
            [json.dumps(row["cell"], sort_keys=True), row["twin"]],
        )
        least, median, most, count = found.fetchone() or ()
        assert count == 40
        assert [row["seconds"][at] * 1e9 for at in (0, 50, 100)] == pytest.approx([least, median, most])
        assert row["seconds"] == sorted(row["seconds"])


def test_an_answer_of_another_status_is_none_of_a_request_that_succeeded(tmp_path: Path) -> None:
    def missed(trial: PlannedTrial, partial: Path) -> None:
        if trial.parameters.protocol == "h1":
            text = (partial / "samples.csv").read_text()
            (partial / "samples.csv").write_text(text.replace(",200,", ",503,"))

    scenario = Scenario(blocks=1, networks={"lan": NETWORKS["lan"]}, spoil=missed)
    drawn = latency_quantiles(make_campaign(tmp_path / "c", scenario))
    assert {row["cell"]["protocol"] for row in drawn} == {"h2", "h3"}


def test_each_level_has_a_curve_and_its_dots(campaign: tuple[Any, list[dict[str, Any]]]) -> None:
    figure = distribution_figure(campaign[1], "protocol", "h2")
    panels = figure.wide.to_dict()["concat"]
    assert [panel["title"]["text"] for panel in panels] == [["lan"], ["medium"], ["poor"]]
    text = inline(figure)
    seconds = next(r["seconds"] for r in campaign[1] if r["cell"] == {"network": "poor", "protocol": "h3"})
    assert f"HTTP/3, poor: 95 % of the requests within {seconds[95] * 1000:.3g} ms" in text
    assert text.count("<title>") == 2 * 3 * 3 * 3  # sizes, cells, levels, dots
    assert len(text) < 100_000
    assert "each trial thin behind it" in figure.caption


def test_of_many_levels_a_few_are_named() -> None:
    def row(name: str, network: str, slow: float, trial: str | None) -> dict[str, Any]:
        seconds = [slow * (1 + part / 50) for part in range(101)]
        return {"cell": {"server": name, "network": network}, "twin": False, "trial": trial, "seconds": seconds}

    names = [f"server-{place}" for place in range(20)]
    rows = [row(n, "lan", 0.01 * (1 + at), t) for at, n in enumerate(names) for t in (None, *map(str, range(9)))]
    figure = distribution_figure(rows, "server", "server-7")
    (panel,) = figure.wide.to_dict()["concat"]
    assert panel["title"]["text"] == ["lan", "fastest server-0, slowest server-19"]
    colours = panel["layer"][-1]["encoding"]["color"]["scale"]["domain"]
    assert colours == ["server-7", "fastest", "slowest", "others"]
    assert "each trial" not in figure.caption  # 180 curves would be a blot
    # The slowest takes 60 times as long as the fastest: an axis of equal steps would show one of them only.
    assert panel["layer"][-1]["encoding"]["x"]["scale"]["type"] == "log"
    assert panel["layer"][-1]["encoding"]["x"]["axis"]["values"] == [10, 100]
