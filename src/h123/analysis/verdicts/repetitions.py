"""Reports metrics that repeat the observation of another metric (comparisons/repeats.py), and how closely the two
metrics agree."""

from collections.abc import Sequence
from typing import NotRequired

import numpy as np
from typing_extensions import TypedDict

from h123.analysis.case import Case
from h123.analysis.comparisons.rows import Cell, JudgedComparison
from h123.analysis.section import Section
from h123.analysis.verdicts.judgement import comparisons


class RepeatsRow(TypedDict):
    """A metric that repeats another metric's observation, and the correlation of the two."""

    metric: str
    of: str
    comparisons: int
    correlation: float | None
    """The median correlation of the two metrics' log ratios; null below 6 blocks."""


FEWEST = 6
"""The fewest pairs for a correlation."""


def repeats(comparisons: Sequence[JudgedComparison]) -> list[RepeatsRow]:
    """Return the `repeats` part of verdicts.json: which metric repeats which, and the correlation of their ratios."""
    rows: list[RepeatsRow] = []
    for metric, of in dict.fromkeys((c["metric"], of) for c in comparisons if (of := c["repeats"])):
        mine = [c for c in comparisons if c["metric"] == metric and c["repeats"] == of]
        correlations = [r for c in mine if (r := _correlation(c, _original(c, comparisons))) is not None]
        typical = float(np.median(correlations)) if correlations else None
        rows.append({"metric": metric, "of": of, "comparisons": len(mine), "correlation": typical})
    return rows


def _original(c: JudgedComparison, comparisons: Sequence[JudgedComparison]) -> JudgedComparison:
    return next(o for o in comparisons if o["metric"] == c["repeats"] and _between(o) == _between(c))


def _between(c: JudgedComparison) -> tuple[Cell, str, str, bool]:
    return c["cell"], c["a"], c["b"], c["twin"]


def _correlation(c: JudgedComparison, original: JudgedComparison) -> float | None:
    """Return Pearson's correlation of the logarithms of the blocks' ratios."""
    first, second = (
        {pair["block"]: pair["ratio"] for pair in comparison["pairs"] if pair["ratio"]} for comparison in (c, original)
    )
    both = np.log([(first[block], second[block]) for block in first if block in second])
    if len(both) < FEWEST or not np.all(both.std(axis=0) > 0):
        return None
    return float(np.corrcoef(both.T)[0, 1])


class RepeatsPart(TypedDict):
    repeats: NotRequired[Sequence[RepeatsRow]]


def _compute(case: Case) -> RepeatsPart:
    return {"repeats": repeats(comparisons(case))}


SECTION = Section(RepeatsPart, _compute)
