"""Defines the order in which comparisons are shown."""

import math
from collections.abc import Iterable, Sequence

from h123.analysis.comparisons.rows import JudgedComparison
from h123.report.text.words import cell_name

MANY_PAIRS = 4
"""The number of pairs above which pairs are the sorted rows of a figure, and cells are its panels."""


def by_ratio(comparisons: Sequence[JudgedComparison]) -> list[JudgedComparison]:
    """Return the comparisons in the order in which a table shows them. If there are many pairs, the comparisons of each
    metric and cell are sorted by ratio."""
    if not many(comparisons):
        return list(comparisons)
    places = {question: place for place, question in enumerate(distinct(map(_question_key, comparisons)))}
    return sorted(comparisons, key=lambda c: (places[_question_key(c)], math.inf if c["ratio"] is None else c["ratio"]))


def many(comparisons: Iterable[JudgedComparison]) -> bool:
    """Return whether the comparisons involve more than MANY_PAIRS pairs of levels."""
    return len({(c["a"], c["b"]) for c in comparisons}) > MANY_PAIRS


def distinct(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))


def _question_key(comparison: JudgedComparison) -> str:
    return f"{comparison['family']}|{comparison['metric']}|{cell_name(comparison['cell'])}"
