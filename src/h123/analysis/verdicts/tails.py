"""Tails: how well each level's 95th and 99th percentiles are known, and from how many requests.

With few requests a quantile far out is one of the slowest few of them: it varies much, and lies too low (with the
fewest that h123 takes, 60 and 300, by some 7 %). That cancels in a ratio only if both levels have tails of one shape.
"""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from h123.analysis.document import TailRow
from h123.measures import Attempt
from h123.measures.quantiles import intervals, ranks
from h123.store import CampaignFolder
from h123.study import METRICS, Plan
from h123.study.metrics.observed import Times

MEDIAN = 0.5
TAILS = {name: of.share for name, metric in METRICS.items() if isinstance(of := metric.of, Times) and of.share > MEDIAN}
"""Quantiles of latency far out, by metric."""


def tails(folder: CampaignFolder, attempts: Sequence[Attempt], plan: Plan) -> list[TailRow]:
    """The `tails` of verdicts.json: a row for each quantile that the study asks, each cell and level, of its typical
    trial: medians over the trials of the value and of both ends of its interval."""
    asked = {metric for family in plan.study.compare.families for metric in family.metrics}
    return [
        row
        for metric, share in TAILS.items()
        if metric in asked
        for row in _rows(folder, [a for a in attempts if a.metrics[metric] is not None], metric, share)
    ]


def _rows(folder: CampaignFolder, attempts: Sequence[Attempt], metric: str, share: float) -> list[TailRow]:
    files = {folder.trial(a.trial, a.attempt) / "samples.parquet": a for a in attempts}
    found = intervals(folder, files, share)
    levels: dict[tuple[tuple[str, str], ...], list[tuple[Attempt, tuple[float, float]]]] = defaultdict(list)
    for file, attempt in files.items():
        if file in found and not attempt.twin:
            levels[tuple(attempt.cell.items())].append((attempt, found[file]))
    return [_row(dict(cell), trials, metric, share) for cell, trials in levels.items()]


def _row(
    cell: Mapping[str, str], trials: Sequence[tuple[Attempt, tuple[float, float]]], metric: str, share: float
) -> TailRow:
    requests = min(attempt.summary.warm for attempt, _ in trials)
    between = ranks(requests, share)
    assert between  # each of them has an interval
    values = [(attempt.metrics[metric] or 0.0, low, high) for attempt, (low, high) in trials]
    value, low, high = (_finite(float(np.median(column))) for column in zip(*values, strict=True))
    return {
        "metric": metric,
        "cell": cell,
        "trials": len(trials),
        "requests": requests,
        "value": value,
        "low": low,
        "high": high,
        "confidence": between.confidence,
        "fewest": between.high == requests,
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
