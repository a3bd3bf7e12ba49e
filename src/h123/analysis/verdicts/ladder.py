"""Computes ladders: comparisons from one level to another in steps that each change one thing. The ratio of the whole
is the product of the steps' ratios.

Within a block, the product of the steps' ratios is exactly the ratio of the whole. The same is true of geometric means
over the same blocks, which are called factors. Each factor has an uncorrected 95 % interval, from Student's t
distribution for the logarithms (Student 1908). The verdict on a step is the verdict on its comparison (verdict.py). The
centre of a comparison gives little weight to outliers, so the product of the steps' centres is only approximately the
centre of the whole. If a factor differs greatly from the centre of its comparison, a few blocks are outliers, and only
the factor gives them full weight.
"""

import math
from collections.abc import Hashable, Sequence
from typing import NotRequired

import numpy as np
from numpy.typing import NDArray
from typing_extensions import TypedDict

from h123.analysis.case import Case
from h123.analysis.comparisons.rows import Cell, JudgedComparison
from h123.analysis.section import Section
from h123.analysis.verdicts.judgement import comparisons
from h123.base.distributions import student_quantile
from h123.study import rungs, split_pair


class Factor(TypedDict):
    """A step of a ladder, or the whole ladder: the geometric mean over the row's blocks with its interval, and the
    estimate and verdict of the comparison."""

    a: str
    b: str
    factor: float | None
    """The geometric mean over the row's blocks. Null if a side failed in a block."""
    low: float | None
    """The lower end of the uncorrected 95 % interval, from Student's t distribution for the logarithms."""
    high: float | None
    ratio: float | None
    verdict: str


class LadderRow(TypedDict):
    """One ladder: the product of the steps' factors is the factor of the whole."""

    cell: Cell
    workload: str
    metric: str
    blocks: int
    whole: Factor
    steps: Sequence[Factor]
    apart: float | None
    """The largest relative distance between a factor and its comparison's estimate."""


CONFIDENCE = 0.95

Floats = NDArray[np.float64]


def ladder(comparisons: Sequence[JudgedComparison], levels: Sequence[str]) -> list[LadderRow]:
    """Return the `ladder` part of verdicts.json: a row for each cell and metric whose pairs have all been compared."""
    if not levels:
        return []
    pairs = [split_pair(pair) for pair in rungs(levels)]
    by_pair = {_place(c, c["a"], c["b"]): c for c in comparisons if not c["twin"]}
    wholes = [c for c in comparisons if (c["a"], c["b"]) == pairs[-1]]
    places = ([_place(c, a, b) for a, b in pairs] for c in wholes)
    return [_row([by_pair[place] for place in sides]) for sides in places if by_pair.keys() >= {*sides}]


def _place(c: JudgedComparison, a: str, b: str) -> Hashable:
    return (tuple(c["cell"].items()), c["metric"], a, b)


def _row(sides: Sequence[JudgedComparison]) -> LadderRow:
    logs = _logs(sides)
    *steps, whole = (_factor(side, of) for side, of in zip(sides, logs, strict=True))
    return {
        "cell": sides[-1]["cell"],
        "workload": sides[-1]["workload"],
        "metric": sides[-1]["metric"],
        "blocks": logs.shape[1],
        "whole": whole,
        "steps": steps,
        "apart": _apart([*steps, whole]),
    }


def _logs(sides: Sequence[JudgedComparison]) -> Floats:
    """Return the logarithms of the ratios, as an array of shape (comparisons, blocks), for the blocks in which every
    comparison has a ratio. Empty if a level failed in some block, because means without that block would favour the
    level that failed."""
    ratios = [{pair["block"]: pair["ratio"] for pair in side["pairs"] if pair["ratio"] is not None} for side in sides]
    incomplete = any(side["blocks"] > len(side["pairs"]) for side in sides)
    common = [] if incomplete else sorted(set.intersection(*map(set, ratios)))
    return np.log(np.array([[of[block] for block in common] for of in ratios], dtype=np.float64))


def _factor(c: JudgedComparison, logs: Floats) -> Factor:
    mean, low, high = _mean(logs)
    return {
        "a": c["a"],
        "b": c["b"],
        "factor": mean,
        "low": low,
        "high": high,
        "ratio": c["ratio"],
        "verdict": c["verdict"],
    }


def _mean(logs: Floats) -> tuple[float | None, float | None, float | None]:
    """Return the geometric mean and the ends of its interval. All three are None if there is no block; the ends are
    None if there is only one."""
    if not logs.size:
        return None, None, None
    middle = float(logs.mean())
    if logs.size == 1:
        return math.exp(middle), None, None
    half = float(student_quantile(logs.size - 1, (1 + CONFIDENCE) / 2) * logs.std(ddof=1) / math.sqrt(logs.size))
    return math.exp(middle), math.exp(middle - half), math.exp(middle + half)


def _apart(factors: Sequence[Factor]) -> float | None:
    """Return the largest relative distance between a factor and the centre of its comparison. None if one of them has
    no value."""
    pairs = [(of["factor"], of["ratio"]) for of in factors]
    offs = [abs(mean / centre - 1) for mean, centre in pairs if mean is not None and centre is not None]
    return max(offs) if len(offs) == len(pairs) else None


class LadderPart(TypedDict):
    ladder: NotRequired[Sequence[LadderRow]]
    """A row for each cell and metric, if the study has a ladder."""


def _compute(case: Case) -> LadderPart:
    return {"ladder": ladder(comparisons(case), case.plan.study.compare.ladder)}


SECTION = Section(LadderPart, _compute)
