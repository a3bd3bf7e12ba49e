"""The answer on one screen: few lines, none too long, and true to verdicts.json."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

import printing
from h123.analysis import analyse
from h123.report import caveat_lines, print_answer, print_gate, print_summary, print_table, sentence
from synthetic import Scenario, answer_family, make_campaign

FAMILIES = [answer_family("latency", each=["network"])]
WITH_COLD = [*FAMILIES, {"name": "cold", "correction": "bh", "metrics": ["cold_latency"]}]
FIRST = {("poor", "h1"): 0.5, ("lan", "h1"): 0.5, ("medium", "h1"): 0.5}


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = make_campaign(tmp_path_factory.mktemp("brief") / "c", Scenario(effects=FIRST, families=WITH_COLD))
    return json.loads(json.dumps(analyse(folder)))


def printed(verdicts: dict[str, Any], show: Any = print_answer, *given: Any, **more: Any) -> list[str]:
    return printing.printed(lambda console: show(verdicts, console, *given, **more), width=100).splitlines()


def test_an_answer_fits_on_one_screen(verdicts: dict[str, Any]) -> None:
    lines = printed(verdicts, print_answer, Path("campaigns/x"), taken=4)
    assert len(lines) <= 26
    assert max(map(len, lines)) <= 100
    assert not any("`" in line for line in lines)
    assert len(printed(verdicts, print_summary)) > len(lines)


@pytest.mark.parametrize("most", [12, 18, 25, 30])
def test_no_answer_is_longer_than_it_may_be(verdicts: dict[str, Any], most: int) -> None:
    """Also where everything is wrong with a campaign that has many comparisons."""
    bad = json.loads(json.dumps(verdicts))
    for row in bad["audit_summary"]:
        row |= {"failed": 3, "of": 9, "failure": f"In 3 of 9 trials {'a long story ' * 20}: do something."}
    bad["answers"] = []
    bad["unproved"] = [{"subject": f"s{n}", "role": "server", "outcome": "none"} for n in range(9)]
    bad["gate"] = {"verdict": "failed", "lines": ["Gate: failed", *(["Required, latency a/b < 1: failed"] * 60)]}
    lines = printed(bad, print_answer, None, most=most, taken=3)
    # A table, and one line of each kind, are always shown.
    assert len(lines) <= max(most - 3, 12 + most // 3 + 8)
    if most == 30:
        assert len(lines) <= 27
    assert any(re.fullmatch(r"  and \d+ more \(--details\)(: .*)?", line) for line in lines)


def caused(c: dict[str, Any]) -> dict[str, Any]:
    """A row of causes that explains a comparison by one part."""
    of = 1 if c["ratio"] > 1 else -1
    difference = {"seconds": 0.2 * of, "low": (0.2 * of) - 0.05, "high": (0.2 * of) + 0.05, "confidence": 0.97}
    sides = {"a_seconds": 0.3 + 0.1 * of, "b_seconds": 0.3 - 0.1 * of, "difference": difference}
    part = {"cause": "slow-start", "words": "slow start", **sides}
    return {key: c[key] for key in ("cell", "a", "b", "metric", "blocks")} | sides | {"parts": [part]}


def test_what_answers_the_question_comes_before_everything_else(verdicts: dict[str, Any]) -> None:
    """Six differences of `make quick` were cut to three, so that caveats had more room."""
    one = json.loads(json.dumps(verdicts))
    for row in one["audit_summary"]:
        row |= {"failed": 3, "of": 9, "failure": f"In 3 of 9 trials {'a long story ' * 20}: do something."}
    one["comparisons"] = [c for c in one["comparisons"] if (c["a"], c["b"]) != ("h3", "h1")]
    lines = printed(one, print_answer, None, taken=4)
    assert len(lines) <= 26
    shown = lines[next(number for number, line in enumerate(lines) if line.startswith("Differences")) + 1 :]
    first = [line for line in shown[: shown.index("")] if not line.startswith("    ")]
    assert sum(line.startswith("  On ") for line in first) == 6
    assert not any(line.startswith("  Cold requests") for line in first[:6])
    assert any(line.startswith("Caveats:") for line in shown)
    one["causes"] = [
        caused(c)
        for c in one["comparisons"]
        if c["metric"] == "latency" and c["cell"]["network"] != "lan" and not c["twin"]
    ]
    lines = printed(one, print_answer, None, most=31)
    assert len(lines) <= 31
    sentence = r" takes 200 ms longer than .*, mainly because of slow start \(200 ms\)"
    assert sum(bool(re.search(sentence, line)) for line in lines) == 4
    assert re.fullmatch(r"  and \d+ more \(--details\)(: .*)?", lines[-1])


def test_an_answer_that_finds_no_room_is_named(verdicts: dict[str, Any]) -> None:
    """`and 2 more` hid differences that the forecast below counted."""
    lines = printed(verdicts, print_answer, None, most=25)
    (rest,) = [line for line in lines if " more (--details): HTTP/" in line]
    assert re.search(r"more \(--details\): HTTP/\S+ v HTTP/\S+ on \w+, (faster|slower|cannot tell yet)", rest)
    assert len(rest) <= 100


def test_a_rest_without_names_is_only_counted(verdicts: dict[str, Any]) -> None:
    """`and 8 more (--details): ; ; ; ; ; ; ; ` named nothing."""
    one = json.loads(json.dumps(verdicts))
    cells = [(c, {"network": f"{c['cell']['network']}{n}"}) for n in range(4) for c in one["comparisons"]]
    one["comparisons"] = [c | {"cell": cell, "family": f"answer/{cell['network']}"} for c, cell in cells]
    lines = [line for most in range(8, 40, 2) for line in printed(one, print_answer, None, most=most)]
    assert any(" more (--details)" in line for line in lines)
    assert not any(re.search(r"[:;] ;", line) for line in lines)


def test_each_number_says_which_requests_it_is_about(verdicts: dict[str, Any]) -> None:
    """0.009 % slower (of medians) stood next to +1.07 ms (of means), and nothing said why they differ."""
    one = json.loads(json.dumps(verdicts))
    one["causes"] = [caused(c) for c in one["comparisons"] if c["metric"] == "latency" and not c["twin"]]
    lines = printed(one, print_answer, None, most=40)
    assert "Differences in the median time of warm requests (95 % confidence):" in lines
    assert "Main causes of differences in the mean request time:" in lines
    assert sum(bool(re.search(r" takes 200 ms longer than ", line)) for line in lines) >= 4


def test_a_forecast_is_about_the_comparisons_that_are_shown(tmp_path: Path) -> None:
    """`About 8 blocks would decide all 6`, of which 4 were shown: others were by the same metric."""
    found = analyse(make_campaign(tmp_path / "c", Scenario(blocks=8, effects={}, trial_noise=0.2)))
    shown = [line for line in printed(found, print_answer) if "cannot tell yet" in line]
    (forecast,) = [line for line in caveat_lines(found) if "would decide" in line]
    assert len(shown) == 3
    assert re.search(r"would decide (all|\d of the) 3 undecided", forecast)


def test_a_gate_has_the_only_forecast(tmp_path: Path) -> None:
    """A gate's 7 blocks stood above the 8 that the study's question needs, and nothing said which was which."""
    found = analyse(make_campaign(tmp_path / "c", Scenario(blocks=4, effects={})))
    assert any("would decide" in line or "can decide" in line for line in caveat_lines(found))
    gated: Any = {**found, "gate": {"verdict": "undecided", "lines": ["Gate: undecided"]}}
    assert not any("would decide" in line or "can decide" in line for line in caveat_lines(gated))
    details = " ".join(printed(gated, print_summary))
    assert "For the study's own question, not for the gate: " in details


def test_values_of_networks_that_take_no_time_are_left_out(tmp_path: Path) -> None:
    """0.05 ms and 0.1 ms are what two programs take to read a virtual clock, which docs call meaningless."""
    scenario = Scenario(
        blocks=6,
        families=WITH_COLD,
        settings={"clock": "virtual"},
        effects={("lan", "h1"): 0.03, ("lan", "h2"): 0.05, ("lan", "h3"): 0.1},
    )
    verdicts = analyse(make_campaign(tmp_path / "c", scenario))
    lines = printed(verdicts, print_answer)
    (lan,) = [line for line in lines if line.startswith("lan ")]
    assert lan.split()[1:] == ["–"] * 6
    assert all("–" not in line for line in lines if line.startswith(("medium ", "poor ")))
    said = "lan is not judged: without delay or rate limit, requests take no time under the virtual clock."
    assert any(said in line for line in lines)
    details = [line.split() for line in printed(verdicts, print_summary)]
    (row,) = [words for words in details if words[:1] == ["lan"] and words[-2:] == ["not", "judged"]]
    assert set(row[1:-2]) == {"–"}
    from h123.report.text.answer import answers

    (table,) = answers(verdicts)
    assert table.rows[0].timeless
    assert table.ranked(table.rows[0]) == []
    only = {**verdicts, "comparisons": [c for c in verdicts["comparisons"] if c["cell"] == {"network": "lan"}]}
    assert "No answer" not in "".join(printed(only, print_answer))


def test_the_sentences_are_those_of_the_comparisons(verdicts: dict[str, Any]) -> None:
    text = " ".join(" ".join(printed(verdicts, print_answer, None, most=60)).split())
    for c in verdicts["comparisons"]:
        if c["family"].startswith("answer") and not c["twin"]:
            assert " ".join(sentence(c, verdicts["margin"]).replace("\u00a0", " ").split()) in text


def test_the_table_is_printed_alone(verdicts: dict[str, Any]) -> None:
    lines = printed(verdicts, print_table)
    assert [word for word in lines[1].split() if "HTTP" in word] == ["HTTP/1.1", "HTTP/2", "HTTP/3"] * 2
    assert lines[0].split() == ["warm", "cold"]
    assert [line.split()[0] for line in lines[1:]] == ["network", "lan", "medium", "poor"]
    assert all(line.count("*") >= 1 for line in lines[2:])


def test_a_failed_audit_is_a_sentence_with_its_code_at_the_end(verdicts: dict[str, Any]) -> None:
    one = json.loads(json.dumps(verdicts))
    for row in one["audit_summary"]:
        if row["audit"] == "machine-saturated":
            row |= {"failed": 2, "of": 119, "result": "failed", "failure": "In 2 of 119 trials all processors ..."}
    assert (
        "The machine was busy in 2 of 119 trials, which may add waiting time: stop other programs [machine-saturated]"
        in caveat_lines(one)
    )


def test_every_audit_has_a_short_form(verdicts: dict[str, Any]) -> None:
    from h123.analysis.audits import course, machine, peers, physics, requests, round_trips
    from h123.report.text.words import failed_audit

    audits = [*course.AUDITS, *machine.AUDITS, *peers.AUDITS, *physics.AUDITS, *requests.AUDITS, *round_trips.AUDITS]
    for audit in audits:
        text = failed_audit(audit.name, "2 of 119 trials") or ""
        assert "2 of 119 trials" in text, audit.name
        assert "`" not in text
    from_campaigns = {row["audit"] for row in verdicts["audit_summary"]} - {audit.name for audit in audits}
    assert from_campaigns
    assert all(failed_audit(name, "") for name in from_campaigns)


def test_commands_name_the_campaign(verdicts: dict[str, Any]) -> None:
    one = json.loads(json.dumps(verdicts))
    one["projection"] |= {"failed": 2}
    assert any(line.endswith("h123 run --out 'my campaign' --retry") for line in caveat_lines(one, Path("my campaign")))


def test_what_a_gate_prints_is_limited(verdicts: dict[str, Any]) -> None:
    one = {**verdicts, "gate": {"verdict": "failed", "lines": ["Gate: failed", *(["Required, x: failed"] * 60)]}}
    lines = printed(one, print_gate, most=15)
    assert len(lines) == 15
    assert lines[0] == "Gate: failed"
    assert lines[-1].strip() == "... and 47 more lines, in gate.json"


def test_every_cause_has_its_words() -> None:
    from h123.causes import CAUSES
    from h123.report.text.words import cause

    assert all(cause(one.name, "") for one in CAUSES)
