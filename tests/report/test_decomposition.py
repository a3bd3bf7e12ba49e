"""Protocol and processing on the page and in the terminal."""

from pathlib import Path
from typing import Any

import pytest

from h123.analysis import analyse
from h123.report import print_answer, write_report
from h123.report.figures.decomposition import split_figure
from h123.report.text.explanations.decomposition import product
from hasty import BLANK_PICTURES
from printing import printed, summary
from report.test_page import Page
from synthetic import NETWORKS, Scenario, make_campaign

BOTH = Scenario(
    seed=2,
    blocks=6,
    clocks=True,
    protocols=("h2", "h3"),
    networks={name: NETWORKS[name] for name in ("medium", "poor")},
    processing={("medium", "h3"): 1.5},
)


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any], str]:
    folder = make_campaign(tmp_path_factory.mktemp("parts") / "c", BOTH)
    verdicts = analyse(folder)
    with BLANK_PICTURES:
        return folder.path, verdicts, write_report(folder).read_text()


def test_the_summary_says_each_answer_as_a_product(campaign: tuple[Path, dict[str, Any], str]) -> None:
    text = summary(campaign[1])
    assert max(map(len, text.splitlines())) <= 80
    rows = [row for row in campaign[1]["parts"]["rows"] if row["metric"] == "latency"]
    assert len(rows) == 2
    for row in rows:
        assert f"HTTP/3 / HTTP/2 on {row['cell']['network']}: {product(row)} (" in text
    assert "On medium under the virtual clock, " in text


def test_the_page_has_the_figure_and_every_part(campaign: tuple[Path, dict[str, Any], str]) -> None:
    folder, verdicts, text = campaign
    assert Page(text).open == []
    assert {"parts.svg", "parts.png"} <= {path.name for path in (folder / "figures").iterdir()}
    assert text.index('id="figure-parts"') < text.index('id="figure-details"')
    section = text[text.index('id="figure-parts"') : text.index('id="figure-details"')]
    assert section.count("<tr><td>") == len(verdicts["parts"]["rows"])
    assert "medium, virtual clock" in text  # its link checks are not mixed with the wall clock's


@pytest.mark.parametrize("size", ["wide", "narrow"])
def test_the_figure_marks_every_part_of_every_row(campaign: tuple[Path, dict[str, Any], str], size: str) -> None:
    parts = campaign[1]["parts"]
    drawn = getattr(split_figure(parts, 0.05), size).to_dict()
    marks = [mark for panel in drawn["concat"] for mark in drawn["datasets"][panel["data"]["name"]]]
    found = sorted((mark["panel"], mark["cell"], mark["part"], mark["ratio"]) for mark in marks)
    assert len(found) == 3 * len(parts["rows"])
    (processing,) = [
        mark
        for mark in marks
        if mark["part"] == "processing" and mark["cell"] == "medium" and mark["panel"].startswith("Latency, HTTP/3")
    ]
    assert 1.2 < processing["ratio"] < 1.6


def test_parts_without_data_draw_nothing(tmp_path: Path) -> None:
    only = {"clock": ["wall", "virtual"], "protocol": ["h2", "h3"]}
    scenario = Scenario(**{**vars(BOTH), "blocks": 1, "only": only})
    folder = make_campaign(tmp_path / "a", scenario)
    trials = [event["trial"] for event in folder.events() if event["event"] == "trial"]
    virtual = frozenset(trial for trial in trials if "virtual" in trial)
    folder = make_campaign(tmp_path / "b", Scenario(**{**vars(scenario), "missing": virtual}))
    verdicts = analyse(folder)
    assert verdicts["parts"]["rows"] == []
    with BLANK_PICTURES:
        text = write_report(folder).read_text()
    assert Page(text).open == []
    assert 'id="figure-parts"' not in text
    assert "protocol × processing" not in summary(verdicts)


def test_one_screen_has_the_parts_too(campaign: tuple[Path, dict[str, Any], str]) -> None:
    lines = printed(lambda console: print_answer(campaign[1], console), width=100).splitlines()
    assert len(lines) <= 30
    after = lines[lines.index("Also found:") + 1 :]
    assert any("≈" in line for line in after)
