"""Implements the statistics of the REST-API study, which apply tests to single requests pooled over runs.

Source: Az Zahra and Ardiansyah, "HTTP/3 vs HTTP/2: A Comparative Analysis of Latency and Throughput in RESTful API
Transactions" (2026), sections II.D to II.F and Table V. This project does not recommend these tests: they assume
independent requests, but requests of one run depend on one another.

SciPy is imported only when needed, because loading it takes as long as the analysis of a small campaign.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from h123.analysis.as_published.rows import Shapiro
from h123.base.extras import PUBLISHED

Floats = NDArray[np.float64]

ALPHA = 0.05
PRACTICAL_EFFECT = 0.3
PRACTICAL_DIFFERENCE = 0.10
CONSISTENCY = ((0.10, "highly consistent"), (0.15, "consistent"), (0.20, "sufficiently consistent"))
EFFECTS = ((0.5, "large"), (0.3, "moderate"), (0.1, "small"))
SHAPIRO_UP_TO = 5000
"""Royston's approximation (Applied Statistics AS R94, 1995) is valid for 3 to 5000 values."""

FASTER, SLOWER, NOT_PRACTICAL, NOT_SIGNIFICANT = "faster", "slower", "not practical", "not significant"


@dataclass(frozen=True)
class MannWhitney:
    """The result of a Mann-Whitney test: U of the first sample, two-sided p, and the rank-biserial correlation 2 U / (m
    n) - 1 = P(a > b) - P(a < b)."""

    u: float
    p: float
    r_rb: float


def consistency(run_means: Floats) -> tuple[float, str] | None:
    """Return the coefficient of variation of the runs' means (their standard deviation with n - 1, divided by their
    mean) and its class."""
    if len(run_means) < 2:
        return None
    cv = float(np.std(run_means, ddof=1) / np.mean(run_means))
    return cv, next((word for limit, word in CONSISTENCY if cv <= limit), "inconsistent")


def shapiro_wilk(values: Floats, seed: int) -> Shapiro | None:
    """Return W, p and the number of values used. If there are more than 5000 values, test a random 5000 of them, drawn
    with `seed`. Return None if there are fewer than 3 values, or if all are equal."""
    if len(values) < 3 or values.min() == values.max():
        return None
    if len(values) > SHAPIRO_UP_TO:
        values = np.random.default_rng(seed).choice(values, SHAPIRO_UP_TO, replace=False)
    stats = _stats()
    test = stats.shapiro(values)
    return {"w": float(test.statistic), "p": float(test.pvalue), "n": len(values)}


def mann_whitney(a: Floats, b: Floats) -> MannWhitney:
    """Return the result of Mann and Whitney's two-sided test (1947) with Cureton's effect size (1956). The p is exact
    for samples of up to 8 values without ties. Otherwise it is a normal approximation with corrections for ties and
    continuity."""
    stats = _stats()
    test = stats.mannwhitneyu(a, b, alternative="two-sided", method="auto")
    u = float(test.statistic)
    return MannWhitney(u, float(test.pvalue), 2 * u / (len(a) * len(b)) - 1)


def _stats() -> Any:
    PUBLISHED.require("tests as published")
    from scipy import stats  # imported only here, because it takes long to load and most installations lack it

    return stats


def effect_class(r_rb: float) -> str:
    """Return the class of an effect according to the paper's Table V, or `negligible` for effects below 0.1, for which
    the paper has no word."""
    return next((word for limit, word in EFFECTS if abs(r_rb) >= limit), "negligible")


def decide(test: MannWhitney, difference: float, lower_is_better: bool) -> str:
    """Return the paper's verdict on two levels. It finds a difference if p < 0.05, |r_rb| >= 0.3, and the medians
    differ by at least 10 %."""
    if not test.p < ALPHA:
        return NOT_SIGNIFICANT
    if abs(test.r_rb) < PRACTICAL_EFFECT or abs(difference) < PRACTICAL_DIFFERENCE:
        return NOT_PRACTICAL
    return FASTER if (test.r_rb < 0) == lower_is_better else SLOWER


def kruskal_wallis(groups: Sequence[Floats]) -> tuple[float, float] | None:
    """Return H, corrected for ties, with its p from the chi-squared distribution (Kruskal and Wallis 1952). Return None
    if there are fewer than two groups, if a group is empty, or if all values are equal."""
    if len(groups) < 2 or min(map(len, groups)) == 0:
        return None
    if min(float(g.min()) for g in groups) == max(float(g.max()) for g in groups):
        return None
    stats = _stats()
    test = stats.kruskal(*groups)
    return float(test.statistic), float(test.pvalue)


def intra_run_correlation(runs: Sequence[Floats]) -> float | None:
    """Return the intraclass correlation of log values: the share of their variance that lies between runs (at least 0),
    estimated by analysis of variance (Donner and Koval 1980, Biometrics 36). The paper does not compute this
    correlation, which shows how much information is lost because requests of one run are alike."""
    logs = [np.log(run) for run in runs if len(run)]
    sizes = np.array([len(run) for run in logs])
    total, groups = int(sizes.sum()), len(logs)
    if groups < 2 or total <= groups:
        return None
    grand = float(np.concatenate(logs).mean())
    between = sum(len(run) * (float(run.mean()) - grand) ** 2 for run in logs) / (groups - 1)
    within = sum(float(((run - run.mean()) ** 2).sum()) for run in logs) / (total - groups)
    usual = (total - float((sizes**2).sum()) / total) / (groups - 1)
    variance = between + (usual - 1) * within
    return min(1.0, max(0.0, (between - within) / variance)) if variance > 0 else None


def independent_requests(runs: Sequence[Floats], correlation: float | None) -> float | None:
    """Return the number of independent requests that would give as much information about a mean as the N pooled ones.
    This number is N / (1 + (m - 1) rho), where m is the mean number of requests in a run (Kish's design effect, Survey
    Sampling, 1965)."""
    total = sum(map(len, runs))
    if correlation is None or math.isnan(correlation):
        return None
    return total / (1 + (total / len(runs) - 1) * correlation)
