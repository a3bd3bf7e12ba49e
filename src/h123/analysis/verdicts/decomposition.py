"""Uses two clocks to find how much of a difference comes from the protocol, and how much from processing.

Under the virtual clock processing takes no time, so the ratio a / b comes from the protocols alone: it is the protocol
part. The ratio under the wall clock is the total. Total / protocol, a ratio of ratios, is the processing part: how much
more processing slows `a` than `b`. Within a block, whose four trials have the same link seed, this equation is exact:

log(a_wall / b_wall) = log(a_virtual / b_virtual) + [log(a_wall / a_virtual) - log(b_wall / b_virtual)]

The total and its two parts are each estimated, tested and corrected like any comparison (verdict.py). Each has its own
centre and interval, so the product of the parts' centres may differ slightly from the total's centre.

Over a plain veth there is nothing to split: the link takes no time, and the few microseconds that pass on the
virtual clock only show how often programs read it.
"""

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TypeVar, cast, get_type_hints

from typing_extensions import TypedDict

from h123.analysis.audits.exclusions import Exclusions, exclusions
from h123.analysis.case import Case
from h123.analysis.comparisons.comparison import (
    Pair,
    PairedComparison,
    Values,
    fill,
    observed_by,
    other_cells,
    workload,
)
from h123.analysis.comparisons.rows import ComparedLevels, EstimateRow, JudgedComparison, TestResult
from h123.analysis.section import Section
from h123.analysis.statistics.families import Membership, membership
from h123.analysis.statistics.rule import Rule
from h123.analysis.trials import TrialSet
from h123.analysis.verdicts.verdict import judge
from h123.study import METRICS, Plan


class CostRow(ComparedLevels, EstimateRow):
    """The ratio of processor times, shown next to the parts. It has no verdict, because no question needs one."""


class PartsRow(ComparedLevels):
    """The parts of a difference that come from the protocol and from processing."""

    total: TestResult
    """The ratio a / b under the wall clock."""
    protocol: TestResult
    """The ratio a / b under the virtual clock."""
    processing: TestResult
    """The ratio total / protocol."""


class Clocks(TypedDict):
    """The factor whose levels are the two clocks, and their names."""

    factor: str
    wall: str
    virtual: str


class PartsOfTime(TypedDict):
    clock: Clocks
    rows: Sequence[PartsRow]
    cpu: Sequence[CostRow]


PARTS = ("total", "protocol", "processing")
Own = TypeVar("Own", TestResult, ComparedLevels, CostRow)


def clocks(plan: Plan) -> Clocks | None:
    """Return the plan's two clocks. None if they are not crossed with the compared factor."""
    for factor, levels in plan.study.factors.items():
        planned = {trial.cell[factor] for trial in plan.blocks[0]}
        level_by_clock = {
            values.get("clock"): name for name, values in levels.items() if name in planned and len(values) == 1
        }
        if factor != plan.study.compare.factor and {"wall", "virtual"} <= level_by_clock.keys():
            return {"factor": factor, "wall": level_by_clock["wall"], "virtual": level_by_clock["virtual"]}
    return None


def decomposition(trials: TrialSet, plan: Plan, rule: Rule, exclusions: Exclusions) -> PartsOfTime | None:
    """Return the `parts` part of verdicts.json, for emulated networks. None if the study does not have both clocks."""
    clock_levels = clocks(plan)
    if clock_levels is None:
        return None
    emulated = [attempt for attempt in trials.attempts if attempt.link.kind == "emulated"]
    values = Values(TrialSet(emulated, trials.failed))
    rows = [_parts(row, clock_levels, values, plan) for row in _time_comparisons(plan, clock_levels)]
    by_part = zip(*(row for row in rows if row[0].pairs), strict=True)
    # Judge each part separately, because a metric repeats an observation within the same part.
    by_row = zip(*(judge(part, rule, exclusions) for part in by_part), strict=True)
    costs = [_cpu(row, clock_levels, values, plan) for row in _bare(plan, clock_levels)]
    return {
        "clock": clock_levels,
        "rows": [_row(row) for row in by_row],
        "cpu": [_own(row, CostRow) for row in judge([row for row in costs if row.pairs], rule, exclusions)],
    }


def _bare(plan: Plan, clock_levels: Clocks) -> Iterator[PairedComparison]:
    """Yield the study's comparisons for the metric `cpu`, without values, in each cell of the factors other than the
    clock."""
    cells = [
        {name: level for name, level in cell.items() if name != clock_levels["factor"]} for cell in other_cells(plan)
    ]
    distinct = [cell for place, cell in enumerate(cells) if cell not in cells[:place]]
    for cell, pair in itertools.product(distinct, plan.pairs):
        a, b = pair.split("/")
        label = workload(plan.study, {**cell, clock_levels["factor"]: clock_levels["wall"]}, a, b)
        yield PairedComparison(cell, label, "cpu", a, b, False, Membership("cpu", "none"), [], 0)


def _time_comparisons(plan: Plan, clock_levels: Clocks) -> Iterator[PairedComparison]:
    """Yield the comparisons of the study's families for metrics of time, under the wall clock and without values.
    Processor time is not divided, because it is all processing and does not exist under the virtual clock."""
    families = plan.study.compare.families
    metrics = dict.fromkeys(metric for family in families for metric in family.metrics)
    timed = [metric for metric in metrics if METRICS[metric].of_requests]
    for metric, row in itertools.product(timed, _bare(plan, clock_levels)):
        if family := membership(
            families, metric, (row.a, row.b), {**row.cell, clock_levels["factor"]: clock_levels["wall"]}
        ):
            same = observed_by(plan, metric, {**row.cell, clock_levels["factor"]: clock_levels["wall"]}, row.a, row.b)
            yield replace(row, metric=metric, family=family, repeats=same)


def _parts(row: PairedComparison, clock_levels: Clocks, values: Values, plan: Plan) -> list[PairedComparison]:
    """Return the total, protocol and processing parts over the blocks that have all four values.

    A part is corrected together with the same part of the other comparisons in its family.
    """
    wall, virtual = (
        _under(clock, row, clock_levels, values, plan) for clock in (clock_levels["wall"], clock_levels["virtual"])
    )
    blocks = [block for block in wall if block in virtual and _divisible(wall[block], virtual[block])]
    pairs = {
        "total": [wall[k] for k in blocks],
        "protocol": [virtual[k] for k in blocks],
        "processing": [Pair(k, wall[k].a / virtual[k].a, wall[k].b / virtual[k].b) for k in blocks],
    }
    families = {part: replace(row.family, name=f"{row.family.name}/{part}") for part in PARTS}
    return [replace(row, family=families[part], pairs=pairs[part]) for part in PARTS]


def _divisible(wall: Pair, virtual: Pair) -> bool:
    """Return whether the wall clock's values can be divided by the virtual clock's: none is zero, and no side
    failed."""
    return all(0 < value < math.inf for pair in (wall, virtual) for value in (pair.a, pair.b))


def _cpu(row: PairedComparison, clock_levels: Clocks, values: Values, plan: Plan) -> PairedComparison:
    """Return the comparison of CPU per request under the wall clock, to show next to the parts."""
    return replace(row, pairs=list(_under(clock_levels["wall"], row, clock_levels, values, plan).values()))


def _under(clock: str, row: PairedComparison, clock_levels: Clocks, values: Values, plan: Plan) -> dict[int, Pair]:
    """Return the comparison's pairs under one clock, by block."""
    filled = fill(replace(row, cell={**row.cell, clock_levels["factor"]: clock}), values, plan)
    return {pair.block: pair for pair in filled.pairs}


def _row(comparisons: Sequence[JudgedComparison]) -> PartsRow:
    """Return the row with the fields that its three parts share, and the result of each part."""
    total, protocol, processing = (_own(part, TestResult) for part in comparisons)
    return {**_own(comparisons[0], ComparedLevels), "total": total, "protocol": protocol, "processing": processing}


def _own(comparison: JudgedComparison, row: type[Own]) -> Own:
    names = get_type_hints(row)
    return cast(Own, {name: value for name, value in comparison.items() if name in names})


class PartsPart(TypedDict):
    parts: PartsOfTime | None
    """Null unless a factor other than the compared one has both clocks as levels."""


def _compute(case: Case) -> PartsPart:
    return {"parts": decomposition(case.trials, case.plan, case.rule, exclusions(case))}


SECTION = Section(PartsPart, _compute)
