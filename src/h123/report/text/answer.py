"""Provides the answer to a study's question as data: the compared levels' values, the ratios of pairs and the best
level, by cell.

The terminal and the page show the same data. Values are medians over the trials, without A/A twins. Ratios are
estimated from trials paired by block, as in sentences and verdicts.
"""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from h123.analysis import headline
from h123.analysis.comparisons.rows import JudgedComparison
from h123.analysis.provenance.values import ValueRow
from h123.analysis.sections import Verdicts
from h123.base.relative import signed
from h123.report.text.difference import timeless, unfit
from h123.report.text.ladder import NOTABLE
from h123.report.text.words import cell_name, decided, level, listed, ratio, standing
from h123.study import Metric, metric

_SHOWN = 3
_ENOUGH_TO_READ = 6
_PLACES = 3
"""The largest number of disagreements that a sentence names."""
_OTHER_SIDE = 0.01
"""The difference between the medians' ratio and the paired ratio above which it is reported if they are on different
sides of 1."""


@dataclass(frozen=True)
class Best:
    """The best level for one metric in one cell. `levels` is empty if there is no clear winner; `between` then lists
    the candidates, and is empty if all levels are candidates."""

    levels: Sequence[str]
    between: Sequence[str] = ()

    @property
    def words(self) -> str:
        """Name the best level: `HTTP/1.1`, `HTTP/1.1 and HTTP/3 alike`, or `no clear winner: HTTP/1.1 or HTTP/2` (if
        only some levels are candidates)."""
        if self.levels:
            return f"{listed([level(name) for name in self.levels], 'and')}{' alike' if len(self.levels) > 1 else ''}"
        if not self.between:
            return "no clear winner"
        names = [level(name) for name in self.between]
        if len(names) > _SHOWN:
            names = [*names[: _SHOWN - 1], f"{len(names) - _SHOWN + 1} others"]
        return f"no clear winner: {listed(names, 'or')}"


@dataclass(frozen=True)
class AnswerRow:
    """A row of the answer: the levels' values of one metric in one cell."""

    cell: Mapping[str, str]
    metric: Metric
    values: Mapping[str, float | None]
    best: Best
    ratios: Mapping[tuple[str, str], JudgedComparison]
    """The comparisons of pairs of levels, without A/A comparisons."""
    timeless: Collection[str] = ()
    """Levels whose trials took no time under the virtual clock. No table shows their values."""

    @property
    def words(self) -> str:
        if self.ratios and all(comparison["withheld"] for comparison in self.ratios.values()):
            return "not judged"
        return self.best.words

    def value(self, name: str) -> str:
        """Format the value of a level: `62.3 ms*`, with a star if the level is the best; a dash if its trials took no
        time."""
        if name in self.timeless:
            return self.metric.format(None)
        shown = [value for level, value in self.values.items() if level not in self.timeless]
        return self.metric.format_alike(self.values.get(name), shown) + "*" * (name in self.best.levels)

    def ratio(self, pair: tuple[str, str]) -> str:
        """Format the ratio, estimated from trials paired by block; a dash if it is unreliable."""
        return shown_ratio(self.ratios[pair]) if pair in self.ratios else "–"

    def change(self, pair: tuple[str, str]) -> str:
        """Format the estimated ratio as a change: `−23 %`, `×2.7`."""
        comparison = self.ratios.get(pair)
        return (
            "–" if comparison is None or unfit(comparison) or not comparison["ratio"] else signed(comparison["ratio"])
        )

    def standing(self, pair: tuple[str, str]) -> str:
        """Return the standing of the pair's first level, such as `better`."""
        return standing(self.ratios[pair]) if pair in self.ratios else "inconclusive"

    def medians(self, pair: tuple[str, str]) -> float | None:
        """Return the ratio of the two medians in the table, or None if one is missing."""
        a, b = (self.values.get(name) for name in pair)
        return a / b if a and b and a / b > 0 else None

    def parts(self, pair: tuple[str, str]) -> bool:
        """Return whether the medians disagree with the paired ratio."""
        comparison, medians = self.ratios.get(pair), self.medians(pair)
        if comparison is None or unfit(comparison) or not comparison["ratio"] or not medians:
            return False
        apart = abs(math.log(medians / comparison["ratio"]))
        return apart > NOTABLE or ((medians - 1) * (comparison["ratio"] - 1) < 0 and apart > _OTHER_SIDE)


@dataclass(frozen=True)
class AnswerTable:
    """The answer for one metric that the question is about: a row for each cell and a column for each level. Rows of
    cold requests come below the row of their cell."""

    metric: Metric
    workload: str
    """The request in words. Empty if it varies."""
    levels: Sequence[str]
    rows: Sequence[AnswerRow]

    @property
    def pairs(self) -> list[tuple[str, str]]:
        return list(dict.fromkeys(pair for row in self.main for pair in row.ratios))

    @property
    def main(self) -> list[AnswerRow]:
        """Return the rows of the question's own metric."""
        return [row for row in self.rows if row.metric is self.metric]

    def title(self, *, ratios: bool, mark: str = "*") -> str:
        """Return the title, which explains `mark` if it appears in the table: `Latency of GET 100 kB, median over the
        trials; differences are of trials paired by block. *: fastest`."""
        of = f" of {self.workload}" if self.workload else ""
        note = "; differences are of trials paired by block" if ratios else ""
        marked = max((len(row.best.levels) for row in self.rows), default=0)
        legend = f". {mark}: {self.metric.words.best}{', or alike' if marked > 1 else ''}" if marked else ""
        return f"{self.metric.title}{of}, median over the trials{note}{legend}"

    @property
    def tally(self) -> str:
        """Say how often each level is best, if there are many rows: `Fastest: HTTP/1.1 in 30 of 44; ...`. Otherwise
        empty."""
        rows = self.main
        if len(rows) <= _ENOUGH_TO_READ:
            return ""
        counted = Counter(
            row.words if row.best.levels or row.words == "not judged" else "no clear winner" for row in rows
        )
        counts = [f"{words} in {count} of {len(rows)}" for words, count in counted.most_common()]
        return f"{self.metric.words.best.capitalize()}: {'; '.join(counts)}."

    def ranked(self, row: AnswerRow) -> list[str]:
        """Return the levels that have a value to show in this row, best first."""
        shown = (name for name in _ranked(row.values, row.metric) if name not in row.timeless)
        return [name for name in shown if row.values[name] is not None]

    @property
    def factors(self) -> str:
        """Name the factors in which the rows differ: `network`, or `network, server`; `workload` if nothing else
        varies."""
        return ", ".join(next((tuple(row.cell) for row in self.rows if row.cell), ("workload",)))

    def cell(self, row: AnswerRow) -> str:
        """Return the name of a row's cell, or the workload if nothing else varies."""
        return cell_name(row.cell) or self.workload

    def height(self, row: AnswerRow) -> int:
        """Return the number of rows, including this one, that are about this row's cell."""
        return sum(other.cell == row.cell for other in self.rows)

    def kind(self, row: AnswerRow) -> str:
        """Return the kind of requests of a row: `warm`, `cold`, or `cold, first byte`."""
        if row.metric is self.metric:
            return "warm"
        return "cold" if row.metric.name == self.metric.cold else "cold, first byte"

    def name(self, row: AnswerRow) -> str:
        """Return the row's name: the cell (the workload if nothing else varies) or, for a row of cold requests, its
        metric, such as `cold`."""
        if row.metric is self.metric:
            return self.cell(row)
        title = row.metric.title.removeprefix(f"{self.metric.title}, ")
        return title[:1].lower() + title[1:]

    def parting(self) -> str:
        """Explain where and why medians disagree with the paired ratios, and name the first of these places."""
        places = [(row, pair) for row in self.rows for pair in row.ratios if row.parts(pair)]
        if not places:
            return ""
        sentences = [self._parted(row, pair) for row, pair in places[:_PLACES]]
        more = f"; and {len(places) - len(sentences)} more" if len(places) > len(sentences) else ""
        return (
            f"In some places, the table's medians differ from the paired differences: {'; '.join(sentences)}{more}. "
            "The paired difference is the answer. It compares trials of the same block, which met the same losses; two "
            "medians may come from different blocks."
        )

    def _parted(self, row: AnswerRow, pair: tuple[str, str]) -> str:
        """Describe one disagreement: `poor, cold, HTTP/3 / HTTP/2 −33 % by medians, −24 % paired`."""
        where = cell_name(row.cell)
        what = [where] if row.metric is self.metric else [where, self.name(row)]
        names = ", ".join(filter(None, [*what, " / ".join(map(level, pair))]))
        medians = row.medians(pair)
        return f"{names} {signed(round(medians, 3)) if medians else '–'} by medians, {row.change(pair)} paired"


def answers(verdicts: Verdicts) -> list[AnswerTable]:
    """Return the answer for each metric in the study's first family of comparisons. Empty if no trial has a value."""
    metrics = list(dict.fromkeys(c["metric"] for c in headline(verdicts["comparisons"])))
    below = {cold for name in metrics if (cold := metric(name).cold)}
    tables = (_answer(verdicts, name) for name in metrics if name not in below)
    return [
        answer for answer in tables if any(value is not None for row in answer.main for value in row.values.values())
    ]


def cold(verdicts: Verdicts) -> list[JudgedComparison]:
    """Return the comparisons of cold requests that supplement an answer about other requests."""
    answers_asked = headline(verdicts["comparisons"])
    names = {name for c in answers_asked for name in _cold(c["metric"])} - {c["metric"] for c in answers_asked}
    return [c for c in verdicts["comparisons"] if c["metric"] in names and not c["twin"]]


def findings(compared: Iterable[JudgedComparison]) -> list[JudgedComparison]:
    return list(filter(decided, compared))


def no_answer(verdicts: Verdicts) -> str:
    """Return the sentence that explains why there is no answer."""
    comparisons, valid = headline(verdicts["comparisons"]), verdicts["trials"]["valid"]
    if not comparisons:
        return "No answer: none of what the study compares is in this campaign."
    if not valid:
        return "No answer: no trial is valid yet."
    names = listed([metric(name).title.lower() for name in dict.fromkeys(c["metric"] for c in comparisons)], "or")
    shares = [share for row in verdicts["failures"] for share in (row["a_share"], row["b_share"])]
    why = ": all of their requests failed" if shares and min(shares) == 1 else ""
    which = "the one valid trial" if valid == 1 else f"none of the {valid} valid trials"
    return f"No answer: {which} has {'no' if valid == 1 else 'a'} value of {names}{why}."


def shown_ratio(comparison: JudgedComparison) -> str:
    """Return the estimate as text; a dash if the comparison is not judged because its data is unreliable."""
    return "–" if unfit(comparison) else ratio(comparison["ratio"], comparison["low"], comparison["high"])


def _cold(name: str) -> list[str]:
    """Return the metrics of cold requests that correspond to a metric: the cold version, and for latency also the cold
    time to first byte."""
    of = metric(name)
    return [cold for cold in dict.fromkeys([of.cold, metric("ttfb").cold if of.cold else None]) if cold]


def best(levels: Sequence[str], compared: Sequence[JudgedComparison], unanswered: Collection[str] = ()) -> Best:
    """Return the best of `levels`, from the verdicts of all families on one metric in one cell.

    A level is unbeaten if it is not worse than any other. If one unbeaten level has no inconclusive comparison and is
    equivalent to all other unbeaten levels, all unbeaten levels are best. Otherwise they are candidates. If exactly one
    level is unbeaten, levels whose comparison with it is inconclusive are candidates too. If every level is a
    candidate, none is returned. A level in `unanswered`, which failed in every block, is worse than all others,
    although its times are unknown.
    """
    comparisons = [c for c in compared if not c["twin"]]
    worse = {c["b"] if standing(c) == "better" else c["a"] for c in comparisons if decided(c)}
    worse |= {*unanswered}
    comparisons = [c for c in comparisons if not {c["a"], c["b"]} & {*unanswered}]
    unbeaten = [name for name in levels if name not in worse]
    for leader in unbeaten:
        if not _against(leader, comparisons, "inconclusive") and comparisons:
            alike = {leader} | _against(leader, comparisons, "equivalent")
            if alike.issuperset(unbeaten):
                return Best(unbeaten)
    alone = unbeaten[0] if len(unbeaten) == 1 else None
    rivals = {*unbeaten, *(_against(alone, comparisons, "inconclusive") if alone else ())}
    return Best((), [name for name in levels if name in rivals] if 0 < len(rivals) < len(levels) else ())


def _against(name: str, comparisons: Sequence[JudgedComparison], verdict: str) -> set[str]:
    """Return the levels whose comparison with `name` has this verdict."""
    pairs = [(c["a"], c["b"]) for c in comparisons if c["verdict"] == verdict and name in (c["a"], c["b"])]
    return {b if a == name else a for a, b in pairs}


def _answer(verdicts: Verdicts, name: str) -> AnswerTable:
    factor = verdicts["factor"]
    comparisons = [c for c in verdicts["comparisons"] if c["metric"] in (name, *_cold(name))]
    own = [c for c in comparisons if c["metric"] == name]
    trials = [value for value in verdicts["values"] if not value["twin"]]
    levels = sorted({side for c in own for side in (c["a"], c["b"])})
    workloads = list(dict.fromkeys(c["workload"] for c in comparisons))
    rows = []
    for cell in map(dict, dict.fromkeys(tuple(c["cell"].items()) for c in own)):
        here = [row for row in trials if {n: v for n, v in row["cell"].items() if n != factor} == cell]
        for shown_metric in (name, *_cold(name)):
            compared = [c for c in comparisons if c["cell"] == cell and c["metric"] == shown_metric]
            if compared:
                rows.append(_row(cell, metric(shown_metric), _medians(here, factor, levels, shown_metric), compared))
    return AnswerTable(metric(name), workloads[0] if len(workloads) == 1 else "", levels, rows)


def _row(
    cell: Mapping[str, str], of: Metric, values: Mapping[str, float | None], compared: Sequence[JudgedComparison]
) -> AnswerRow:
    winner = best(_ranked(values, of), compared, _unanswered(values, compared))
    ratios = {(c["a"], c["b"]): c for c in compared if not c["twin"]}
    return AnswerRow(cell, of, values, winner, ratios, _timeless(values, list(ratios.values())))


def _timeless(levels: Iterable[str], compared: Sequence[JudgedComparison]) -> list[str]:
    """Return the levels whose comparisons are all withheld because their requests take no time under the virtual
    clock."""
    sides = {level: [timeless(c) for c in compared if level in (c["a"], c["b"])] for level in levels}
    return [level for level, found in sides.items() if found and all(found)]


def _unanswered(values: Mapping[str, float | None], compared: Sequence[JudgedComparison]) -> set[str]:
    """Return the levels without a value that failed in all blocks of a comparison."""
    failed = {c[side] for c in compared for side in ("a", "b") if c["blocks"] and len(c["failed"][side]) == c["blocks"]}
    return {name for name in failed if values[name] is None}


def _ranked(values: Mapping[str, float | None], by: Metric) -> list[str]:
    """Return the levels with the best value first, and levels without a value last."""
    sign = -1 if by.better == "higher" else 1
    return sorted(values, key=lambda name: math.inf if (value := values[name]) is None else sign * value)


def _medians(trials: Sequence[ValueRow], factor: str, levels: Sequence[str], name: str) -> dict[str, float | None]:
    medians: dict[str, float | None] = {}
    for name_of_level in levels:
        values = [t["metrics"].get(name) for t in trials if t["cell"][factor] == name_of_level]
        numbers = [value for value in values if value is not None]
        medians[name_of_level] = median(numbers) if numbers else None
    return medians
