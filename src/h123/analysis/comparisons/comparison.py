"""Defines comparisons: which levels of the compared factor are compared in which cells, with their values paired by
block."""

import itertools
import math
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import median

from h123.analysis.case import Case, once
from h123.analysis.comparisons.repeats import repeated
from h123.analysis.statistics.families import Membership, membership
from h123.analysis.trials import Treated, TrialSet, treated
from h123.measures import Attempt
from h123.study import METRICS, Metric, Plan, Study
from h123.study.workload import WorkloadKind

TWINS = Membership("twins", "none")
"""The family of A/A comparisons. They test no hypothesis, but show how often a test rejects although nothing
differs."""

Cell = dict[str, str]


@dataclass(frozen=True)
class Pair:
    """The values of one metric at both levels in one block. A level that failed has the value `Metric.worst`."""

    block: int
    a: float
    b: float
    share: float = 0.0
    """The share of a value that may be due to machine noise, 0 to 1: the larger of the two levels' shares."""

    @property
    def log_ratio(self) -> float:
        """The logarithm of a / b. It is infinite if one level failed."""
        return _log(self.a) - _log(self.b)

    @property
    def whole(self) -> bool:
        return math.isfinite(self.log_ratio)


def _log(value: float) -> float:
    return math.log(value) if value > 0 else -math.inf


@dataclass(frozen=True)
class PairedComparison:
    """A comparison of level `a` with level `b` of the compared factor, for one metric and in one cell of the other
    factors."""

    cell: Cell
    workload: str
    metric: str
    a: str
    b: str
    twin: bool
    family: Membership
    pairs: Sequence[Pair]
    one_sided: int
    """The number of blocks in which only one level has a value. These blocks are not among the pairs."""
    repeats: str | None = None
    """The metric that this comparison's metric repeats (repeats.py)."""

    @property
    def failed(self) -> dict[str, list[int]]:
        """For each level, `a` and `b`, the blocks in which only that level failed. These blocks are among the pairs,
        with the worst value for that level."""
        worst = METRICS[self.metric].worst
        return {
            "a": [pair.block for pair in self.pairs if pair.a == worst],
            "b": [pair.block for pair in self.pairs if pair.b == worst],
        }


class Values:
    """The values of all trials, by block and treatment."""

    def __init__(self, trials: TrialSet) -> None:
        self._failed = trials.failed
        self._attempts: dict[Treated, list[Attempt]] = defaultdict(list)
        for attempt in trials.attempts:
            self._attempts[treated(attempt)].append(attempt)

    def of(self, place: Treated, metric: str) -> float | None:
        """Return the trial's value, or None if it has none. If imported samples have several runs in one block, return
        their median."""
        worst = METRICS[metric].worst
        if place in self._failed:
            return worst if METRICS[metric].of_requests else None
        values = [value for run in self._attempts.get(place, []) if (value := run.metrics[metric]) is not None]
        if worst in values:
            return worst
        # A ratio needs two positive numbers, unless the metric can be zero.
        least = 0.0 if METRICS[metric].zero else math.nextafter(0, 1)
        return float(median(values)) if values and min(values) >= least else None

    def logs(self, plan: Plan, cell: Cell, metric: str) -> dict[int, float]:
        """Return the logarithms of a treatment's values, by block. `cell` names the treatment."""
        by_block = {place.block: self.of(place, metric) for place in in_blocks(plan, cell)}
        return {block: _log(value) for block, value in by_block.items() if value is not None}

    def share(self, place: Treated, metric: str) -> float:
        """Return the share of the trial's value that may be due to machine noise, or 0 if it is unknown. If imported
        samples have several runs in one block, return the largest share."""
        return max((run.shares.get(metric, 0.0) for run in self._attempts.get(place, [])), default=0.0)


def in_blocks(plan: Plan, cell: Cell, *, twin: bool = False) -> list[Treated]:
    """Return the trials of the treatment that `cell` names, one for each block of the plan."""
    levels = tuple(sorted(cell.items()))
    return [Treated(block, levels, twin) for block in range(1, len(plan.blocks) + 1)]


def compare(trials: TrialSet, plan: Plan, *, unknown: Collection[str] = ()) -> list[PairedComparison]:
    """Return all comparisons of the study's families, then the A/A comparisons, each with its values.

    `unknown` are parameters for which the study has only a placeholder (imported samples).
    """
    values = Values(trials)
    return [fill(comparison, values, plan) for comparison in declared(plan, unknown)]


@once
def compared(case: Case) -> list[PairedComparison]:
    return compare(case.trials, case.plan, unknown=case.unknown)


def declared(plan: Plan, unknown: Collection[str] = ()) -> Iterator[PairedComparison]:
    """Yield the comparisons that the plan contains, without values. Cells that provide the metrics of the first family
    come first, because this family answers the question. The A/A comparisons come last."""
    study, compare = plan.study, plan.study.compare
    metrics = list(dict.fromkeys(metric for family in compare.families for metric in family.metrics))
    pairs = [tuple(part.strip() for part in pair.split("/")) for pair in plan.pairs]
    asked = list(itertools.product(compare.families[0].metrics, pairs))
    cells = sorted(other_cells(plan), key=lambda cell: not any(measured(study, m, cell, a, b) for m, (a, b) in asked))
    for cell, metric, (a, b) in itertools.product(cells, metrics, pairs):
        family = membership(compare.families, metric, (a, b), cell)
        if family and measured(study, metric, cell, a, b):
            label, same = workload(study, cell, a, b, unknown), observed_by(plan, metric, cell, a, b)
            yield PairedComparison(cell, label, metric, a, b, False, family, [], 0, same)
    twin = compare.twin
    for cell, metric in itertools.product(cells if any(trial.twin for trial in plan.blocks[0]) else [], metrics):
        if measured(study, metric, cell, twin):
            label, same = workload(study, cell, twin, twin, unknown), observed_by(plan, metric, cell, twin, twin)
            yield PairedComparison(cell, label, metric, twin, twin, True, TWINS, [], 0, same)


def observed_by(plan: Plan, metric: str, cell: Cell, a: str, b: str) -> str | None:
    """Return the study's first metric that is computed from the same observation as `metric` (for example latency, if
    `metric` is goodput in a closed loop). None if `metric` is the only one or the first."""
    study, families, twin = plan.study, plan.study.compare.families, a == b
    metrics = [
        name for family in families for name in family.metrics if twin or membership(families, name, (a, b), cell)
    ]
    sides = (study.parameters({**cell, study.compare.factor: level}) for level in (a, b))
    return repeated(metric, metrics, sides)


def measured(study: Study, metric: str, cell: Cell, *levels: str) -> bool:
    """Return whether trials of the cell provide the metric."""
    sides = [study.parameters({**cell, study.compare.factor: level}) for level in levels]
    if METRICS[metric].needs.counterpart and any(side.losses != "one" for side in sides):
        return False
    if not all(_gives(side.workload, METRICS[metric]) for side in sides):
        return False
    return {side.clock for side in sides} <= {*METRICS[metric].clocks}


def _gives(work: WorkloadKind, metric: Metric) -> bool:
    """Return whether the workload has the kind of requests that the metric measures."""
    rows = work.rows()
    visits = work.visit() is not None or not metric.of_visits
    return visits and (rows is None or rows["cold"] > 0 or "cold" not in metric.needs.client)


def other_cells(plan: Plan) -> list[Cell]:
    """Return the planned combinations of the other factors' levels, in the study's order."""
    compared, factors = plan.study.compare.factor, plan.study.factors
    planned = {tuple(sorted((f, v) for f, v in t.cell.items() if f != compared)) for t in plan.blocks[0]}
    others = [factor for factor in factors if factor != compared]
    crossed = (dict(zip(others, levels, strict=True)) for levels in itertools.product(*(factors[f] for f in others)))
    return [cell for cell in crossed if tuple(sorted(cell.items())) in planned]


def fill(comparison: PairedComparison, values: Values, plan: Plan) -> PairedComparison:
    """Return the comparison with the values of its trials."""
    c = comparison
    pairs, one_sided = pair_values(values, plan, c.cell, c.metric, (c.a, c.b), twin=c.twin)
    return replace(comparison, pairs=pairs, one_sided=one_sided)


def pair_values(
    values: Values, plan: Plan, cell: Cell, metric: str, levels: tuple[str, str], *, twin: bool = False
) -> tuple[list[Pair], int]:
    """Return both levels' values in one cell for each block, and the number of blocks in which only one has a value.

    `twin`: the second level's values come from the A/A twin.
    """
    compared, (first, second) = plan.study.compare.factor, levels
    sides = in_blocks(plan, {**cell, compared: first}), in_blocks(plan, {**cell, compared: second}, twin=twin)
    pairs, one_sided = [], 0
    for there, partner in zip(*sides, strict=True):
        a, b = values.of(there, metric), values.of(partner, metric)
        if a is not None and b is not None:
            # If both failed, or both are zero, neither is better.
            if a != b or math.isfinite(_log(a)):
                share = max(values.share(there, metric), values.share(partner, metric))
                pairs.append(Pair(there.block, a, b, share))
        elif a is not None or b is not None:
            one_sided += 1
    return pairs, one_sided


def workload(study: Study, cell: Cell, a: str, b: str, unknown: Collection[str] = ()) -> str:
    """Describe the requests, for example as `GET 100 kB`. If they differ between the levels, describe both."""
    parameters = (study.parameters({**cell, study.compare.factor: level}) for level in (a, b))
    return " / ".join(dict.fromkeys(p.workload.label(unknown) for p in parameters))
