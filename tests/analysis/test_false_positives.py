"""How often each analysis finds a difference where there is none: the sound one as stated, the pooled one far more."""

import numpy as np
import pytest
from scipy.stats import binomtest

from h123.analysis.as_published.procedure import mann_whitney
from h123.analysis.comparisons.comparison import Pair, PairedComparison
from h123.analysis.statistics.families import Membership
from h123.analysis.statistics.looks import Looks
from h123.analysis.statistics.rule import Rule
from h123.analysis.verdicts.verdict import judge

SEED = 20261121
REQUESTS = 100
CORRELATION = 0.2
"""Share of the variance of log request times that is between runs."""


def run_times(random: np.random.Generator, campaigns: int, blocks: int) -> np.ndarray:
    """Request times, (campaigns, 2 treatments, blocks, requests): both treatments are the same."""
    runs = random.normal(0, np.sqrt(CORRELATION), (campaigns, 2, blocks, 1))
    return np.exp(runs + random.normal(0, np.sqrt(1 - CORRELATION), (campaigns, 2, blocks, REQUESTS)))


@pytest.mark.parametrize(("blocks", "size"), [(6, 2 / 64), (8, 10 / 256)])
def test_the_sound_analysis_errs_as_often_as_it_says(blocks: int, size: float) -> None:
    """`size`: the largest attainable p at the first look's level; the verdicts' rate must lie in its 99.9 % band."""
    campaigns = 1200
    print("seed", SEED)
    times = run_times(np.random.default_rng(SEED), campaigns, blocks)
    medians = np.median(times, axis=3)
    comparisons = [
        PairedComparison({}, "", "latency", "a", "b", False, Membership("alone", "none"), pairs(medians[i]), 0)
        for i in range(campaigns)
    ]
    wrong = sum(c["verdict"] in ("faster", "slower") for c in judge(comparisons, Rule(0.05, 0.05, Looks([blocks]))))
    assert binomtest(wrong, campaigns, size).pvalue > 0.001, wrong / campaigns
    assert binomtest(wrong, campaigns, 0.05, alternative="greater").pvalue > 0.001


def pairs(medians: np.ndarray) -> list[Pair]:
    return [Pair(block, float(a), float(b)) for block, (a, b) in enumerate(medians.T, start=1)]


@pytest.mark.parametrize("blocks", [3, 8])
def test_the_pooled_analysis_errs_far_more_often(blocks: int) -> None:
    """About two in three, at a correlation of 0.2: more than ten times what its p says."""
    campaigns = 300
    print("seed", SEED)
    times = run_times(np.random.default_rng(SEED), campaigns, blocks).reshape(campaigns, 2, -1)
    wrong = sum(mann_whitney(a, b).p < 0.05 for a, b in times)
    assert binomtest(wrong, campaigns, 0.5, alternative="less").pvalue > 0.001
    assert wrong / campaigns == pytest.approx(0.66, abs=0.1)
