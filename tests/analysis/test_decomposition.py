"""Protocol and processing: campaigns under both clocks whose parts are known are taken apart again."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from documents import changed_campaign
from h123.analysis import analyse
from h123.analysis.statistics.looks import SHARE
from h123.analysis.statistics.signedrank import SignedRank
from h123.analysis.verdicts.decomposition import PARTS
from h123.store import CampaignFolder
from h123.store.columns import TIME_COLUMNS
from h123.study import PlannedTrial
from synthetic import NETWORKS, Scenario, _network, answer_family, changed_samples, make_campaign

SLOW = {name: _network(name, "2 ms, 5 Mbit/s", 1_000_000, 5_000_000, 0.0, 100_000) for name in ("near", "far")}
"""So little delay that the scenario's effects are the ratios, to 0.2 %."""
PROTOCOL, PROCESSING = {"near": 1.1, "far": 0.8}, {"near": 1.3, "far": 1.0}
FAMILIES = [
    answer_family("latency", pairs=["h3/h2"], each=["network", "clock"]),
    {"name": "details", "correction": "bh", "metrics": ["ttfb", "goodput", "cpu", "memory_server"]},
]
BOTH = Scenario(
    seed=4,
    blocks=8,
    clocks=True,
    protocols=("h2", "h3"),
    networks=SLOW,
    trial_noise=0.01,
    request_noise=0.03,
    effects={(network, "h3"): effect for network, effect in PROTOCOL.items()},
    processing={(network, "h3"): effect for network, effect in PROCESSING.items()},
    families=FAMILIES,
)

CONFIDENCE = 1 - 0.05 * SHARE
"""Of the first look."""


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return analyse(make_campaign(tmp_path_factory.mktemp("parts") / "c", BOTH))


def row(verdicts: dict[str, Any], metric: str, network: str) -> dict[str, Any]:
    rows = verdicts["parts"]["rows"]
    (found,) = [r for r in rows if r["metric"] == metric and r["cell"] == {"network": network}]
    return dict(found)


@pytest.mark.parametrize("network", SLOW)
def test_the_parts_that_were_put_in_are_found(verdicts: dict[str, Any], network: str) -> None:
    truth = {"protocol": PROTOCOL[network], "processing": PROCESSING[network]}
    truth["total"] = truth["protocol"] * truth["processing"]
    found = row(verdicts, "latency", network)
    for part in PARTS:
        assert found[part]["low"] / 1.005 <= truth[part] <= found[part]["high"] * 1.005, part
        assert found[part]["high"] / found[part]["low"] < 1.15
    expected = {"near": ["slower", "slower", "slower"], "far": ["faster", "faster", "equivalent"]}
    assert [found[part]["verdict"] for part in PARTS] == expected[network]


def test_each_blocks_total_is_protocol_times_processing(verdicts: dict[str, Any]) -> None:
    for found in verdicts["parts"]["rows"]:
        ratios = {part: [pair["ratio"] for pair in found[part]["pairs"]] for part in PARTS}
        assert ratios["total"] == pytest.approx(np.multiply(ratios["protocol"], ratios["processing"]))
        for part in PARTS:
            exact = SignedRank(np.log(ratios[part])).estimate(CONFIDENCE)
            assert [found[part][name] for name in ("ratio", "low", "high")] == pytest.approx(
                [math.exp(exact.centre), math.exp(exact.low), math.exp(exact.high)]
            )


def test_total_and_protocol_are_the_comparisons_under_either_clock(verdicts: dict[str, Any]) -> None:
    for part, clock in (("total", "wall"), ("protocol", "virtual")):
        (same,) = [
            c
            for c in verdicts["comparisons"]
            if c["metric"] == "latency" and c["cell"] == {"network": "near", "clock": clock} and not c["twin"]
        ]
        assert same["pairs"] == row(verdicts, "latency", "near")[part]["pairs"]


def test_goodput_turns_round(verdicts: dict[str, Any]) -> None:
    found = row(verdicts, "goodput", "near")
    assert found["processing"]["ratio"] == pytest.approx(1 / PROCESSING["near"], rel=0.05)
    assert found["processing"]["verdict"] == "slower"


def test_processor_time_is_shown_beside_and_never_split(verdicts: dict[str, Any]) -> None:
    assert {r["metric"] for r in verdicts["parts"]["rows"]} == {"latency", "ttfb", "goodput"}
    (near, far) = verdicts["parts"]["cpu"]
    assert (near["cell"], far["cell"]) == ({"network": "near"}, {"network": "far"})
    assert near["ratio"] == pytest.approx(400 / 180, rel=0.1)
    assert near["blocks"] == BOTH.blocks
    asked = {tuple(c["cell"].values()) for c in verdicts["comparisons"] if c["metric"] == "cpu"}
    assert asked == {("near", "wall"), ("far", "wall")}
    still = [v for v in verdicts["values"] if v["cell"]["clock"] == "virtual"]
    assert still
    assert all(v["metrics"]["cpu"] is None and v["metrics"]["memory_server"] for v in still)


def test_parts_are_corrected_with_their_like(verdicts: dict[str, Any]) -> None:
    latency, goodput = row(verdicts, "latency", "far"), row(verdicts, "goodput", "far")
    assert latency["processing"]["family"] == "answer/far/wall/processing"
    assert latency["processing"]["family_size"] == 1
    assert goodput["protocol"]["family"] == "details/protocol"
    assert goodput["protocol"]["family_size"] == 2 * len(SLOW)  # ttfb and goodput


def test_goodput_counts_with_the_latency_that_it_repeats(verdicts: dict[str, Any]) -> None:
    goodput, latency, ttfb = (row(verdicts, metric, "far") for metric in ("goodput", "latency", "ttfb"))
    assert (goodput["repeats"], latency["repeats"], ttfb["repeats"]) == ("latency", None, None)
    for part in PARTS:
        assert ttfb[part]["family_size"] == len(SLOW)  # and no goodput
        assert goodput[part]["p_adjusted"] >= latency[part]["p_adjusted"]
        assert "one observation with latency, counted once" in goodput[part]["note"]


def test_a_block_without_all_four_values_is_left_out(verdicts: dict[str, Any], tmp_path: Path) -> None:
    cell = {"network": "near", "protocol": "h3", "clock": "virtual"}
    hole = next(v["trial"].split("~")[0] for v in verdicts["values"] if v["cell"] == cell)
    holed = analyse(make_campaign(tmp_path / "holed", Scenario(**{**vars(BOTH), "missing": frozenset({hole})})))
    assert {row(holed, "latency", "near")[part]["blocks"] for part in PARTS} == {BOTH.blocks - 1}
    assert {row(holed, "latency", "far")[part]["blocks"] for part in PARTS} == {BOTH.blocks}


@pytest.mark.parametrize("clock", ["wall", "virtual"])
def test_one_clock_has_no_parts(tmp_path: Path, clock: str) -> None:
    scenario = Scenario(**{**vars(BOTH), "blocks": 1, "only": {"clock": [clock]}})
    assert analyse(make_campaign(tmp_path / "c", scenario))["parts"] is None


def test_a_plain_veth_has_no_time_of_its_own_to_split(tmp_path: Path) -> None:
    networks = {"near": SLOW["near"], "lan": NETWORKS["lan"]}
    verdicts = analyse(make_campaign(tmp_path / "c", Scenario(**{**vars(BOTH), "blocks": 1, "networks": networks})))
    for rows in (verdicts["parts"]["rows"], verdicts["parts"]["cpu"]):
        assert {r["cell"]["network"] for r in rows} == {"near"}


def test_a_study_that_compares_the_clocks_has_no_parts(tmp_path: Path) -> None:
    folder = make_campaign(tmp_path / "c", Scenario(**{**vars(BOTH), "blocks": 2}))
    families = [{"name": "all", "correction": "bh", "metrics": ["latency", "cpu"]}]
    with changed_campaign(folder.path) as content:
        content["study"]["compare"].update(factor="clock", pairs=["virtual/wall"], twin="wall", families=families)
    verdicts = analyse(CampaignFolder.open(folder.path))
    assert verdicts["parts"] is None
    assert {c["metric"] for c in verdicts["comparisons"] if not c["twin"]} == {"latency"}


@pytest.mark.parametrize("clock", ["wall", "virtual"])
def test_a_block_in_which_a_request_took_no_time_has_no_parts(clock: str, tmp_path: Path) -> None:
    """No time cannot be divided by: under the virtual clock a plain veth takes none."""

    def at_once(trial: PlannedTrial, folder: Path) -> None:
        if (trial.block, trial.cell["clock"], trial.cell["protocol"]) == (1, clock, "h3"):
            with changed_samples(folder) as rows:
                for row in rows:
                    row.update({name: row["start_ns"] for name in TIME_COLUMNS if row[name]})

    verdicts = analyse(make_campaign(tmp_path / "c", replace(BOTH, blocks=3, spoil=at_once)))
    for network in SLOW:
        found = row(verdicts, "latency", network)
        assert [pair["block"] for pair in found["processing"]["pairs"]] == [2, 3]
