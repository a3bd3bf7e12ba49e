"""Which level is best, by the verdicts alone; and tables that answer any study."""

import json
import re
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from documents import changed_events
from h123.analysis import analyse
from h123.report.text.answer import AnswerTable, answers, best
from h123.store import CampaignFolder
from h123.study import PlannedTrial
from printing import summary
from synthetic import EVERY, Scenario, make_campaign

ORDER = {"<": "faster", ">": "slower", "=": "equivalent", "?": "inconclusive"}


def compared(*said: str) -> list[dict[str, Any]]:
    """`h1<h2`: h1 is faster than h2."""
    found = []
    for one in said:
        sign = next(sign for sign in ORDER if sign in one)
        a, b = one.split(sign)
        found.append({"metric": "latency", "a": a, "b": b, "twin": False, "verdict": ORDER[sign]})
    return found


@pytest.mark.parametrize(
    ("said", "winners"),
    [
        (["h1<h2", "h1<h3", "h2?h3"], "HTTP/1.1"),
        (["h3>h1", "h2>h1", "h3<h2"], "HTTP/1.1"),
        # Nobody compared h1 with h3, but h2 is between them.
        (["h1<h2", "h3>h2"], "HTTP/1.1"),
        (["h1=h3", "h1<h2", "h3<h2"], "HTTP/1.1 and HTTP/3 alike"),
        (["h1=h3", "h1<h2", "h3?h2"], "HTTP/1.1 and HTTP/3 alike"),
        (["h1?h2", "h1<h3", "h2<h3"], "no clear winner: HTTP/1.1 or HTTP/2"),
        (["h1<h2", "h1?h3", "h2<h3"], "no clear winner: HTTP/1.1 or HTTP/3"),
        # Each is better than h2; which of both, nobody asked.
        (["h1<h2", "h3<h2"], "no clear winner: HTTP/1.1 or HTTP/3"),
        (["h1?h2", "h1?h3", "h2?h3"], "no clear winner"),
        (["h1<h2", "h2<h3", "h3<h1"], "no clear winner"),
        ([], "no clear winner"),
    ],
)
def test_the_best_level(said: list[str], winners: str) -> None:
    assert best(["h1", "h2", "h3"], compared(*said)).words == winners


def test_a_level_that_failed_in_every_block_is_no_rival() -> None:
    assert best(["h1", "h2", "h3"], compared("h1<h2", "h3?h1", "h3?h2"), {"h3"}).words == "HTTP/1.1"
    assert best(["h1", "h2", "h3"], compared("h1=h2", "h3?h1", "h3?h2"), {"h3"}).words == "HTTP/1.1 and HTTP/2 alike"
    assert best(["h1", "h2", "h3"], compared("h1?h2", "h3?h1"), {"h3"}).words == "no clear winner: HTTP/1.1 or HTTP/2"


def test_a_twin_is_no_rival() -> None:
    twin = {"metric": "latency", "a": "h2", "b": "h2", "twin": True, "verdict": "slower"}
    assert best(["h1", "h2"], [twin, *compared("h2<h1")]).words == "HTTP/2"


FAMILIES = [{"name": "answer", "correction": "bh", "metrics": ["latency"], "each": ["network"]}]
WITH_COLD = [*FAMILIES, {"name": "cold", "correction": "bh", "metrics": ["cold_latency"], "each": ["network"]}]
FIRST = {("poor", "h1"): 0.5, ("lan", "h1"): 0.5, ("medium", "h1"): 0.5}


def asked(tmp_path: Path, **scenario: Any) -> tuple[AnswerTable, dict[str, Any]]:
    verdicts = analyse(make_campaign(tmp_path / "c", Scenario(**scenario)))
    (answer,) = answers(verdicts)
    return answer, verdicts


def test_everybody_is_told_who_was_fastest(tmp_path: Path) -> None:
    """Though the study's question compares the other two only."""
    families = [{**FAMILIES[0], "pairs": ["h3/h2"]}, *WITH_COLD[1:], {**FAMILIES[0], "name": "warm"}]
    answer, verdicts = asked(tmp_path, effects=FIRST, families=families)
    assert [row.words for row in answer.main] == ["HTTP/1.1"] * 3
    assert answer.levels == ["h1", "h2", "h3"]
    poor, cold = answer.rows[-2:]
    trials = [v["metrics"]["latency"] for v in verdicts["values"] if v["cell"] == {**poor.cell, "protocol": "h1"}]
    assert sorted(trials)[2] <= (poor.values["h1"] or 0) <= sorted(trials)[3]
    assert poor.value("h1") == answer.metric.format(poor.values["h1"]) + "*"
    assert (cold.cell, answer.name(cold)) == (poor.cell, "cold")
    compared = [c for c in verdicts["comparisons"] if c["cell"] == poor.cell and c["metric"] == "latency"]
    (paired,) = [c for c in compared if (c["a"], c["b"]) == ("h2", "h1")]
    assert poor.ratio(("h2", "h1")) == f"{paired['ratio']:.2f}"
    text = summary(verdicts)
    assert text.count("\n  cold  ") == 3
    assert max(map(len, text.splitlines())) <= 80
    assert any(line.startswith("poor") and line.rstrip().endswith("HTTP/1.1") for line in text.splitlines())


def test_where_nothing_else_varies_the_row_is_the_workload(tmp_path: Path) -> None:
    network = {"poor": Scenario().networks["poor"]}
    answer, verdicts = asked(tmp_path, networks=network, families=[{**FAMILIES[0], "each": []}], effects=FIRST)
    for c in (*verdicts["comparisons"], *verdicts["values"]):
        c["cell"] = {name: chosen for name, chosen in c["cell"].items() if name == "protocol"}
    (answer,) = answers(verdicts)
    assert [(answer.name(row), row.words) for row in answer.rows] == [("GET 100 kB", "HTTP/1.1")]


def test_goodput_is_best_where_it_is_most(tmp_path: Path) -> None:
    families = [{**FAMILIES[0], "metrics": ["goodput"]}]
    answer, _ = asked(tmp_path, effects=FIRST, families=families)
    assert (answer.metric.words.best, answer.rows) == ("highest", answer.main)
    assert [row.words for row in answer.rows] == ["HTTP/1.1"] * 3
    assert answer.ranked(answer.rows[0])[0] == "h1"
    assert answer.rows[0].value("h1").endswith("MB/s*")


def test_of_many_levels_the_best_three_and_the_worst(tmp_path: Path) -> None:
    _, verdicts = asked(tmp_path, families=FAMILIES)
    names = {f"server-{number:02}": 1 + number / 10 for number in range(20)}
    one = verdicts["comparisons"][0]
    verdicts["comparisons"] = [
        {**one, "a": name, "b": "server-00", "verdict": "slower"} for name in names if name != "server-00"
    ]
    row = next(v for v in verdicts["values"] if v["cell"]["network"] == one["cell"]["network"])
    verdicts["values"] = [
        {**row, "cell": {**one["cell"], "protocol": name}, "twin": False, "metrics": {"latency": value}}
        for name, value in names.items()
    ]
    text = summary(verdicts).split("Latency, ")[0]
    for shown in ("server-00 1 s*", "server-01 1.1 s", "server-02 1.2 s", "server-19 2.9 s"):
        assert shown in text
    assert "server-10" not in text
    assert max(map(len, text.splitlines())) <= 80


def test_many_cells_are_counted(tmp_path: Path) -> None:
    answer, verdicts = asked(tmp_path, families=FAMILIES)
    many = AnswerTable(answer.metric, "", answer.levels, answer.rows * 3)
    assert many.tally.startswith("Fastest: ")
    assert sum(int(part.split(" in ")[1].split()[0]) for part in many.tally.split(": ")[1].split("; ")) == 9
    assert answer.tally == ""
    assert verdicts


def test_few_of_the_medians_that_differ_are_named(tmp_path: Path) -> None:
    """The report of `make quick` on a busy machine listed fourteen, most of which agreed on the answer."""
    answer, _ = asked(tmp_path, families=FAMILIES)
    odd = [
        replace(row, values={name: (value or 0) * factor for factor, (name, value) in enumerate(row.values.items(), 1)})
        for row in answer.rows
    ]
    said = AnswerTable(answer.metric, "", answer.levels, odd).parting()
    assert said.count(" by medians, ") == 3
    assert re.search(r"; and \d+ more\. The paired difference is the answer", said)


def test_a_level_without_data_leaves_the_answer_open(tmp_path: Path) -> None:
    whole = analyse(make_campaign(tmp_path / "whole", Scenario(families=FAMILIES, effects=FIRST)))
    lost = frozenset(v["trial"].split("~")[0] for v in whole["values"] if v["cell"]["protocol"] == "h3")
    folder = make_campaign(tmp_path / "c", Scenario(families=FAMILIES, effects=FIRST, missing=lost))
    verdicts = analyse(folder)
    (answer,) = answers(verdicts)
    assert {row.words for row in answer.rows} == {"no clear winner: HTTP/1.1 or HTTP/3"}
    assert {row.value("h3") for row in answer.rows} == {"–"}
    text = summary(verdicts, folder.path).replace("\n  ", " ")
    assert "18 trials have not been run" in text
    assert f"h123 run --out {shlex.quote(str(folder.path))} runs them" in text.replace("\u00a0", " ")
    assert "--blocks" not in text


def test_trials_that_failed_are_to_be_tried_again(tmp_path: Path) -> None:
    """Six blocks of a campaign that has six planned would add nothing."""
    folder = make_campaign(tmp_path / "c", Scenario(families=FAMILIES))
    with changed_events(folder.path) as events:
        for event in events:
            if event["event"] == "trial" and event["block"] > 4 and event["cell"]["protocol"] == "h3":
                event.update(valid=False, reasons=[{"code": "client-failed", "detail": "exit status 1"}])
    verdicts = analyse(CampaignFolder.open(folder.path))
    assert (verdicts["projection"]["failed"], verdicts["projection"]["waiting"]) == (6, 0)
    text = summary(verdicts, Path("my campaign"))
    assert "6 trials have no valid attempt" in text
    assert "h123 run --out 'my campaign' --retry tries them again" in text.replace("\n  ", " ")
    notes = " ".join(c["note"] or "" for c in verdicts["comparisons"])
    assert "--blocks 6" not in notes + text


def test_what_would_decide_is_a_command(tmp_path: Path) -> None:
    answer, verdicts = asked(tmp_path, families=FAMILIES, effects={}, block_noise=0.1, trial_noise=0.08)
    undecided = [c for c in verdicts["comparisons"] if c["projection"] and c["projection"]["basis"] == "spread"]
    assert undecided
    blocks = max(c["projection"]["blocks"] for c in undecided)
    assert blocks > 6
    assert verdicts["projection"]["blocks"] == blocks
    assert verdicts["projection"]["seconds"] > 0
    text = summary(verdicts, Path("campaigns/quick"))
    assert f"h123 run --out campaigns/quick --blocks {blocks}" in text
    assert answer.rows


def test_one_block_names_the_fewest_that_decide(tmp_path: Path) -> None:
    _, verdicts = asked(tmp_path, families=FAMILIES, blocks=1)
    text = summary(verdicts).replace("\n", " ")
    assert "6 blocks are the fewest that can decide the question" in text
    assert "1 block cannot find one more true difference" in text


def test_nothing_measured_is_said(tmp_path: Path) -> None:
    verdicts = analyse(make_campaign(tmp_path / "none", Scenario(blocks=1, missing=EVERY)))
    assert answers(verdicts) == []
    text = summary(verdicts)
    assert "No answer: no trial is valid yet." in text
    assert "no audit was made" in text
    assert "passed" not in text


def test_failed_audits_are_said_as_what_happened(tmp_path: Path) -> None:
    def spoil(trial: PlannedTrial, place: Path) -> None:
        if trial.block > 2 or trial.twin or trial.cell != {"protocol": "h3", "network": "poor"}:
            return
        report = json.loads((place / "report.json").read_text())
        (client,) = [role for role in report["roles"] if role["name"] == "client"]
        client["cpu"]["main_ns"] = int(0.97 * report["machine"]["wall_ns"])
        (place / "report.json").write_text(json.dumps(report))

    _, verdicts = asked(tmp_path, families=FAMILIES, spoil=spoil)
    text = summary(verdicts).replace("\n", " ")
    assert "audit client-saturated failed: In 2 of 72 trials the client was at its limit (over 90 % of one" in text
    assert re.search(r"\d+ of \d+ audits passed; \d+ failed; \d+ had nothing to check", text)
