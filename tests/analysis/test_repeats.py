"""Goodput and latency are one observation in a closed loop: shown twice, counted once."""

from pathlib import Path
from typing import Any

import pytest

from h123.analysis import analyse
from h123.analysis.comparisons.rows import headline
from h123.report.text.sections import trust
from synthetic import NETWORKS, Scenario, answer_family, make_campaign

BOTH = [answer_family("latency", "goodput")]
APART = [
    answer_family("latency"),
    {"name": "goodput", "correction": "bh", "metrics": ["goodput"]},
]
POOR = {"poor": NETWORKS["poor"]}


def judged(path: Path, families: list[dict[str, Any]], **other: Any) -> dict[str, Any]:
    return analyse(make_campaign(path / "c", Scenario(blocks=8, families=families, networks=POOR, **other)))


def by(verdicts: dict[str, Any], metric: str) -> list[dict[str, Any]]:
    return [c for c in verdicts["comparisons"] if c["metric"] == metric and not c["twin"]]


@pytest.mark.parametrize("families", [BOTH, APART])
def test_a_closed_loop_is_counted_once(tmp_path: Path, families: list[dict[str, Any]]) -> None:
    verdicts = judged(tmp_path, families)
    assert {(c["repeats"], c["family_size"]) for c in by(verdicts, "latency")} == {(None, 3)}
    assert {(c["repeats"], c["family_size"]) for c in by(verdicts, "goodput")} == {("latency", 3)}
    assert verdicts["twins"]["comparisons"] == 1
    assert {c["metric"] for c in headline(verdicts["comparisons"])} == {"latency"}
    (row,) = verdicts["repeats"]
    assert (row["metric"], row["of"], row["comparisons"]) == ("goodput", "latency", 4)
    assert row["correlation"] < -0.6  # 20 requests: the median and the mean of so few are not quite the same
    (line,) = [line for line in trust(verdicts) if "one observation" in line]
    assert line.startswith("Goodput and latency are one observation in a closed loop")
    assert ", r = -0." in line


def test_goodput_is_never_surer_than_the_latency_that_it_repeats(tmp_path: Path) -> None:
    verdicts = judged(tmp_path, APART, effects={("poor", "h3"): 1.015}, trial_noise=0.03)
    for latency, goodput in zip(by(verdicts, "latency"), by(verdicts, "goodput"), strict=True):
        assert goodput["p_adjusted"] >= latency["p_adjusted"]
        assert goodput["p_equivalent_adjusted"] >= latency["p_equivalent_adjusted"]
        assert goodput["note"].startswith("in a closed loop one observation with latency, counted once")


def test_what_the_study_names_first_counts(tmp_path: Path) -> None:
    first = [answer_family("goodput", "latency")]
    verdicts = judged(tmp_path, first)
    assert {c["repeats"] for c in by(verdicts, "goodput")} == {None}
    assert {c["repeats"] for c in by(verdicts, "latency")} == {"goodput"}
    assert {c["metric"] for c in headline(verdicts["comparisons"])} == {"goodput"}


def test_an_open_loop_and_goodput_alone_are_observations_of_their_own(tmp_path: Path) -> None:
    verdicts = judged(tmp_path / "open", BOTH, settings={"rate": 20.0})
    assert {c["repeats"] for c in verdicts["comparisons"]} == {None}
    assert {c["family_size"] for c in by(verdicts, "goodput")} == {6}
    assert verdicts["repeats"] == []
    verdicts = judged(tmp_path / "alone", APART[1:])
    assert {c["repeats"] for c in verdicts["comparisons"]} == {None}
