"""A ladder: from one level to another in steps, each a change of one thing, so that the whole ratio is their product.

Within a block the ratios of neighbours multiply to the ratio of the ends exactly. Each estimate is the comparison's own
(verdicts.py), so the product of the centres is the whole's only about; a product that is further off than what is
tolerated says that blocks differ too much, or that there are too few, for the steps to be told apart.
"""

import math
from collections.abc import Hashable, Sequence

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
    ratios = [side["ratio"] for side in sides if side["ratio"] is not None]
    product = off = None
    if len(ratios) == len(sides):
        product = math.prod(ratios[:-1])
        off = product / ratios[-1] - 1
    return {
        "cell": whole["cell"],
        "workload": whole["workload"],
        "metric": whole["metric"],
        "whole": _side(whole),
        "steps": [_side(step) for step in steps],
        "product": product,
        "off": off,
        "agrees": None if off is None else abs(off) <= TOLERATED,
    }


def _side(c: Judged) -> Side:
    return {
        "a": c["a"],
        "b": c["b"],
        "blocks": c["blocks"],
        "ratio": c["ratio"],
        "low": c["low"],
        "high": c["high"],
        "verdict": c["verdict"],
    }
