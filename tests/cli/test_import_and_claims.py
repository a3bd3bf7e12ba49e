"""`h123 import` and `h123 claims` as a person runs them."""

from pathlib import Path

from cli.conftest import ROOT, Tool

LOGS = sorted(str(path) for path in (ROOT / "tests/results/foreign").glob("*.log"))


def test_import_ends_with_an_answer_and_a_report(h123: Tool) -> None:
    done = h123("import", *LOGS, "--schema", "h2load", "--out", "edge")
    assert done.returncode == 0, done.stderr
    assert "160 requests in 4 trials, not measured by h123" in done.stdout
    assert "measure and import 6 blocks" in done.stdout
    assert (h123.folder / "edge/report.html").is_file()
    for command in (["analyse", "edge"], ["report", "edge"], ["export", "edge"]):
        assert h123(*command).returncode == 0
    resumed = h123("run", "--out", "edge")
    assert (resumed.returncode, "nothing to go on with" in resumed.stderr) == (2, True)


def test_a_bad_row_leaves_nothing(h123: Tool) -> None:
    bad = h123.folder / "h2-1.log"
    bad.write_text(Path(LOGS[-1]).read_text() + "soon\t200\t5\n")
    done = h123("import", LOGS[0], "h2-1.log", "--schema", "h2load", "--out", "edge")
    assert done.returncode == 2
    assert "h2-1.log:41: start is 'soon', not a number" in done.stderr
    assert {path.name for path in h123.folder.iterdir()} == {"h2-1.log", h123.temporary.name}


def test_claims_are_listed_with_their_arithmetic(h123: Tool) -> None:
    done = h123("claims")
    assert done.returncode == 0, done.stderr
    assert "1120 requests/s x 10 MB x 8 = 89.6 Gbit/s" in done.stdout
    assert "the base is swapped" in done.stdout
    assert "8 impossible, 16 open" in done.stdout
    one = h123("claims", str(ROOT / "claims/page-loads.yaml"))
    assert "4 claims: 1 impossible, 3 open" in one.stdout


def test_claims_of_a_campaign_of_another_study(h123: Tool) -> None:
    h123("import", *LOGS, "--schema", "h2load", "--out", "edge")
    done = h123("claims", "edge")
    assert done.returncode == 2
    assert "no file of claims is about study 'h2load'" in done.stderr
    assert h123("claims", "nowhere.yaml").returncode == 2
