"""Computes the values that conditions test in each cell: the ratio of two levels for any metric, or one level's value.

The study need not name the metric, because every trial provides all metrics that can be measured in it. A comparison
for a condition belongs to no family, so its interval is not corrected for multiple tests.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from h123.analysis.audits.exclusions import TIMELESS, exclusions
from h123.analysis.case import Case
from h123.analysis.comparisons.comparison import (
    Cell,
    Pair,
    PairedComparison,
    Values,
    fill,
    in_blocks,
    measured,
    other_cells,
    workload,
)
from h123.analysis.comparisons.rows import JudgedComparison
from h123.analysis.statistics.families import Membership
from h123.analysis.statistics.signedrank import SignedRank
from h123.analysis.statistics.symmetry import LEVEL, SignTest, symmetry
from h123.analysis.verdicts.verdict import judge
from h123.study import METRICS

Number = float | None
_NO_FAMILY = Membership("asked", "none")


class Level(NamedTuple):
    """The central value of a metric over one level's trials in one cell, with an interval."""

    cell: Cell
    values: Sequence[float]
    value: float | None
    low: float | None
    high: float | None
    confidence: float | None
    withheld: str | None
    timeless: bool
    """Whether nothing takes time in the level's trials, so that the value means nothing."""


def condition_ratios(case: Case, metric: str, a: str, b: str) -> list[JudgedComparison]:
    """Return the ratios a / b in the cells whose trials provide the metric."""
    values = Values(case.trials)
    comparisons = [
        _with_shares(fill(_comparison(case, cell, metric, a, b), values, case.plan), case)
        for cell in _cells(case, metric, a, b)
    ]
    return judge(comparisons, case.rule, exclusions(case))


def condition_levels(case: Case, metric: str, level: str) -> list[Level]:
    """Return the values of one level, for each cell."""
    return [_level(case, metric, level, cell) for cell in _cells(case, metric, level)]


def _cells(case: Case, metric: str, *levels: str) -> list[Cell]:
    factor = case.plan.study.compare.factor
    planned = {trial.cell[factor] for trial in case.plan.blocks[0]}
    cells = other_cells(case.plan) if planned.issuperset(levels) else []
    return [cell for cell in cells if measured(case.plan.study, metric, cell, *levels)]


def _comparison(case: Case, cell: Cell, metric: str, a: str, b: str) -> PairedComparison:
    return PairedComparison(cell, workload(case.plan.study, cell, a, b), metric, a, b, False, _NO_FAMILY, [], 0)


def _with_shares(comparison: PairedComparison, case: Case) -> PairedComparison:
    """Return the comparison with the share of each value that may be due to machine noise. The share is known for
    metrics that the study names. For any other metric of requests, use the largest known share."""
    if not METRICS[comparison.metric].of_requests:
        return comparison
    worst: dict[int, float] = {}
    for attempt in case.trials.attempts:
        if comparison.metric not in attempt.shares:
            worst[attempt.block] = max([worst.get(attempt.block, 0.0), *attempt.shares.values()])
    return replace(
        comparison,
        pairs=[replace(pair, share=max(pair.share, worst.get(pair.block, 0.0))) for pair in comparison.pairs],
    )


def _level(case: Case, metric: str, level: str, cell: Cell) -> Level:
    values, worst = Values(case.trials), METRICS[metric].worst
    places = in_blocks(case.plan, {**cell, case.plan.study.compare.factor: level})
    had = {place: value for place in places if (value := values.of(place, metric)) is not None}
    pairs = [Pair(place.block, value, value, values.share(place, metric)) for place, value in had.items()]
    about = _with_shares(replace(_comparison(case, cell, metric, level, level), pairs=pairs), case)
    exclusion = exclusions(case).against(about)
    why = exclusion.why if exclusion else None
    finite = [value for value in had.values() if value != worst or METRICS[metric].zero]
    if failures := len(had) - len(finite):
        why = f"so many requests failed in {failures} of {len(had)} trials that they have no {metric}"
    timeless = exclusion is not None and exclusion.kind == TIMELESS
    return Level(cell, finite, *_middle(finite, case.rule.confidence), why, timeless)


def _middle(values: Sequence[float], confidence: float) -> tuple[Number, Number, Number, Number]:
    """Return the centre of the values, both ends of its interval, and the interval's confidence. Compute them from
    logarithms if all values are above zero."""
    if not values:
        return None, None, None, None
    log = min(values) > 0
    points = [math.log(value) for value in values] if log else list(values)
    lopsided = (symmetric := symmetry(points)) is not None and symmetric <= LEVEL
    estimate = (SignTest(points) if lopsided else SignedRank(points)).estimate(confidence)
    ends = [estimate.centre, estimate.low, estimate.high]
    value, low, high = (None if not math.isfinite(end) else math.exp(end) if log else end for end in ends)
    return value, low, high, estimate.confidence
