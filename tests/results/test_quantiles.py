"""The exact interval of a quantile: tabulated ranks, coverage, and the same values as by sorting."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from h123.measures import load_attempts
from h123.measures.quantiles import intervals, ranks
from stored import stored_rows
from synthetic import Scenario, make_campaign


def test_known_ranks() -> None:
    """Of 300 and 1000 values by the binomial's own quantiles; equal tails."""
    for n, share in ((300, 0.95), (1000, 0.99), (1000, 0.95)):
        found = ranks(n, share)
        assert found is not None
        assert (found.low, found.high) == (binom.ppf(0.025, n, share), binom.ppf(0.975, n, share) + 1)


@pytest.mark.parametrize(("share", "fewest"), [(0.95, 59), (0.99, 299)])
def test_the_fewest_values_that_bound_a_quantile(share: float, fewest: int) -> None:
    """1 - p^n, the confidence of nothing but the largest value above it: 59 is the known sample size of a 95/95
    tolerance limit (Wilks, Ann. Math. Statist. 12, 1941)."""
    assert ranks(fewest - 1, share) is None
    found = ranks(fewest, share)
    assert found is not None
    assert found.high == fewest
    assert found.confidence >= 0.95


@given(st.integers(59, 3000), st.sampled_from([0.95, 0.99, 0.5]))
def test_the_confidence_is_reached_and_no_rank_could_be_spared(n: int, share: float) -> None:
    found = ranks(n, share)
    if found is None:
        assert share**n > 0.05 - 1e-12 or n < 299
        return
    below = binom(n, share).cdf
    assert found.confidence == pytest.approx(below(found.high - 1) - below(found.low - 1))
    assert found.confidence >= 0.95
    assert below(found.high - 1) - below(found.low) < 0.975


@pytest.mark.parametrize("n", [60, 100, 300])
def test_intervals_hold_the_quantile_as_often_as_they_say(n: int) -> None:
    """Of a distribution with a long tail."""
    seed, runs = 20261122, 4000
    print("seed", seed)
    values = np.sort(np.random.default_rng(seed).lognormal(0, 1, (runs, n)), axis=1)
    found, truth = ranks(n, 0.95), float(np.exp(1.6448536))
    assert found is not None
    held = float(np.mean((values[:, found.low - 1] <= truth) & (truth <= values[:, found.high - 1])))
    assert held == pytest.approx(found.confidence, abs=3 * (0.05 * 0.95 / runs) ** 0.5)


def test_the_ends_are_requests_of_the_trial(tmp_path: Path) -> None:
    """Also where trials have unlike numbers of requests, and where one failed."""
    folder = make_campaign(tmp_path / "c", Scenario(blocks=1, settings={"users": 4, "requests": 20}))
    attempts = {folder.trial(one.trial, one.attempt) / "samples.parquet": one for one in load_attempts(folder)[:3]}
    tables = {file: [row for row in stored_rows(file) if row["phase"] == "warm"] for file in attempts}
    found = intervals(folder, attempts, 0.95)
    between = ranks(80, 0.95)
    assert between is not None
    for file, table in tables.items():
        latencies = np.sort([row["end_ns"] - row["start_ns"] for row in table]) * 1e-9
        assert found[file] == (
            pytest.approx(latencies[between.low - 1]),
            pytest.approx(latencies[between.high - 1]),
        )
    few = {file: replace(one, summary=replace(one.summary, warm=58)) for file, one in attempts.items()}
    assert intervals(folder, few, 0.95) == {}
