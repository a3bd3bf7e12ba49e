"""Interactions on campaigns whose truth is known, and against t tests of each block's own contrast."""

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from h123.analysis.comparisons.interactions import interactions
from h123.measures import load_attempts
from h123.study import Plan, Study, make_plan
from synthetic import Scenario, make_campaign

LOADS = {"light": {"users": 4, "requests": 5}, "heavy": {"users": 8, "requests": 5}}
SCENARIO = Scenario(seed=8, protocols=("h2", "h3"), loads=LOADS, block_noise=0.2, blocks=8)


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> tuple[list, Plan, list]:
    folder = make_campaign(tmp_path_factory.mktemp("interactions") / "c", SCENARIO)
    plan = make_plan(Study.from_resolved(folder.study), blocks=folder.blocks, seed=folder.seed)
    attempts = load_attempts(folder)
    return attempts, plan, interactions(attempts, plan, alpha=0.05)


def term(rows: list, metric: str, **levels: str) -> dict:
    (row,) = [r for r in rows if r["metric"] == metric and {n: t["level"] for n, t in r["term"].items()} == levels]
    return row


def test_the_truth_is_found(found: tuple[list, Plan, list]) -> None:
    """On lan the effect is 1.4, on medium 1, on poor 0.71; load changes nothing."""
    rows = found[2]
    for network, truth in (("medium", 1 / 1.4), ("poor", 0.71 / 1.4)):
        row = term(rows, "latency", network=network)
        assert row["term"] == {"network": {"level": network, "against": "lan"}}
        assert row["low"] * 0.97 <= truth <= row["high"] * 1.03
        assert row["p_adjusted"] < 0.001
    assert term(rows, "latency", load="heavy")["p_adjusted"] > 0.05


def test_complete_data_give_the_t_test_of_the_blocks_contrasts(found: tuple[list, Plan, list]) -> None:
    """The estimate is theirs exactly; the standard error is longer by the correction for 8 blocks and 12 cells."""
    attempts, _, rows = found
    log = {
        (a.block, a.cell["protocol"], a.cell["network"], a.cell["load"]): math.log(a.metrics["latency"])
        for a in attempts
        if not a.twin
    }

    def ratio(block: int, network: str, load: str) -> float:
        return log[block, "h3", network, load] - log[block, "h2", network, load]

    contrasts = np.array([np.mean([ratio(b, "poor", x) - ratio(b, "lan", x) for x in LOADS]) for b in range(1, 9)])
    longer = math.sqrt((8 * 12 - 1) / (8 * 12 - 12))
    row = term(rows, "latency", network="poor")
    assert math.log(row["ratio"]) == pytest.approx(contrasts.mean())
    t = contrasts.mean() / (contrasts.std(ddof=1) / math.sqrt(8) * longer)
    assert row["p"] == pytest.approx(2 * stats.t.sf(abs(t), df=7), rel=1e-6)


def test_terms_of_one_and_two_factors_are_corrected_together(found: tuple[list, Plan, list]) -> None:
    rows = found[2]
    terms = [tuple(r["term"]) for r in rows if r["metric"] == "latency"]
    assert terms == [("network",), ("network",), ("load",), ("network", "load"), ("network", "load")]
    assert {r["family_size"] for r in rows} == {len(rows)}
    assert len(rows) == 5 * len({r["metric"] for r in rows})
    assert all(r["p_adjusted"] >= r["p"] for r in rows)


def test_no_other_factor_or_too_few_blocks_have_none(found: tuple[list, Plan, list], tmp_path: Path) -> None:
    attempts, plan, _ = found
    assert interactions([a for a in attempts if a.block <= 2], plan, 0.05) == []
    # A block with a hole is left out whole.
    holed = [a for a in attempts if a.trial != attempts[0].trial or a.twin]
    blocks = {r["blocks"] for r in interactions(holed, plan, 0.05)}
    assert blocks == ({8} if attempts[0].twin else {7})
    folder = make_campaign(tmp_path / "c", Scenario(seed=1, blocks=3, only={"network": ["lan"]}))
    single = make_plan(Study.from_resolved(folder.study), blocks=3, seed=1, level_filter={"network": ["lan"]})
    assert interactions(load_attempts(folder), single, 0.05) == []


def test_ratios_that_no_number_holds_are_none(found: tuple[list, Plan, list]) -> None:
    """They ended the analysis with a bare OverflowError."""
    attempts, plan, _ = found
    wild = [
        replace(a, metrics={**a.metrics, "latency": 1e150 if (a.block + len(a.cell["network"])) % 2 else 1e-150})
        if a.cell["protocol"] == "h3"
        else a
        for a in attempts
        if a.block <= 3
    ]
    rows = [row for row in interactions(wild, plan, alpha=0.05) if row["metric"] == "latency"]
    assert rows
    assert any(row["high"] is None for row in rows)
    json.dumps(rows, allow_nan=False)
