"""What is not judged: impossible data, unlike failures; and failures have a verdict of their own."""

import re
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from drawn import hundredfold
from h123.analysis import analyse
from h123.report import print_summary, write_report
from h123.report.text.difference import sentence
from h123.store import CampaignFolder
from h123.study import PlannedTrial
from hasty import NO_PICTURES
from synthetic import FAMILIES, NETWORKS, Scenario, Spoil, answer_family, changed_samples, make_campaign


def campaign(path: Path, spoil: Spoil | None = None, **other: Any) -> dict[str, Any]:
    scenario = Scenario(blocks=12, families=FAMILIES[:1], protocols=("h2", "h3"), spoil=spoil, **other)
    return analyse(make_campaign(path / "c", scenario))


def answer(verdicts: dict[str, Any], network: str = "poor") -> dict[str, Any]:
    (found,) = [c for c in verdicts["comparisons"] if not c["twin"] and c["cell"]["network"] == network]
    return found


def failing(share: float, blocks: Callable[[int], bool] = lambda _: True, protocol: str = "h3") -> Spoil:
    """Of that protocol's warm requests over `poor`, the slowest share fails in those blocks."""

    def spoil(trial: PlannedTrial, folder: Path) -> None:
        if trial.cell != {"network": "poor", "protocol": protocol} or not blocks(trial.block):
            return
        with changed_samples(folder) as rows:
            warm = [row for row in rows if row["phase"] == "warm"]
            slowest = sorted(warm, key=lambda row: int(row["start_ns"]) - int(row["end_ns"]))
            for row in slowest[: round(share * len(warm))]:
                row["status"], row["error"] = "0", "timeout"

    return spoil


def test_sound_data_are_judged(tmp_path: Path) -> None:
    verdicts = campaign(tmp_path)
    assert (answer(verdicts)["verdict"], answer(verdicts)["withheld"]) == ("faster", None)
    assert verdicts["failures"] == []


@pytest.mark.parametrize(
    "spoil",
    # In every block; and of four blocks nearly all requests, which used to be dropped: "faster 0.83, p = .0078".
    [failing(0.45), failing(0.6, lambda block: block <= 4)],
)
def test_the_side_that_fails_is_not_faster(tmp_path: Path, spoil: Spoil) -> None:
    verdicts = campaign(tmp_path, spoil)
    found = answer(verdicts)
    assert (found["verdict"], found["withheld"]["kind"]) == ("inconclusive", "failures")
    assert "of h3's requests failed and 0.0% of h2's" in found["note"]
    assert answer(verdicts, "lan")["withheld"] is None
    (row,) = verdicts["failures"]
    assert (row["cell"], row["a"], row["b"], row["b_share"]) == ({"network": "poor"}, "h3", "h2", 0)


@pytest.mark.parametrize("protocol", ["h2", "h3"])
@pytest.mark.parametrize("failed", [1, 6, 12])
def test_a_ratio_without_a_bound_is_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], protocol: str, failed: int
) -> None:
    """Where all requests of one side fail, its ratio is beyond all numbers, upwards or downwards."""
    spoil = failing(1.0, lambda block: block <= failed, protocol)
    verdicts = campaign(tmp_path, spoil, as_published=True, networks={"poor": NETWORKS["poor"]})
    found = answer(verdicts)
    assert (found["withheld"]["kind"], found["verdict"]) == ("failures", "inconclusive")
    assert not any(found[end] == 0 for end in ("ratio", "low", "high"))
    print_summary(verdicts, Console(width=100), tmp_path / "c")
    with NO_PICTURES if failed < 12 else nullcontext():
        page = write_report(CampaignFolder.open(tmp_path / "c")).read_text("utf-8")
    for text in (page, capsys.readouterr().out):
        assert not re.search(r"\b(inf|nan)\b", re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL))


def test_failures_are_compared_like_a_metric(tmp_path: Path) -> None:
    (row,) = campaign(tmp_path, failing(0.45))["failures"]
    assert (row["verdict"], row["blocks"]) == ("fails more", 12)
    assert 0.3 < row["low"] <= row["difference"] <= row["high"] < 0.5


def test_few_failures_leave_the_verdict(tmp_path: Path) -> None:
    """Half a percent of the requests: within what a study tolerates."""
    verdicts = campaign(tmp_path, failing(0.05, lambda block: block == 1), settings={"requests": 20})
    assert (answer(verdicts)["verdict"], answer(verdicts)["withheld"]) == ("faster", None)
    (row,) = verdicts["failures"]
    assert row["verdict"] == "alike"


def test_impossible_data_have_no_verdict(tmp_path: Path) -> None:
    """Requests of h3 above the link in all of its trials used to be its victory."""

    def spoil(trial: PlannedTrial, folder: Path) -> None:
        if trial.cell["protocol"] == "h3" and trial.cell["network"] != "lan":
            with changed_samples(folder) as rows:
                hundredfold(rows)

    verdicts = campaign(tmp_path, spoil)
    for network in ("medium", "poor"):
        found = answer(verdicts, network)
        assert (found["verdict"], found["withheld"]["kind"]) == ("inconclusive", "audits")
        assert "12 of its trials failed" in found["note"]
        assert "request-above-link" in found["note"]
    assert answer(verdicts, "lan")["withheld"] is None


def test_where_nothing_takes_time_there_is_nothing_to_judge(tmp_path: Path) -> None:
    """0.14 ms against 0.07 were "2.01 times as long"."""
    scenario = Scenario(
        blocks=8,
        families=[answer_family("latency", "goodput", "memory_server")],
        protocols=("h2", "h3"),
        settings={"clock": "virtual"},
        effects={("lan", "h2"): 0.05, ("lan", "h3"): 0.1},
    )
    folder = make_campaign(tmp_path / "c", scenario)
    verdicts = analyse(folder)
    found = {(c["cell"]["network"], c["metric"]): c for c in verdicts["comparisons"] if not c["twin"]}
    withheld = {place: c["withheld"] and c["withheld"]["kind"] for place, c in found.items()}
    assert {place for place, kind in withheld.items() if kind == "timeless"} == {("lan", "latency"), ("lan", "goodput")}
    assert found["lan", "latency"]["verdict"] == "inconclusive"
    assert found["poor", "latency"]["withheld"] is None
    said = sentence(found["lan", "latency"], verdicts["margin"])
    assert said.startswith("On lan, not judged: under the virtual clock nothing takes time over lan")
    assert "what programs take to read the clock (up to " in said
    with NO_PICTURES:
        assert said in write_report(folder).read_text()


def test_where_a_program_waits_it_is_judged_over_any_network(tmp_path: Path) -> None:
    """A handler that sleeps for 10 or 11 ms was refused as readings of the clock."""
    families = [
        {"name": metric, "correction": "holm", "metrics": [metric]} for metric in ("latency", "goodput", "handshake")
    ]
    scenario = Scenario(
        blocks=8,
        families=families,
        protocols=("h2", "h3"),
        networks={"lan": NETWORKS["lan"]},
        settings={"clock": "virtual", "size": 20_000},
        effects={("lan", "h2"): 5.0, ("lan", "h3"): 5.5},
        trial_noise=0.001,
        block_noise=0.001,
    )
    verdicts = analyse(make_campaign(tmp_path / "c", scenario))
    found = {c["metric"]: c for c in verdicts["comparisons"] if not c["twin"]}
    assert (found["latency"]["withheld"], found["latency"]["verdict"]) == (None, "slower")
    assert found["latency"]["ratio"] == pytest.approx(1.1, rel=0.05)
    assert found["goodput"]["withheld"] is None
