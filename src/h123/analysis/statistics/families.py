"""Defines which comparisons are corrected together for multiple tests, and how."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from h123.analysis.statistics.signedrank import attainable
from h123.study import Family


@dataclass(frozen=True)
class Membership:
    name: str
    correction: str


def membership(
    families: Iterable[Family], metric: str, pair: tuple[str, str], cell: Mapping[str, str]
) -> Membership | None:
    """Return the first family that contains the comparison. If the family lists factors in `each`, every combination of
    their levels has a family of its own, such as `answer/poor`."""
    for family in families:
        is_named = family.pairs is None or "/".join(pair) in ("".join(p.split()) for p in family.pairs)
        if metric in family.metrics and is_named:
            return Membership("/".join([family.name, *(cell[factor] for factor in family.each)]), family.correction)
    return None


def adjust(p: Sequence[float], correction: str) -> list[float]:
    """Return the p values, adjusted for multiple testing with `holm` (Holm 1979) or `bh` (Benjamini and Hochberg
    1995)."""
    values = np.asarray(p, dtype=np.float64)
    if not len(values):
        return []
    order, size = np.argsort(values), len(values)
    if correction == "bh":
        scaled = values[order] * size / np.arange(1, size + 1)
        stepped = np.minimum.accumulate(scaled[::-1])[::-1]
    else:
        stepped = np.maximum.accumulate(values[order] * np.arange(size, 0, -1))
    adjusted = np.empty_like(values)
    adjusted[order] = np.minimum(1.0, stepped)
    return [float(value) for value in adjusted]


def smallest_adjusted(pairs: int, size: int, correction: str) -> float:
    """Return the smallest adjusted p that a comparison with `pairs` pairs can have in a family of `size` comparisons.

    Holm's method multiplies the smallest p by the family's size, whatever the other p values are. Benjamini and
    Hochberg's method can leave the smallest p unchanged if all others are just as small.
    """
    return min(1.0, attainable(pairs) * (size if correction == "holm" else 1))


def blocks_needed(size: float, correction: str, alpha: float) -> int:
    """Return the smallest number of blocks with which a verdict is possible in a family of `size` comparisons."""
    factor = size if correction == "holm" else 1
    return max(2, math.ceil(math.log2(2 * factor / alpha)))
