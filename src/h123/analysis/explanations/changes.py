"""Computes what each change of a study does to the difference between two levels (`compare.changes` in the study).

A change is a level of the factor that `changes` names. Each trial contributes the same time as in `causes`: the mean
request, or the median visit or recovery. A change removes D0 - D of the difference, where D0 is the difference between
the two levels without any change, and D is the difference with the change, both in the same block.

If a study makes some changes in every combination, their Shapley values divide what all of them remove together: the
value of a change is its mean effect over all orders in which the changes can be made (Shapley 1953).
"""

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NotRequired

import numpy as np
from numpy.typing import NDArray
from typing_extensions import TypedDict

from h123.analysis.case import Case
from h123.analysis.comparisons.rows import Cell, JudgedComparison
from h123.analysis.explanations.causes import (
    CausesPart,
    CausesRow,
    SecondsBetween,
    TrialExplanations,
    explainable_comparisons,
    explained_phase,
    seconds_between,
)
from h123.analysis.explanations.means import Means
from h123.analysis.section import Section
from h123.analysis.statistics.signedrank import share_estimate
from h123.analysis.verdicts.judgement import comparisons
from h123.causes import CAUSES
from h123.study.interventions import INTERVENTIONS

Seconds = NDArray[np.float64]
Levels = Mapping[str, Mapping[str, object]]
"""The parameters that each level of the factor sets."""
REMOVED: Mapping[str, Sequence[str]] = {
    "losses": ("cut", "mending"),
    "queue_limit": ("queue-loss",),
    "cross_traffic": ("cross",),
    "initial_window": ("slow-start",),
    "certificate": ("amplification",),
}
"""For each parameter, the names of the causes that a change to it is expected to remove."""
RELATED: Mapping[str, Sequence[str]] = {
    **REMOVED,
    "round_trip": tuple(cause.name for cause in CAUSES if cause.in_trips or cause.name in ("trip", "window")),
    "pacing": ("queue-loss",),
    "max_datagram": ("rate", "too-large"),
    "min_rto": ("mending",),
    "quick_ack": ("nagle", "idle", "held"),
    "connections": ("cut", "mending", "place", "limit", "connection-limit"),
    "sessions": ("connecting",),
    "congestion": ("cut", "marked", "queue-loss", "window"),
}
"""For each parameter, the names of the causes that a change to it affects. h123 makes a change if these causes
matter."""
LIKELY = 0.05
"""The smallest share of the slower side's time by which one side must spend more time on causes for them to matter."""
_NUMBER = {cause.name: number for number, cause in enumerate(CAUSES)}


class ShareBetween(TypedDict):
    """The share of the difference that a change removes, with an interval over the blocks. A share of 1 is the whole
    difference."""

    share: float
    low: float
    high: float
    confidence: float


class ChangeRow(TypedDict):
    """The effect of one level of the factor."""

    change: str
    """The name of the level."""
    of: Sequence[str]
    """The single changes that the level makes."""
    blocks: int
    a_seconds: float
    """The mean time of level a with the change, in seconds."""
    b_seconds: float
    removed: SecondsBetween
    """The seconds by which the change reduces the difference a minus b."""
    share: NotRequired[ShareBetween]
    """Absent if the difference has no clear direction."""
    expected: NotRequired[SecondsBetween]
    """The part of the difference that `causes` attributes to what the change removes."""


class ShapleyRow(TypedDict):
    """The part of the difference that a change accounts for, over all orders of making the changes."""

    change: str
    seconds: SecondsBetween
    share: NotRequired[ShareBetween]


class ChangesRow(TypedDict):
    """The changes of one comparison."""

    metric: str
    cell: Cell
    """The levels of the other factors."""
    a: str
    b: str
    blocks: int
    trials: int
    """The number of trials behind the row."""
    a_seconds: float
    """The mean time of level a without any change, in seconds."""
    b_seconds: float
    difference: SecondsBetween
    changes: Sequence[ChangeRow]
    shapley: Sequence[ShapleyRow]
    withheld: Mapping[str, str]
    """The levels whose times are not used, with the reasons, such as a failed audit."""


def changes(case: Case, comparisons: Sequence[JudgedComparison]) -> list[ChangesRow]:
    """Return the `changes` part of verdicts.json: a row for each comparison of whole requests or visits without any
    change."""
    study = case.plan.study
    factor = study.compare.changes
    if factor is None:
        return []
    levels = study.factors[factor]
    as_is, explanations = next(iter(levels)), TrialExplanations(case)
    known = list(explainable_comparisons(comparisons))
    rows = [
        row
        for c in known
        if c["cell"].get(factor) == as_is
        and not c["withheld"]
        and (row := _row(c, case.factor, factor, levels, explanations, _withheld(c, known, factor))) is not None
    ]
    explanations.keep()
    return rows


def _withheld(c: JudgedComparison, others: Sequence[JudgedComparison], factor: str) -> dict[str, str]:
    """Return the changes with which this comparison is not judged, each with the reason."""
    same = [
        other
        for other in others
        if (other["metric"], other["a"], other["b"]) == (c["metric"], c["a"], c["b"])
        and {**other["cell"], factor: ""} == {**c["cell"], factor: ""}
    ]
    return {other["cell"][factor]: other["withheld"]["why"] for other in same if other["withheld"]}


def single_changes(levels: Levels) -> dict[str, list[str]]:
    """Return the single changes that each level makes. The first level makes none. A level that sets exactly what
    several others set together makes all their changes."""
    as_is, *others = levels
    singles: list[str] = []
    found: dict[str, list[str]] = {as_is: []}
    for name in others:
        parts = [single for single in singles if levels[single].items() <= levels[name].items()]
        if {parameter for part in parts for parameter in levels[part]} == {*levels[name]}:
            found[name] = parts
        else:
            singles.append(name)
            found[name] = [name]
    return found


def leading_changes(verdicts: CausesPart, pair: str, selection: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the names of the changes that affect a cause of a pair's differences. The changes that matter most to the
    first metric come first. `selection` maps factors to the levels to consider."""
    rows = [
        row
        for row in verdicts.get("causes", [])
        if f"{row['a']}/{row['b']}" == pair
        and all(level in selection.get(factor, [level]) for factor, level in row["cell"].items())
    ]

    def largest(causes: Sequence[str], rows: Sequence[CausesRow]) -> float:
        return max((_share_of(row, causes) for row in rows), default=0.0)

    answer = [row for row in rows if row["metric"] == rows[0]["metric"]]
    related = {each.name: RELATED.get(each.parameter, ()) for each in INTERVENTIONS}
    likely = [name for name, causes in related.items() if largest(causes, rows) >= LIKELY]
    return sorted(likely, key=lambda name: largest(related[name], answer), reverse=True)


def _share_of(row: CausesRow, causes: Sequence[str]) -> float:
    """Return how much more time the causes take on one side than on the other, as a share of the slower side's time."""
    more = sum(part["difference"]["seconds"] for part in row["parts"] if part["cause"] in causes)
    return abs(more) / max(row["a_seconds"], row["b_seconds"])


class _Times:
    def __init__(self, c: JudgedComparison, compared: str, factor: str, explanations: TrialExplanations) -> None:
        phase = explained_phase(c["metric"])
        assert phase
        self._sides = [{**c["cell"], compared: c[side]} for side in ("a", "b")]
        self._factor, self._phase, self._explanations = factor, phase, explanations

    def of(self, level: str) -> dict[int, tuple[Means, Means]]:
        """Return both sides' times with a change, by block. Blocks that lack a side are left out."""
        found = {}
        for block in self._explanations.blocks():
            a, b = (self._explanations.mean(block, {**s, self._factor: level}, self._phase) for s in self._sides)
            if a is not None and b is not None:
                found[block] = (a, b)
        return found


def _row(
    c: JudgedComparison,
    compared: str,
    factor: str,
    levels: Levels,
    explanations: TrialExplanations,
    withheld: Mapping[str, str],
) -> ChangesRow | None:
    times = _Times(c, compared, factor, explanations)
    by_level = {level: {} if level in withheld else times.of(level) for level in levels}
    as_is = by_level[c["cell"][factor]]
    if not as_is:
        return None
    parts = single_changes(levels)
    rows = [
        _change(level, parts[level], as_is, by_level[level], _causes(levels[level]))
        for level in list(levels)[1:]
        if as_is.keys() & by_level[level].keys()
    ]
    a, b = _seconds(as_is, sorted(as_is))
    return {
        "metric": c["metric"],
        "cell": {name: level for name, level in c["cell"].items() if name != factor},
        "a": c["a"],
        "b": c["b"],
        "blocks": len(as_is),
        "trials": 2 * sum(map(len, by_level.values())),
        "a_seconds": float(a.mean()),
        "b_seconds": float(b.mean()),
        "difference": seconds_between(a - b),
        "changes": rows,
        "shapley": list(_shapley(parts, by_level)),
        "withheld": withheld,
    }


def _seconds(times: Mapping[int, tuple[Means, Means]], blocks: Sequence[int]) -> tuple[Seconds, Seconds]:
    a, b = (np.array([sum(times[block][side].seconds) for block in blocks]) for side in (0, 1))
    return a, b


def _causes(level: Mapping[str, object]) -> list[int]:
    return [_NUMBER[cause] for parameter in level for cause in REMOVED.get(parameter, ())]


def _change(
    level: str,
    parts: Sequence[str],
    as_is: Mapping[int, tuple[Means, Means]],
    changed: Mapping[int, tuple[Means, Means]],
    causes: Sequence[int],
) -> ChangeRow:
    blocks = sorted(as_is.keys() & changed.keys())
    (a0, b0), (a, b) = _seconds(as_is, blocks), _seconds(changed, blocks)
    whole = a0 - b0
    removed = whole - (a - b)
    row: ChangeRow = {
        "change": level,
        "of": parts,
        "blocks": len(blocks),
        "a_seconds": float(a.mean()),
        "b_seconds": float(b.mean()),
        "removed": seconds_between(removed),
    }
    if share := _share(removed, whole):
        row["share"] = share
    if causes:
        sides = [[sum(as_is[block][side].seconds[n] for n in causes) for block in blocks] for side in (0, 1)]
        row["expected"] = seconds_between(np.array(sides[0]) - np.array(sides[1]))
    return row


def _share(part: Seconds, whole: Seconds) -> ShareBetween | None:
    found = share_estimate(part, whole)
    if found is None:
        return None
    return {"share": found.centre, "low": found.low, "high": found.high, "confidence": found.confidence}


def _shapley(
    parts: Mapping[str, Sequence[str]], by_level: Mapping[str, Mapping[int, tuple[Means, Means]]]
) -> Iterator[ShapleyRow]:
    """Yield the Shapley values of the largest set of changes that the study makes in every combination."""
    level_of = {frozenset(singles): level for level, singles in parts.items() if by_level[level]}
    complete = [whole for whole in level_of if len(whole) > 1 and all(s in level_of for s in _subsets(whole))]
    if not complete or frozenset() not in level_of:
        return
    whole = max(complete, key=len)
    blocks = sorted(set.intersection(*({*by_level[level_of[s]]} for s in _subsets(whole))))
    if not blocks:
        return
    differences = {}
    for subset in _subsets(whole):
        a, b = _seconds(by_level[level_of[subset]], blocks)
        differences[subset] = a - b
    n, as_is = len(whole), differences[frozenset()]
    for change in [name for name in parts if name in whole]:
        value = np.zeros(len(blocks))
        for before in _subsets(whole - {change}):
            weight = math.factorial(len(before)) * math.factorial(n - len(before) - 1) / math.factorial(n)
            value += weight * (differences[before] - differences[before | {change}])
        row: ShapleyRow = {"change": change, "seconds": seconds_between(value)}
        if share := _share(value, as_is):
            row["share"] = share
        yield row


def _subsets(names: frozenset[str]) -> Iterator[frozenset[str]]:
    for size in range(len(names) + 1):
        yield from map(frozenset, itertools.combinations(sorted(names), size))


class ChangesPart(TypedDict):
    changes: NotRequired[Sequence[ChangesRow]]
    """What each change does to the differences. Absent or empty unless the study has `changes`."""


def _compute(case: Case) -> ChangesPart:
    return {"changes": [] if case.facts.imported else changes(case, comparisons(case))}


SECTION = Section(ChangesPart, _compute)
