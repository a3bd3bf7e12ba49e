"""A ladder: from one level to another in steps, each a change of one thing, so that the whole ratio is their product.

Within a block the ratios of neighbours multiply to the ratio of the ends exactly. Each estimate is the comparison's own
(verdicts.py), so the product of the centres is the whole's only about; a product that is further off than what is
tolerated says that blocks differ too much, or that there are too few, for the steps to be told apart.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from h123.study import rungs, split_pair

Judged = Mapping[str, Any]

TOLERATED = 0.03
"""Of the whole ratio, by which the product of its steps may be off."""
_SIDE = ("a", "b", "blocks", "ratio", "low", "high", "verdict")


def ladder(judged: Sequence[Judged], levels: Sequence[str]) -> list[dict[str, Any]]:
    """The `ladder` of verdicts.json: a row for each cell and metric of which all pairs have been compared."""
    if not levels:
        return []
    pairs = [split_pair(pair) for pair in rungs(levels)]
    found = {_place(c): c for c in judged if not c["twin"]}
    wholes = [c for c in judged if (c["a"], c["b"]) == pairs[-1]]
    places = ([_place({**c, "a": a, "b": b}) for a, b in pairs] for c in wholes)
    return [_row([found[place] for place in sides]) for sides in places if found.keys() >= {*sides}]


def _place(c: Judged) -> tuple[Any, ...]:
    return (tuple(c["cell"].items()), c["metric"], c["a"], c["b"])


def _row(sides: Sequence[Judged]) -> dict[str, Any]:
    *steps, whole = sides
    ratios = [side["ratio"] for side in sides]
    product = off = None
    if all(ratio is not None for ratio in ratios):
        product = math.prod(ratios[:-1])
        off = product / ratios[-1] - 1
    return {
        **{name: whole[name] for name in ("cell", "workload", "metric")},
        "whole": {name: whole[name] for name in _SIDE},
        "steps": [{name: step[name] for name in _SIDE} for step in steps],
        "product": product,
        "off": off,
        "agrees": None if off is None else abs(off) <= TOLERATED,
    }
