"""The whole way from a campaign's folder to verdicts.json, on campaigns whose truth is known."""

import json
import math
import shutil
from pathlib import Path
from typing import Any

import pytest

from documents import changed_campaign, changed_events
from h123.analysis import analyse
from h123.base.errors import UserError
from h123.store import CampaignFolder
from h123.study import PlannedTrial
from synthetic import EVERY, Scenario, changed_samples, make_campaign

EFFECTS = {("poor", "h3"): 0.71, ("lan", "h3"): 1.4, ("poor", "h1"): 0.85}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> CampaignFolder:
    return make_campaign(tmp_path_factory.mktemp("analyse") / "c", Scenario(seed=2))


@pytest.fixture(scope="module")
def verdicts(folder: CampaignFolder) -> dict[str, Any]:
    return analyse(folder)


def find(verdicts: dict[str, Any], **wanted: Any) -> list[dict[str, Any]]:
    return [c for c in verdicts["comparisons"] if all(c[key] == value for key, value in wanted.items())]


def test_the_truth_is_found(verdicts: dict[str, Any]) -> None:
    words = {}
    for network in ("lan", "medium", "poor"):
        (found,) = find(verdicts, metric="latency", a="h3", b="h2", cell={"network": network})
        truth = EFFECTS.get((network, "h3"), 1.0)
        assert found["low"] * 0.97 <= truth <= found["high"] * 1.03
        words[network] = found["verdict"]
    assert (words["lan"], words["poor"]) == ("slower", "faster")
    assert words["medium"] not in ("faster", "slower")


def test_the_file_is_what_was_returned_and_always_the_same_bytes(
    folder: CampaignFolder, verdicts: dict[str, Any], tmp_path: Path
) -> None:
    first = folder.verdicts.read_bytes()
    assert json.loads(first) == verdicts
    analyse(CampaignFolder.open(folder.path))
    assert folder.verdicts.read_bytes() == first
    shutil.copytree(folder.path, tmp_path / "c")
    (tmp_path / "c" / "verdicts.json").unlink()
    analyse(CampaignFolder.open(tmp_path / "c"))
    assert (tmp_path / "c" / "verdicts.json").read_bytes() == first
    assert b"NaN" not in first
    assert not list(folder.path.glob("*.tmp"))


def test_families_split_and_each_comparison_is_in_one(verdicts: dict[str, Any]) -> None:
    sizes = {c["family"]: (c["family_size"], c["correction"]) for c in verdicts["comparisons"]}
    assert sizes == {
        "answer/lan": (1, "holm"),
        "answer/medium": (1, "holm"),
        "answer/poor": (1, "holm"),
        "details": (51, "bh"),
        "twins": (18, "none"),
    }
    keys = [(c["metric"], c["a"], c["b"], tuple(c["cell"].items())) for c in verdicts["comparisons"]]
    assert len(keys) == len(set(keys)) == 84


def test_a_complete_campaign_counts_as_one(verdicts: dict[str, Any]) -> None:
    assert verdicts["trials"] == {"planned": 72, "valid": 72, "invalid": 0, "missing": 0}
    assert verdicts["blocks"] == {"planned": 6, "complete": 6}
    assert verdicts["attainable_p"] == 0.03125
    assert len(verdicts["values"]) == 72
    # Of its 6 blocks, the families of more than one comparison can find no difference that stands alone.
    assert [row["audit"] for row in verdicts["audit_summary"] if row["failed"]] == ["blocks-too-few"]


def test_invalid_attempts_are_counted_and_missing_trials_drop_their_pair(tmp_path: Path) -> None:
    plan = Scenario(seed=2, blocks=7)
    names = {v["trial"].split("~")[0]: v for v in analyse(make_campaign(tmp_path / "whole", plan))["values"]}
    lost = next(t for t, v in names.items() if v["block"] == 7 and v["cell"] == {"network": "poor", "protocol": "h3"})
    scenario = Scenario(seed=2, blocks=7, missing=frozenset([lost]), invalid=frozenset([next(iter(names))]))
    verdicts = analyse(make_campaign(tmp_path / "torn", scenario))
    assert verdicts["trials"] == {"planned": 84, "valid": 83, "invalid": 1, "missing": 1}
    assert verdicts["blocks"] == {"planned": 7, "complete": 6}
    (found,) = find(verdicts, metric="latency", a="h3", b="h2", cell={"network": "poor"})
    assert (found["blocks"], found["verdict"]) == (6, "faster")
    assert "left out because only one side has a value: 1 block" in found["note"]


def test_any_factor_can_be_compared(tmp_path: Path) -> None:
    """Nothing knows the word protocol: here the load is compared, and protocols are cells."""
    folder = make_campaign(
        tmp_path / "c",
        Scenario(loads={"few": {"users": 2, "size": 50_000}, "many": {"users": 4, "size": 100_000}}, blocks=6),
    )
    families = [{"name": "all", "correction": "holm", "metrics": ["latency"], "each": ["network", "protocol"]}]
    with changed_campaign(folder.path) as content:
        content["study"]["compare"] |= {"factor": "load", "pairs": ["many/few"], "twin": "few", "families": families}
    with changed_events(folder.path) as events:  # its twins are of a protocol, not of a load
        events[:] = [event for event in events if not event.get("twin")]
    verdicts = analyse(CampaignFolder.open(folder.path))
    found = find(verdicts, metric="latency", a="many", twin=False)
    assert verdicts["factor"] == "load"
    assert len(found) == 9
    assert {c["workload"] for c in found} == {"GET 100 kB / GET 50 kB"}
    assert {c["family"] for c in found} >= {"all/poor/h3", "all/lan/h1"}
    assert all(c["verdict"] == "slower" for c in found if c["cell"]["network"] == "poor")


def test_only_leaves_whole_pairs(tmp_path: Path) -> None:
    scenario = Scenario(only={"protocol": ["h3", "h2"], "network": ["poor"]})
    verdicts = analyse(make_campaign(tmp_path / "c", scenario))
    assert verdicts["trials"]["planned"] == 18
    assert {(c["a"], c["b"], c["cell"]["network"]) for c in verdicts["comparisons"]} == {
        ("h3", "h2", "poor"),
        ("h2", "h2", "poor"),
    }


def test_a_metric_that_no_trial_has_is_inconclusive_with_nulls(tmp_path: Path) -> None:
    families = [{"name": "tail", "correction": "holm", "metrics": ["latency", "latency_p99"]}]
    verdicts = analyse(make_campaign(tmp_path / "c", Scenario(families=families)))
    found = find(verdicts, metric="latency_p99", a="h3", b="h2")
    assert {(c["ratio"], c["p"], c["verdict"]) for c in found} == {(None, None, "inconclusive")}
    assert {c["family_size"] for c in find(verdicts, metric="latency", twin=False)} == {9}


def test_faults_in_files_reach_the_audits(tmp_path: Path) -> None:
    """Through the files and the scan, not only through the checks."""

    def spoil(trial: PlannedTrial, place: Path) -> None:
        if trial.block != 1 or trial.cell != {"protocol": "h2", "network": "medium"} or trial.twin:
            return
        with changed_samples(place) as rows:
            rows[1].update(error="reset", status="0", bytes_down="0")
            rows[2]["status"] = "503"
            rows[3]["first_byte_ns"] = rows[3]["start_ns"]
            rows.pop()

    verdicts = analyse(make_campaign(tmp_path / "c", Scenario(blocks=1, spoil=spoil)))
    failed = {row["audit"] for row in verdicts["audits"] if not row["passed"] and row["trial"]}
    assert failed == {"first-byte-below-round-trip", "requests-failed", "requests-miscounted", "status-wrong"}


def test_one_block_says_that_it_says_nothing(tmp_path: Path) -> None:
    verdicts = analyse(make_campaign(tmp_path / "c", Scenario(blocks=1)))
    assert {c["verdict"] for c in verdicts["comparisons"]} == {"inconclusive"}
    assert all("1 block: p cannot fall below 1" in c["note"] for c in verdicts["comparisons"])
    (few,) = [row["failure"] for row in verdicts["audit_summary"] if row["audit"] == "blocks-too-few"]
    assert "--blocks" in few
    assert verdicts["attainable_p"] == 1.0


def test_nothing_measured_is_analysed_all_the_same(tmp_path: Path) -> None:
    verdicts = analyse(make_campaign(tmp_path / "none", Scenario(blocks=1, missing=EVERY)))
    assert verdicts["trials"] == {"planned": 12, "valid": 0, "invalid": 0, "missing": 12}
    assert verdicts["twins"]["rate"] is None


def test_a_torn_journal_is_analysed_without_its_last_event(tmp_path: Path) -> None:
    folder = make_campaign(tmp_path / "c", Scenario(blocks=2))
    journal = folder.path / "journal.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[:-1])[:-40])  # the last trial's event, cut short
    assert analyse(folder)["trials"] == {"planned": 24, "valid": 23, "invalid": 0, "missing": 1}
    journal.write_bytes(lines[0] + b"{torn\n" + b"".join(lines[2:]))
    with pytest.raises(UserError, match="line 2"):
        analyse(folder)


@pytest.mark.heavy
def test_twins_reject_about_as_often_as_expected(tmp_path: Path) -> None:
    """Over 8 campaigns of synthetic A/A pairs, independent ones: within the 99.9 % binomial band."""
    families = [{"name": "f", "correction": "holm", "metrics": ["latency"]}]
    rejected = total = 0
    for seed in range(100, 108):
        print("seed", seed)
        scenario = Scenario(seed=seed, families=families, protocols=("h1", "h2"))
        twins = analyse(make_campaign(tmp_path / str(seed), scenario))["twins"]
        rejected, total = rejected + twins["rejected"], total + twins["comparisons"]
    assert total == 24
    # P(more than 5 of 24 at 1/32) < 0.001
    assert rejected <= 5
    assert math.isclose(twins["expected"], 0.03125)
