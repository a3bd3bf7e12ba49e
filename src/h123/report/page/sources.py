"""Defines the sources of a campaign's page and figures."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

from h123.analysis.comparisons.rows import JudgedComparison
from h123.analysis.provenance.values import ValueRow
from h123.analysis.sections import Verdicts
from h123.report.page.facts import PageFacts
from h123.report.text.constant_factors import Cell
from h123.report.text.difference import timeless
from h123.report.text.printed_values import PrintedTable
from h123.study import metric

InCell = TypeVar("InCell", bound=Mapping[str, object])


@dataclass(frozen=True)
class PageSources:
    facts: PageFacts
    whole: Verdicts
    """The verdicts, including factors that have the same level in all comparisons."""
    verdicts: Verdicts
    """The verdicts without factors that have the same level in all comparisons."""
    same: Cell
    printed: PrintedTable | None = field(default=None)
    """The values published in a paper, if the study repeats its measurements."""

    @cached_property
    def comparisons(self) -> list[JudgedComparison]:
        return [c for c in self.verdicts["comparisons"] if not c["twin"]]

    @cached_property
    def values(self) -> list[ValueRow]:
        """The values of all trials in the order of the comparisons, without trials that took no time."""
        return in_order(timed(self.verdicts["values"], self.verdicts), self.verdicts)

    @property
    def factor(self) -> str:
        return self.verdicts["factor"]


def empty_last(verdicts: Verdicts) -> Verdicts:
    """Return the verdicts with timeless cells last. These cells contain only dashes, because their requests take no
    time under the virtual clock. A phone shows one cell at a time, so the page should not begin with these cells."""
    empty = {_key(c["cell"]) for c in verdicts["comparisons"] if timeless(c)}
    comparisons = sorted(verdicts["comparisons"], key=lambda c: _key(c["cell"]) in empty)
    return {**verdicts, "comparisons": comparisons}


def timed(rows: Iterable[InCell], verdicts: Verdicts) -> list[InCell]:
    """Return the rows of trials or treatments that took time. Under the virtual clock some trials take no time, and
    comparisons of their times are not judged."""
    factor = verdicts["factor"]
    sides: dict[tuple[tuple[str, str], ...], list[bool]] = {}
    for c in verdicts["comparisons"]:
        if metric(c["metric"]).of_requests and not c["twin"]:
            for level in (c["a"], c["b"]):
                sides.setdefault(_key({**c["cell"], factor: level}), []).append(timeless(c))

    def took_none(row: InCell) -> bool:
        cell = row["cell"]
        assert isinstance(cell, Mapping)
        return all(sides.get(_key(cell), [False]))

    return [row for row in rows if not took_none(row)]


def _key(cell: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(cell.items()))


def in_order(rows: Iterable[InCell], verdicts: Verdicts) -> list[InCell]:
    """Return rows of trials or treatments in the order of the comparisons, beginning with the study's first cell."""
    cells = [c["cell"] for c in verdicts["comparisons"]]

    def place(row: InCell) -> int:
        cell = row["cell"]
        assert isinstance(cell, Mapping)
        others = {name: level for name, level in cell.items() if name != verdicts["factor"]}
        return cells.index(others) if others in cells else len(cells)

    return sorted(rows, key=place)
