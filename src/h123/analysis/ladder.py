"""A ladder: from one level to another in steps, each a change of one thing, so that the whole ratio is their product.

Within a block the ratios of neighbours multiply to the ratio of the ends exactly, and so do geometric means over
blocks. Each estimate is the comparison's own (verdicts.py), a centre that single blocks cannot move, so the product of
the centres is the whole's only about. A product that is further off than what is tolerated says that blocks differ too
much, or that there are too few, for the steps to be told apart: then the means say what the whole is made of, with such
blocks in them.
"""

import math
from collections.abc import Hashable, Sequence
from statistics import fmean

from h123.analysis.document import Judged, LadderRow, Side
from h123.study import rungs, split_pair

TOLERATED = 0.03
"""Of the whole ratio, by which the product of its steps may be off."""


def ladder(judged: Sequence[Judged], levels: Sequence[str]) -> list[LadderRow]:
    """The `ladder` of verdicts.json: a row for each cell and metric of which all pairs have been compared."""
    if not levels:
        return []
    pairs = [split_pair(pair) for pair in rungs(levels)]
    found = {_place(c, c["a"], c["b"]): c for c in judged if not c["twin"]}
    wholes = [c for c in judged if (c["a"], c["b"]) == pairs[-1]]
    places = ([_place(c, a, b) for a, b in pairs] for c in wholes)
    return [_row([found[place] for place in sides]) for sides in places if found.keys() >= {*sides}]


def _place(c: Judged, a: str, b: str) -> Hashable:
    return (tuple(c["cell"].items()), c["metric"], a, b)


def _row(sides: Sequence[Judged]) -> LadderRow:
    *steps, whole = sides
    means = _means(sides)
    ratios = [side["ratio"] for side in sides if side["ratio"] is not None]
    product = off = None
    if len(ratios) == len(sides):
        product = math.prod(ratios[:-1])
        off = product / ratios[-1] - 1
    return {
        "cell": whole["cell"],
        "workload": whole["workload"],
        "metric": whole["metric"],
        "whole": _side(whole, means[-1]),
        "steps": [_side(step, mean) for step, mean in zip(steps, means[:-1], strict=True)],
        "product": product,
        "off": off,
        "agrees": None if off is None else abs(off) <= TOLERATED,
    }


def _means(sides: Sequence[Judged]) -> list[float | None]:
    """Geometric means of the ratios in the blocks in which all have one."""
    logs = [
        {pair["block"]: math.log(pair["ratio"]) for pair in side["pairs"] if pair["ratio"] is not None}
        for side in sides
    ]
    common = set.intersection(*map(set, logs))
    return [math.exp(fmean(of[block] for block in common)) if common else None for of in logs]


def _side(c: Judged, mean: float | None) -> Side:
    return {
        "a": c["a"],
        "b": c["b"],
        "blocks": c["blocks"],
        "ratio": c["ratio"],
        "mean": mean,
        "low": c["low"],
        "high": c["high"],
        "verdict": c["verdict"],
    }
