"""`h123 import` and `h123 claims` as a person runs them."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from cli.conftest import ROOT, Tool
from h123.study import find_study, load_study
from study.shop import recording
from synthetic import Scenario, make_campaign

LOGS = sorted(str(path) for path in (ROOT / "tests/results/foreign").glob("*.log"))


def test_import_ends_with_an_answer_and_a_report(h123: Tool) -> None:
    done = h123.succeed("import", *LOGS, "--schema", "h2load", "--out", "edge")
    printed = " ".join(done.stdout.split())
    assert "160 requests in 4 trials, not measured by h123" in printed
    assert "measure and import 6 blocks" in printed
    assert (h123.folder / "edge/report.html").is_file()
    for command in ("analyse", "report", "export"):
        h123.succeed(command, "edge")
    trial = next((h123.folder / "edge/trials").iterdir()).name
    shown = h123.succeed("show", "edge", trial)
    assert "Its samples were imported" in (h123.folder / shown.stdout.strip()).read_text()
    assert "nothing to continue" in h123.refusal("run", "--out", "edge")


def test_a_bad_row_leaves_nothing(h123: Tool) -> None:
    bad = h123.folder / "h2-1.log"
    bad.write_text(Path(LOGS[-1]).read_text() + "soon\t200\t5\n")
    refusal = h123.refusal("import", LOGS[0], "h2-1.log", "--schema", "h2load", "--out", "edge")
    assert "h2-1.log:41: start is 'soon', not a number" in refusal
    assert {path.name for path in h123.folder.iterdir()} == {"h2-1.log", h123.temporary.name}


def test_claims_are_counted_on_one_screen(h123: Tool) -> None:
    """1520 lines said less than these."""
    done = h123.succeed("claims")
    assert "refuted" in done.stdout
    assert "contradicted" not in done.stdout.casefold(), "one word for one thing"
    lines = done.stdout.splitlines()
    assert max(map(len, lines)) <= 200  # columns, in tests
    rows = map(str.split, lines[1 : lines.index("")])
    counts = {row[0]: [0 if cell == "–" else int(cell) for cell in row[1:7]] for row in rows}
    files = {path.stem for path in (ROOT / "claims").glob("*.yaml")}
    assert len(lines) <= len(files) + 5  # a line each, the heading, the sum, and what the words mean
    assert set(counts) == {*files, "all"}
    assert all(row[0] == sum(row[1:]) for row in counts.values())
    assert counts["all"] == [sum(row[column] for name, row in counts.items() if name != "all") for column in range(6)]
    assert counts["page-loads"] == [28, 14, 9, 1, 0, 4]
    assert "h123 claims certificates" in done.stdout
    assert h123("claims", "--details", "--json").returncode == 2


def test_claims_are_listed_with_their_arithmetic(h123: Tool) -> None:
    done = h123.succeed("claims", "--details")
    assert "1120 requests/s x 10 MB x 8 = 89.6 Gbit/s" in done.stdout
    assert "the base is swapped" in done.stdout
    counts = r"^\d{3,} claims: \d+ confirmed, (\d+ direction only, )?\d+ holds, \d+ impossible, \d+ open"
    assert re.search(counts, done.stdout, re.MULTILINE)
    assert "“Warm handshake latency (ms)” (Performance Comparison Table)" in done.stdout
    one = h123("claims", str(ROOT / "claims/page-loads.yaml"))
    assert "28 claims: 11 confirmed, 3 holds, 1 impossible, 8 refuted, 1 undecided, 4 untestable" in one.stdout


def test_claims_of_a_study_and_of_several_files(h123: Tool) -> None:
    both = h123("claims", str(ROOT / "studies/rest-api.yaml"), "page-loads")
    assert both.stdout.count("A Comparative Analysis of Latency") == 2
    assert "Ambassador Edge Stack" in both.stdout


def test_a_campaign_decides_its_studys_claims(h123: Tool) -> None:
    study = load_study(find_study("rest-api")).scaled(0.2)
    only = {"network": ["baseline"], "method": ["GET"], "size": ["10MB"], "load": ["high"]}
    make_campaign(h123.folder / "rest", Scenario(study=study, only=only, effects={("lan", "h3"): 1.293}))
    done = h123.succeed("claims", str(ROOT / "claims/rest-api.yaml"), "--campaign", "rest")
    assert "The campaign ran at --scale 0.2" in done.stdout
    found = re.search(r"C02 +confirmed .*?measured: \+(\S+) % .*?from 6 blocks; (.*?)\n", done.stdout, re.DOTALL)
    assert found
    assert 25 < float(found[1]) < 34
    assert found[2] == "p 0.031, adjusted 0.031; 5 requests per user"
    assert "23 of its 24 cells are not in this campaign" in done.stdout
    assert "cannot be: 2 MB x 8 / 1.03 s = 15.6 Mbit/s" in done.stdout
    assert "10 claims: 3 confirmed, 4 impossible, 2 refuted, 1 undecided" in done.stdout


def test_campaigns_of_two_studies_decide_their_claims(h123: Tool) -> None:
    """The last --campaign does not hide the others."""
    rest, loss = load_study(find_study("rest-api")).scaled(0.2), load_study(find_study("loss"))
    only = {"network": ["baseline"], "method": ["GET"], "size": ["10MB"], "load": ["high"]}
    make_campaign(h123.folder / "rest", Scenario(study=rest, only=only, effects={("lan", "h3"): 1.293}))
    links = {name: network.resolved() for name, network in loss.networks.items()}
    make_campaign(h123.folder / "loss", Scenario(study=loss, networks=links))
    both = h123.succeed("claims", "--campaign", "rest", "--campaign", "loss").stdout
    assert re.search(r"C02 +confirmed .*?from 6 blocks; p 0\.031", both, re.DOTALL)
    own = h123.succeed("claims", "--campaign", "loss").stdout
    found = re.search(r"^  L1 .*?measured: (\S+) %", own, re.DOTALL | re.MULTILINE)
    assert found
    assert re.search(rf"^  L1 .*?measured: {re.escape(found[1])} %", both, re.DOTALL | re.MULTILINE)
    same = h123.refusal("claims", "--campaign", "rest", "--campaign", "rest")
    assert "are campaigns of the same study" in same
    assert "--with" in same
    assert "needs a single --campaign" in h123.refusal(
        "claims", "--campaign", "rest", "--campaign", "loss", "--with", "rest"
    )


def test_another_campaigns_verdicts_stand_beside(h123: Tool) -> None:
    study = load_study(find_study("rest-api")).scaled(0.2)
    only = {"network": ["baseline"], "method": ["GET"], "size": ["10MB"], "load": ["high"]}
    for name, ratio, transport in (("deployed", 1.293, "deployed"), ("alike", 0.7, "matched")):
        one = study.model_copy(update={"settings": {**study.settings, "transport": transport}})
        make_campaign(h123.folder / name, Scenario(study=one, only=only, effects={("lan", "h3"): ratio}))
    done = h123.succeed("claims", str(ROOT / "claims/rest-api.yaml"), "--campaign", "deployed", "--with", "alike")
    found = re.search(
        r"C02 +confirmed .*?\n +alike \(transport matched\): refuted, because .*?; -(\S+) % \(", done.stdout, re.S
    )
    assert found
    assert 25 < float(found[1]) < 35
    assert done.stdout.count("alike (transport matched): not measured") == 5
    assert "10 claims: 3 confirmed, 4 impossible, 2 refuted, 1 undecided" in done.stdout


def test_what_cannot_stand_beside(h123: Tool) -> None:
    h123("import", *LOGS, "--schema", "h2load", "--out", "edge")
    assert "--with DIR needs --campaign DIR" in h123.refusal("claims", "--with", "edge")
    make_campaign(h123.folder / "quick", Scenario())
    assert "but edge is one of 'h2load'" in h123.refusal("claims", "rest-api", "--campaign", "edge", "--with", "quick")


def test_claims_of_a_campaign_of_another_study(h123: Tool) -> None:
    h123("import", *LOGS, "--schema", "h2load", "--out", "edge")
    asked = h123.succeed("claims", "rest-api", "--campaign", "edge")
    by = re.search(r"^Decided by published .*: rest-api (\d+), rest-baseline (\d+)$", asked.stdout, re.MULTILINE)
    assert by
    refused = asked.stdout.count("this is a campaign of study h2load; the claim needs one of rest-api")
    assert refused == 36 - int(by[1]) - int(by[2])
    assert refused > 0
    # The published campaigns leave 11 and 3 of their claims undecided.
    assert f"{refused + 14} undecided" in asked.stdout


def test_claims_of_no_campaign(h123: Tool) -> None:
    assert "nowhere is not a campaign" in h123.refusal("claims", "--campaign", "nowhere")


def test_a_page_of_a_recording_is_chosen_by_its_number(h123: Tool) -> None:
    asked = ("site", "import", str(recording(h123.folder, "second-page")), "--page")
    assert "5 requests" in h123.succeed(*asked, "2", "--out", "second.yaml").stdout
    assert "there is no page 3; it has 2" in h123.refusal(*asked, "3", "--out", "third.yaml")
    assert not (h123.folder / "third.yaml").exists()
    server = ("--server", "true", "--url", "https://localhost:8443/")
    assert "name it: --har FILE" in h123.refusal("compare", *server, "--page", "2")


def test_redirects_are_left_out_where_that_is_asked(h123: Tool) -> None:
    for log in LOGS:
        lines = Path(log).read_text().splitlines()
        moved = [line.replace("\t200\t", "\t302\t") if number % 2 else line for number, line in enumerate(lines)]
        (h123.folder / Path(log).name).write_text("\n".join(moved) + "\n")
    files = [Path(log).name for log in LOGS]
    done = h123.succeed("import", *files, "--schema", "h2load", "--out", "edge", "--redirects", "left-out")
    assert "80 responses were redirects and left out" in done.stdout


def test_a_fresh_clone_decides_by_what_is_published(tmp_path: Path) -> None:
    """Without any campaign: what is published comes with the checkout."""
    clone = tmp_path / "clone"
    made = subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], capture_output=True, text=True)
    if made.returncode:
        pytest.skip(f"not a checkout: {made.stderr}")
    environment = {**os.environ, "PYTHONPATH": str(clone / "src"), "COLUMNS": "200"}
    environment.pop("H123_ROOT", None)
    done = subprocess.run(
        [sys.executable, "-m", "h123", "claims", "--details"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    by = re.search(r"^Decided by published campaigns \(docs/results/data\.tar\.xz\): (.*)$", done.stdout, re.MULTILINE)
    assert by
    decided = {name: int(count) for name, count in (one.split() for one in by[1].split(", "))}
    assert decided["handshakes"] == 6
    assert decided["fast-open"] == 2
    total = re.search(r"^(\d+) claims: .*?(\d+) open", done.stdout, re.MULTILINE)
    assert total
    assert int(total[2]) <= 145 - sum(decided.values())  # so many were open, were added, or were impossible as printed
    assert done.stdout.count("by: the published campaign ") == sum(decided.values())


def test_an_unknown_name_lists_only_names_that_have_claims(h123: Tool) -> None:
    printed = " ".join(h123("claims", "nosuch").stderr.split())
    names = printed.partition("the choices are ")[2].split(", ")
    assert {"loss", "tuning"} <= set(names)
    assert not {"quick", "smoke"} & set(names)


def test_wrapped_lines_of_claims_are_indented(h123: Tool) -> None:
    lines = h123("claims", "loss").stdout.splitlines()
    claims = lines[next(n for n, line in enumerate(lines) if line.startswith("  L1 ")) : -2]
    assert any(len(line) > 70 for line in claims)
    assert all(line.startswith(("  L", " " * 7)) for line in claims if line)
