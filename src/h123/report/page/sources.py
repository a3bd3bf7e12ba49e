"""The sources of a campaign's page and figures."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

from h123.analysis.comparisons.rows import JudgedComparison
from h123.analysis.provenance.values import ValueRow
from h123.analysis.sections import Verdicts
from h123.report.page.facts import PageFacts
from h123.report.text.constant_factors import Cell
from h123.report.text.printed_values import PrintedTable

InCell = TypeVar("InCell", bound=Mapping[str, object])


@dataclass(frozen=True)
class PageSources:
    """The verdicts on a campaign, and the facts of its folder."""

    facts: PageFacts
    whole: Verdicts
    """The verdicts with the factors that are the same in all comparisons."""
    verdicts: Verdicts
    """The verdicts without those factors."""
    same: Cell
    printed: PrintedTable | None = field(default=None)
    """A published work's values, where there are any."""

    @cached_property
    def comparisons(self) -> list[JudgedComparison]:
        """The comparisons without those of the twin."""
        return [c for c in self.verdicts["comparisons"] if not c["twin"]]

    @cached_property
    def values(self) -> list[ValueRow]:
        """The values of all trials, in the order of the comparisons."""
        return in_order(self.verdicts["values"], self.verdicts)

    @property
    def factor(self) -> str:
        """The compared factor."""
        return self.verdicts["factor"]


def in_order(rows: Iterable[InCell], verdicts: Verdicts) -> list[InCell]:
    """Rows of trials or treatments in the order of the comparisons: those of the study's first cell first."""
    cells = [c["cell"] for c in verdicts["comparisons"]]

    def place(row: InCell) -> int:
        cell = row["cell"]
        assert isinstance(cell, Mapping)
        others = {name: level for name, level in cell.items() if name != verdicts["factor"]}
        return cells.index(others) if others in cells else len(cells)

    return sorted(rows, key=place)
