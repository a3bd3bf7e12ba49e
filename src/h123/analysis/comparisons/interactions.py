"""Estimates interactions, which show whether the compared factor's effect depends on other factors. The estimates come
from a model of all trials, clustered by block.

The model describes log(metric) by its cell means (compared factor * other factors), from the values of all trials in
complete blocks. An interaction is a contrast of these means: a / b at one level of another factor, divided by a / b at
that factor's first level, averaged over the remaining factors. With two other factors at once, it is the ratio of two
such ratios. The covariance is cluster-robust by block (Liang and Zeger 1986), with t on blocks - 1 degrees of freedom.
For complete data, this is the t test on the contrast of each block, except that the small-sample correction for n
values and k cells makes its standard error sqrt((n - 1) / (n - k)) times as large. With few blocks it is therefore
conservative.
"""

import itertools
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from statistics import median

import numpy as np
from numpy.typing import NDArray
from typing_extensions import TypedDict

from h123.analysis.case import Case
from h123.analysis.comparisons.repeats import repeated
from h123.analysis.section import Section
from h123.analysis.statistics.families import adjust
from h123.analysis.statistics.signedrank import ratio_of
from h123.base.distributions import student_cdf, student_quantile
from h123.measures import Attempt
from h123.study import Plan


class Contrasted(TypedDict):
    level: str
    against: str


class Interaction(TypedDict):
    """An estimate of how a difference depends on other factors."""

    metric: str
    a: str
    b: str
    term: Mapping[str, Contrasted]
    """For each factor, the level and the level with which it is compared."""
    blocks: int
    ratio: float | None
    low: float | None
    high: float | None
    confidence: float
    p: float


class InteractionRow(Interaction):
    p_adjusted: float
    """The p value, adjusted with Benjamini and Hochberg's method over all rows."""
    family_size: int


Floats = NDArray[np.float64]
Levels = dict[str, list[str]]
_Index = dict[tuple[int, tuple[str, ...]], list[Mapping[str, float | None]]]

ENOUGH_BLOCKS = 3
"""The smallest number of blocks for an estimate. With two, the standard errors would have a single degree of
freedom."""
MOST_FACTORS = 2
"""The largest number of other factors in one term. A term with more factors could not be explained in words."""


@dataclass(frozen=True)
class _Term:
    """A contrast: how the compared factor's ratio a / b differs between two levels of each factor in `others`."""

    a: str
    b: str
    others: dict[str, tuple[str, str]]

    def weights(self, factor: str, levels: Levels) -> Floats:
        """Return one weight for each cell, in the order of itertools.product over `levels`."""
        parts = [
            _contrast(names, *((self.a, self.b) if name == factor else self.others[name]))
            if name == factor or name in self.others
            else np.full(len(names), 1 / len(names))
            for name, names in levels.items()
        ]
        return reduce(np.kron, parts)


def interactions(attempts: Iterable[Attempt], plan: Plan, alpha: float) -> list[InteractionRow]:
    """Return the `interactions` part of verdicts.json: every term for every metric of the study, with
    Benjamini-Hochberg's correction over all rows. Metrics that only repeat another metric are left out. Empty if no
    other factor varies, or with fewer than 3 complete blocks."""
    compared = plan.study.compare
    levels = _levels(plan)
    index: _Index = defaultdict(list)
    for attempt in attempts:
        if not attempt.twin:
            index[attempt.block, tuple(attempt.cell[name] for name in levels)].append(attempt.metrics)
    metrics = dict.fromkeys(metric for family in compared.families for metric in family.metrics)
    terms = list(_terms(compared.factor, levels, [tuple(pair.split("/")) for pair in plan.pairs]))
    rows: list[Interaction] = []
    trials = [trial.parameters for trial in plan.blocks[0]]
    for metric in metrics if terms else ():
        if repeated(metric, list(metrics), trials):
            continue
        table = _complete(index, list(itertools.product(*levels.values())), metric)
        if len(table) >= ENOUGH_BLOCKS:
            rows += _fit(table, terms, compared.factor, levels, metric, alpha)
    adjusted = adjust([row["p"] for row in rows], "bh")
    return [{**row, "p_adjusted": p, "family_size": len(rows)} for row, p in zip(rows, adjusted, strict=True)]


def _levels(plan: Plan) -> Levels:
    planned = {factor: {trial.cell[factor] for trial in plan.blocks[0]} for factor in plan.study.factors}
    return {factor: [name for name in plan.study.factors[factor] if name in planned[factor]] for factor in planned}


def _terms(factor: str, levels: Levels, pairs: Sequence[Sequence[str]]) -> Iterator[_Term]:
    others = [name for name, names in levels.items() if name != factor and len(names) > 1]
    for count in range(1, MOST_FACTORS + 1):
        for varied_factors, (a, b) in itertools.product(itertools.combinations(others, count), pairs):
            for levels_of_term in itertools.product(*(levels[name][1:] for name in varied_factors)):
                yield _Term(
                    a, b, {n: (level, levels[n][0]) for n, level in zip(varied_factors, levels_of_term, strict=True)}
                )


def _contrast(names: list[str], first: str, second: str) -> Floats:
    return np.array([float(name == first) - float(name == second) for name in names])


def _complete(index: _Index, cells: list[tuple[str, ...]], metric: str) -> Floats:
    """Return log(metric), as an array of shape (blocks, cells), for blocks in which every cell has a positive value. If
    imported samples have several runs of a cell in a block, use their median."""
    by_block: dict[int, dict[tuple[str, ...], float]] = defaultdict(dict)
    for (block, cell), runs in index.items():
        values = [value for metrics in runs if (value := metrics[metric]) is not None]
        if values and min(values) > 0 and max(values) < math.inf:
            by_block[block][cell] = math.log(median(values))
    rows = [
        [value_by_cell[cell] for cell in cells]
        for _, value_by_cell in sorted(by_block.items())
        if len(value_by_cell) == len(cells)
    ]
    return np.array(rows)


def _fit(
    table: Floats, terms: Sequence[_Term], factor: str, levels: Levels, metric: str, alpha: float
) -> list[Interaction]:
    """Return the estimates and p values of all terms from one model. Return nothing for a metric whose values never
    vary."""
    blocks, cells = table.shape
    longer = math.sqrt((table.size - 1) / (table.size - cells))
    reach = -student_quantile(blocks - 1, alpha / 2)
    rows: list[Interaction] = []
    for term in terms:
        contrasts = table @ term.weights(factor, levels)
        effect, error = contrasts.mean(), longer * contrasts.std(ddof=1) / math.sqrt(blocks)
        if error == 0:
            continue
        rows.append(
            {
                "metric": metric,
                "a": term.a,
                "b": term.b,
                "term": {name: {"level": level, "against": first} for name, (level, first) in term.others.items()},
                "blocks": blocks,
                "ratio": ratio_of(float(effect)),
                "low": ratio_of(float(effect - reach * error)),
                "high": ratio_of(float(effect + reach * error)),
                "confidence": 1 - alpha,
                "p": 2 * student_cdf(blocks - 1, -abs(float(effect / error))),
            }
        )
    return rows


class InteractionsPart(TypedDict):
    interactions: Sequence[InteractionRow]
    """Whether ratios depend on another factor: a row for each metric, pair and term."""


def _compute(case: Case) -> InteractionsPart:
    return {"interactions": interactions(case.attempts, case.plan, case.rule.alpha)}


SECTION = Section(InteractionsPart, _compute)
