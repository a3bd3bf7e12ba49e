"""The answer to a study's question, as data: for each cell the compared levels' values, and which of them is best.

The terminal and the page show the same. Values are medians over the trials, twins left out.
"""

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from h123.analysis import headline
from h123.report.words import cell_name, level, listed
from h123.study import Metric, metric

Judged = Mapping[str, Any]

_SHOWN = 3
_ENOUGH_TO_READ = 6


@dataclass(frozen=True)
class Best:
    """Which level is best at one metric in one cell: `levels`, or nobody knows `between` which (empty: between all)."""

    levels: Sequence[str]
    between: Sequence[str] = ()

    @property
    def said(self) -> str:
        """`HTTP/1.1`, `HTTP/1.1 and HTTP/3 alike`, `no clear winner: HTTP/1.1 or HTTP/2` (of more than these)."""
        if self.levels:
            return f"{listed([level(name) for name in self.levels], 'and')}{' alike' if len(self.levels) > 1 else ''}"
        if not self.between:
            return "no clear winner"
        names = [level(name) for name in self.between]
        if len(names) > _SHOWN:
            names = [*names[: _SHOWN - 1], f"{len(names) - _SHOWN + 1} others"]
        return f"no clear winner: {listed(names, 'or')}"


@dataclass(frozen=True)
class Row:
    """One cell of the other factors."""

    cell: Mapping[str, str]
    warm: Mapping[str, float | None]
    cold: Mapping[str, float | None]
    """By level; empty where the study does not measure it."""
    best: Best
    best_cold: Best

    @property
    def said(self) -> str:
        """Who is best; of cold requests too, where that is another."""
        other = self.cold and self.best_cold.levels and set(self.best_cold.levels) != set(self.best.levels)
        return self.best.said + (f"; cold {self.best_cold.said}" if other else "")


@dataclass(frozen=True)
class Answer:
    """The answer by one metric of the question: a row for each cell, a column for each level."""

    metric: Metric
    cold: Metric | None
    workload: str
    """Empty where it varies."""
    levels: Sequence[str]
    rows: Sequence[Row]

    @property
    def title(self) -> str:
        """`Latency of GET 100 kB, median over the trials; in brackets cold, handshake included. *: fastest`."""
        of = f" of {self.workload}" if self.workload else ""
        cold = "; in brackets cold, handshake included" if self.cold else ""
        return f"{self.metric.title}{of}, median over the trials{cold}. *: {self.metric.words.best}"

    @property
    def tally(self) -> str:
        """How often each level is best, where the rows are many: `Fastest: HTTP/1.1 in 30 of 44; ...`; else empty."""
        if len(self.rows) <= _ENOUGH_TO_READ:
            return ""
        counted = Counter(row.best.said if row.best.levels else "no clear winner" for row in self.rows)
        named = [f"{said} in {count} of {len(self.rows)}" for said, count in counted.most_common()]
        return f"{self.metric.words.best.capitalize()}: {'; '.join(named)}."

    def value(self, row: Row, name: str) -> str:
        """`62.3 ms* (130 ms)`: the star is on what is best."""
        shown = self.metric.format(row.warm.get(name)) + "*" * (name in row.best.levels)
        if self.cold is None:
            return shown
        return f"{shown} ({self.cold.format(row.cold.get(name))}{'*' * (name in row.best_cold.levels)})"

    def ranked(self, row: Row) -> list[str]:
        """The row's levels with values, the best first."""
        return [name for name in _ranked(row.warm, self.metric) if row.warm[name] is not None]

    def name(self, row: Row) -> str:
        """The cell's name, or the workload where nothing else varies."""
        return cell_name(row.cell) or self.workload


def answers(verdicts: Mapping[str, Any]) -> list[Answer]:
    """The answer by each metric of the study's first family; none where no trial has a value of it."""
    asked = list(dict.fromkeys(c["metric"] for c in headline(verdicts["comparisons"])))
    measured = {c["metric"] for c in verdicts["comparisons"]}
    beside = {metric(name).cold for name in asked}
    found = (
        _answer(verdicts, name, cold if (cold := metric(name).cold) in measured else None)
        for name in asked
        if name not in beside
    )
    return [answer for answer in found if any(value is not None for row in answer.rows for value in row.warm.values())]


def best(levels: Sequence[str], compared: Sequence[Judged], unanswered: Collection[str] = ()) -> Best:
    """The best of `levels` by the verdicts of one metric in one cell, whatever family they are of.

    That is the level that the verdicts call better than every level that it was compared with; those that are
    equivalent to it share the mark. All others must have been called worse than some level. Where a comparison that
    this needs is missing or inconclusive there is no clear winner between those that nothing was better than; of one
    alone, between it and those that cannot be told from it. A level that is `unanswered`, which failed in every block,
    is worse than all others, though nothing is said of its times.
    """
    judged = [c for c in compared if not c["twin"]]
    worse = {c["b"] if c["verdict"] == "faster" else c["a"] for c in judged if c["verdict"] in ("faster", "slower")}
    worse |= {*unanswered}
    judged = [c for c in judged if not {c["a"], c["b"]} & {*unanswered}]
    unbeaten = [name for name in levels if name not in worse]
    for leader in unbeaten:
        if not _against(leader, judged, "inconclusive") and judged:
            alike = {leader} | _against(leader, judged, "equivalent")
            if alike.issuperset(unbeaten):
                return Best(unbeaten)
    alone = unbeaten[0] if len(unbeaten) == 1 else None
    rivals = {*unbeaten, *(_against(alone, judged, "inconclusive") if alone else ())}
    return Best((), [name for name in levels if name in rivals] if 0 < len(rivals) < len(levels) else ())


def _against(name: str, judged: Sequence[Judged], verdict: str) -> set[str]:
    """The other sides of the level's comparisons that have this verdict."""
    pairs = [(c["a"], c["b"]) for c in judged if c["verdict"] == verdict and name in (c["a"], c["b"])]
    return {b if a == name else a for a, b in pairs}


def _answer(verdicts: Mapping[str, Any], warm: str, cold: str | None) -> Answer:
    factor, comparisons = verdicts["factor"], [c for c in verdicts["comparisons"] if c["metric"] in (warm, cold)]
    cells = list(dict.fromkeys(tuple(c["cell"].items()) for c in comparisons))
    trials = [value for value in verdicts["values"] if not value["twin"]]
    levels = sorted({name for c in comparisons for name in (c["a"], c["b"])})
    workloads = list(dict.fromkeys(c["workload"] for c in comparisons))
    rows = []
    for cell in map(dict, cells):
        here = [trial for trial in trials if _others(trial["cell"], factor) == cell]
        judged = [c for c in comparisons if c["cell"] == cell]
        values = {name: _medians(here, factor, levels, name) for name in (warm, cold) if name}
        winners = {
            name: best(_ranked(found, metric(name)), mine, _unanswered(found, mine))
            for name, found in values.items()
            for mine in [[c for c in judged if c["metric"] == name]]
        }
        beside, first_cold = (values[cold], winners[cold]) if cold else ({}, Best(()))
        rows.append(Row(cell, values[warm], beside, winners[warm], first_cold))
    return Answer(
        metric(warm), metric(cold) if cold else None, workloads[0] if len(workloads) == 1 else "", levels, rows
    )


def _unanswered(values: Mapping[str, float | None], compared: Sequence[Judged]) -> set[str]:
    """The levels without any value that failed in all blocks of a comparison."""
    failed = {c[side] for c in compared for side in ("a", "b") if c["blocks"] and len(c["failed"][side]) == c["blocks"]}
    return {name for name in failed if values[name] is None}


def _ranked(values: Mapping[str, float | None], by: Metric) -> list[str]:
    """The levels, the best value first; those without any last."""
    sign = -1 if by.better == "higher" else 1
    return sorted(values, key=lambda name: math.inf if (value := values[name]) is None else sign * value)


def _medians(
    trials: Sequence[Mapping[str, Any]], factor: str, levels: Sequence[str], name: str
) -> dict[str, float | None]:
    found: dict[str, float | None] = {}
    for chosen in levels:
        values = [t["metrics"].get(name) for t in trials if t["cell"][factor] == chosen]
        known = [value for value in values if value is not None]
        found[chosen] = median(known) if known else None
    return found


def _others(cell: Mapping[str, str], factor: str) -> dict[str, str]:
    return {name: chosen for name, chosen in cell.items() if name != factor}
