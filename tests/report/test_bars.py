"""A chart that a study asks for has each trial on its bar, and an interval where the trials are enough for one."""

import re
from pathlib import Path
from typing import Any

import pytest

from h123.analysis import analyse
from h123.report import write_report
from h123.report.figures.bars import bars_figures
from h123.report.figures.drawing import inline
from h123.report.look import NARROW, WIDE
from h123.study import Chart, Study, find_study, load_study
from synthetic import Scenario, make_campaign

SIZES = {"10 KiB": "serial-10KiB", "1 MiB": "serial-1MiB"}
CHART = Chart(name="serial", title="By size", metric="goodput", levels=["openssl", "ngtcp2"], along="load", at=SIZES)


def trial(curl: str, load: str, block: int, value: float | None, *, twin: bool = False, **cell: str) -> dict[str, Any]:
    where = {"curl": curl, "load": load, **cell}
    return {"cell": where, "twin": twin, "block": block, "metrics": {"goodput": value}}


def trials(blocks: int, *levels: str, **cell: str) -> list[dict[str, Any]]:
    return [
        trial(level, load, block, 1e6 * (10 + block), **cell)
        for level in levels
        for load in SIZES.values()
        for block in range(1, blocks + 1)
    ]


def told(values: list[dict[str, Any]], *charts: Chart) -> list[str]:
    """What the marks say, those of the desk's picture."""
    [figure] = bars_figures(values, charts or [CHART], "curl")
    drawn = inline(figure)
    return re.findall("<title>([^<]*)</title>", drawn[: drawn.index('data-size="narrow"')])


def test_each_trial_is_a_dot_and_each_level_a_bar_in_each_group() -> None:
    said = told(trials(7, "ngtcp2", "openssl"))
    assert len(said) == 4 * (1 + 7)
    assert "ngtcp2, 1 MiB: 1.75 MB/s (1.38 MB/s to 2.12 MB/s), the median of 7 trials" in said
    assert "openssl, 10 KiB, block 4: 1.75 MB/s" in said


def test_what_is_not_of_the_chart_is_not_drawn() -> None:
    others = [
        trial("quiche", "serial-1MiB", 1, 9e9),
        trial("ngtcp2", "requests-6", 1, 9e9),
        trial("ngtcp2", "serial-1MiB", 1, 9e9, twin=True),
        trial("ngtcp2", "serial-1MiB", 8, None),
    ]
    assert told(trials(7, "ngtcp2") + others) == told(trials(7, "ngtcp2"))
    assert bars_figures(others, [CHART], "curl") == []


@pytest.mark.parametrize(
    ("blocks", "interval"), [(5, ""), (6, " (1.38 MB/s to 2 MB/s)"), (10, " (1.5 MB/s to 2.38 MB/s)")]
)
def test_the_interval_is_that_of_the_median_by_order(blocks: int, interval: str) -> None:
    bars = [said for said in told(trials(blocks, "ngtcp2")) if "median" in said]
    assert len(bars) == 2
    for said in bars:
        assert re.search(rf"MB/s{re.escape(interval)}, the median of {blocks} trials", said)


def test_every_place_has_a_panel() -> None:
    said = told(trials(2, "ngtcp2", network="lan") + trials(2, "ngtcp2", network="home"))
    assert {f"ngtcp2, 1 MiB, {network}, block 2: 1.5 MB/s" for network in ("lan", "home")} <= {*said}


@pytest.mark.parametrize("study", ["scorecard", "curl-tool"])
def test_no_chart_of_a_study_is_wider_than_its_place(study: str) -> None:
    charts = load_study(find_study(study)).compare.charts
    for chart in charts:
        values = [
            trial(level, load, block, 9.99e9) | {"metrics": {chart.metric: 9.99e9}}
            for level in chart.levels
            for load in chart.at.values()
            for block in range(6)
        ]
        [figure] = bars_figures(values, [chart], "curl")
        wide, narrow = (float(width) for width in re.findall(r'<svg [^>]*?width="([\d.]+)"', inline(figure)))
        assert wide <= WIDE + 20
        assert narrow <= NARROW + 20


def test_the_report_has_what_the_study_asks_for(tmp_path: Path) -> None:
    made = make_campaign(tmp_path / "plain", Scenario(blocks=2))
    study = Study.from_resolved(made.study, made.networks)
    asked = {"name": "nets", "title": "By network", "metric": "goodput", "levels": ["h2", "h3"], "along": "network"}
    chart = Chart.model_validate({**asked, "at": {"near": "lan", "far": "poor"}})
    study = study.model_copy(update={"compare": study.compare.model_copy(update={"charts": [chart]})})
    folder = make_campaign(tmp_path / "charted", Scenario(blocks=2, study=study))
    analyse(folder)
    page = write_report(folder).read_text()
    assert "<h2>By network</h2>" in re.sub(r' id="[^"]*"', "", page)
    assert (folder.path / "figures/chart-nets.svg").is_file()
    assert page.count("<title>HTTP/3, far, block 2: ") == 2  # on a desk and on a phone
