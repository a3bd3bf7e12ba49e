"""Estimates how precisely each level's 95th and 99th percentiles are known, and from how many requests.

With few requests, a high quantile is the time of one of the slowest requests. This estimate varies a lot, and is too
low on average (by about 7 % with the fewest requests that h123 accepts: 60 for the 95th percentile, 300 for the 99th).
The bias cancels in a ratio only if both levels have tails of the same shape.
"""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NotRequired

import numpy as np
from typing_extensions import TypedDict

from h123.analysis.case import Case, Evidence
from h123.analysis.comparisons.rows import Cell
from h123.analysis.section import Section
from h123.measures import Attempt
from h123.measures.quantiles import ranks
from h123.study import METRICS, Plan
from h123.study.metrics.quantity import RequestTime


class TailRow(TypedDict):
    """A high quantile of latency in a typical trial, with its interval. Both are medians over the treatment's
    trials."""

    metric: str
    cell: Cell
    trials: int
    requests: int
    """The number of requests in the smallest trial, which determines the confidence."""
    value: float | None
    """The median over the treatment's trials."""
    low: float | None
    """The lower end of the exact interval by order statistics. An end is null if failed requests leave no bound."""
    high: float | None
    confidence: float
    fewest: bool
    """Whether there are so few requests that the slowest one determines the upper end of the interval."""


MEDIAN = 0.5
TAILS = {
    name: of.share for name, metric in METRICS.items() if isinstance(of := metric.of, RequestTime) and of.share > MEDIAN
}
"""The high quantiles of latency, by metric."""


def tails(evidence: Evidence, attempts: Sequence[Attempt], plan: Plan) -> list[TailRow]:
    """Return the `tails` part of verdicts.json: one row for each quantile in the study, cell and level."""
    metrics = {metric for family in plan.study.compare.families for metric in family.metrics}
    return [
        row
        for metric, share in TAILS.items()
        if metric in metrics
        for row in _rows(evidence, [a for a in attempts if a.metrics[metric] is not None], metric, share)
    ]


def _rows(evidence: Evidence, attempts: Sequence[Attempt], metric: str, share: float) -> list[TailRow]:
    files = {evidence.of(a) / "samples.parquet": a for a in attempts}
    intervals = evidence.tail_intervals(files, share)
    levels: dict[tuple[tuple[str, str], ...], list[tuple[Attempt, tuple[float, float]]]] = defaultdict(list)
    for file, attempt in files.items():
        if file in intervals and not attempt.twin:
            levels[tuple(attempt.cell.items())].append((attempt, intervals[file]))
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


class TailsPart(TypedDict):
    tails: NotRequired[Sequence[TailRow]]


def _compute(case: Case) -> TailsPart:
    return {"tails": tails(case.evidence, case.attempts, case.plan)}


SECTION = Section(TailsPart, _compute)
