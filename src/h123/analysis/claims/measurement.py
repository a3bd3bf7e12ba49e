"""Measures a claim in a campaign: ratios paired within blocks, each with an estimate, an exact interval and a p value.

A claim about several cells is about the mean of their log ratios, which gives one value for each block. For an
interaction, the log ratio of the counterpart cell is subtracted from the log ratio of each cell, block by block. A
claim about one level uses values instead of ratios. Claims of equivalence, `not higher` and `not lower` have one figure
per cell, because they must be true in every cell.
"""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from h123.analysis.audits.exclusions import exclusions
from h123.analysis.case import Case
from h123.analysis.comparisons.comparison import (
    Cell,
    PairedComparison,
    Values,
    fill,
    other_cells,
    pair_values,
    workload,
)
from h123.analysis.statistics.families import Membership
from h123.analysis.statistics.signedrank import IntervalEstimate, SignedRank
from h123.study import ALL_LEVELS, BOUNDED, ENOUGH_FOR_INTERVAL, MeasurableClaim, Plan

_SHOWN = 2
ByBlock = dict[int, float]


@dataclass(frozen=True)
class ClaimEstimate:
    """One estimate for a claim: of a ratio, of a ratio of ratios, or of one level's value."""

    cell: Cell | None
    """The cell of the estimate. None if it is for all of the claim's cells."""
    blocks: int
    estimate: IntervalEstimate | None
    """The estimate of the logarithm. None if there is no block."""
    p: float | None
    """The two-sided p value for the null hypothesis of no difference. For a claim with a margin, it is the p value for
    a difference beyond the margin (for an equivalence, from both one-sided tests)."""


@dataclass(frozen=True)
class ClaimMeasurement:
    """The ratios measured for a claim, and what is missing for a verdict, in words."""

    figures: Sequence[ClaimEstimate]
    lack: str | None
    planned: bool = True
    """Whether the plan measures the whole claim. If so, the claim counts in the correction for multiple tests."""

    @property
    def blocks(self) -> int:
        """The smallest number of blocks behind any of the ratios."""
        return min((figure.blocks for figure in self.figures), default=0)

    @property
    def p(self) -> float | None:
        """The claim's p before correction. For an equivalence, the largest p of any cell (intersection-union test,
        Berger 1982)."""
        p_values = [figure.p for figure in self.figures if figure.p is not None]
        return None if self.lack else max(p_values, default=None)


def claimed_cells(claim: MeasurableClaim, plan: Plan) -> list[Cell]:
    """Return the cells that the claim is about, in the study's order, whether or not the campaign contains them."""
    factors = [factor for factor in plan.study.factors if factor in claim.cells]
    levels = [
        list(plan.study.factors[factor]) if claim.cells[factor] == [ALL_LEVELS] else claim.cells[factor]
        for factor in factors
    ]
    return [dict(zip(factors, combination, strict=True)) for combination in itertools.product(*levels)]


def measure(claim: MeasurableClaim, case: Case) -> ClaimMeasurement:
    """Return the ratios that the campaign measured for a claim, and what is missing for a verdict."""
    plan, cells = case.plan, claimed_cells(claim, case.plan)
    if absent := _absent(claim, cells, plan):
        return ClaimMeasurement([], absent, planned=False)
    values = Values(case.trials)
    ratios = [_log_ratios(claim, cell, values, plan) for cell in cells]
    if claim.direction in BOUNDED:
        figures = [_figure(cell, list(r.values()), claim) for cell, r in zip(cells, ratios, strict=True)]
    else:
        common = [block for block in ratios[0] if all(block in by_block for by_block in ratios)]
        means = _comparable({block: float(np.mean([by_block[block] for by_block in ratios])) for block in common})
        figures = [_figure(None, list(means.values()), claim)]
    if exclusion := _exclusion(claim, cells, case):
        return ClaimMeasurement(figures, f"not judged: {exclusion}")
    measured = ClaimMeasurement(figures, None)
    if measured.blocks >= ENOUGH_FOR_INTERVAL:
        return measured
    by_cell = dict(zip(map(_name, cells), ratios, strict=True))
    return ClaimMeasurement(figures, _too_few(claim, measured.blocks, by_cell, case))


def _exclusion(claim: MeasurableClaim, cells: Sequence[Cell], case: Case) -> str | None:
    """Return why one of the claim's comparisons is not judged, or None."""
    plan, values = case.plan, Values(case.trials)
    for cell in [*cells, *(claim.counterpart(cell) for cell in cells if claim.against)]:
        other_level = claim.b or claim.a
        label = workload(plan.study, cell, claim.a, other_level)
        comparison = PairedComparison(
            cell, label, claim.metric, claim.a, other_level, False, Membership("claims", "holm"), [], 0
        )
        if exclusion := exclusions(case).against(fill(comparison, values, plan)):
            return f"{_name(cell)}: {exclusion.why}" if len(cells) > 1 else exclusion.why
    return None


def _absent(claim: MeasurableClaim, cells: Sequence[Cell], plan: Plan) -> str | None:
    """Describe the part of the claim that the plan does not measure, or return None."""
    compared = plan.study.compare.factor
    planned = {trial.cell[compared] for trial in plan.blocks[0]}
    if unknown := [level for level in (claim.a, claim.b) if level and level not in planned]:
        return f"this campaign has no {compared} {' or '.join(unknown)}"
    plan_cells = other_cells(plan)
    claimed = [*cells, *(claim.counterpart(cell) for cell in cells if claim.against)]
    missing = [_name(cell) for cell in claimed if cell not in plan_cells]
    return f"{len(missing)} of its {len(claimed)} cells are not in this campaign: {_some(missing)}" if missing else None


def _log_ratios(claim: MeasurableClaim, cell: Cell, values: Values, plan: Plan) -> ByBlock:
    """Return log(a / b) by block, or log(a) if the claim has no b. If the claim has a counterpart cell, subtract that
    cell's value."""

    def logs(there: Cell) -> ByBlock:
        if claim.b is None:
            return values.logs(plan, {**there, plan.study.compare.factor: claim.a}, claim.metric)
        pairs, _ = pair_values(values, plan, there, claim.metric, (claim.a, claim.b))
        return {pair.block: pair.log_ratio for pair in pairs}

    here = logs(cell)
    if claim.against is None:
        return here
    there = logs(claim.counterpart(cell))
    return _comparable({block: value - there[block] for block, value in here.items() if block in there})


def _comparable(by_block: ByBlock) -> ByBlock:
    """Return the values without blocks in which both sides failed, because the ratio of two failures is undefined."""
    return {block: value for block, value in by_block.items() if not math.isnan(value)}


def _figure(cell: Cell | None, values: Sequence[float], claim: MeasurableClaim) -> ClaimEstimate:
    if not values:
        return ClaimEstimate(cell, 0, None, None)
    test = SignedRank(values)
    return ClaimEstimate(cell, len(values), test.estimate(), _p(test, claim))


def _p(test: SignedRank, claim: MeasurableClaim) -> float:
    if claim.margin is None:
        return test.p()
    tests = {"equivalent": test.p_equivalent, "not higher": test.p_not_higher, "not lower": test.p_not_lower}
    return tests[claim.direction](claim.margin)


def _too_few(claim: MeasurableClaim, blocks: int, ratios: Mapping[str, ByBlock], case: Case) -> str:
    have = f"{blocks} block{' has' if blocks == 1 else 's have'}"
    sides = f"both {claim.a} and {claim.b}" if claim.b else claim.a
    values = f"{claim.metric} of {sides}" + (" in all its cells" if len(ratios) > 1 else "")
    sentence = f"{have} {values}, a verdict needs {ENOUGH_FOR_INTERVAL}"
    short = [name for name, by_block in ratios.items() if len(by_block) < ENOUGH_FOR_INTERVAL]
    if short and len(ratios) > 1:
        sentence += f"; too few valid trials in {_some(short)}"
    cure = case.rule.remedy.enough(ENOUGH_FOR_INTERVAL, blocks)
    return f"{sentence}: {cure}" if cure else f"{sentence}; no trial has such a value"


def _name(cell: Cell) -> str:
    return " ".join(cell.values())


def _some(names: Sequence[str]) -> str:
    more = len(names) - _SHOWN
    return ", ".join(names[:_SHOWN]) + (f" and {more} more" if more > 0 else "")
