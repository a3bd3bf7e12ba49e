"""What a campaign's page and figures are made from."""

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
    """What was found of a campaign, and the facts of its folder."""

    facts: PageFacts
    whole: Verdicts
    """With the factors that are the same in all comparisons."""
    verdicts: Verdicts
    """Without them."""
    same: Cell
    printed: PrintedTable | None = field(default=None)
    """A published work's values, where there are any."""

    @cached_property
    def comparisons(self) -> list[JudgedComparison]:
        """Without those of the twin."""
        return [c for c in self.verdicts["comparisons"] if not c["twin"]]

    @cached_property
    def values(self) -> list[ValueRow]:
        """Those of all trials, in the order of the comparisons."""
        return in_order(self.verdicts["values"], self.verdicts)

    @property
    def factor(self) -> str:
        """The one that is compared."""
        return self.verdicts["factor"]


def in_order(rows: Iterable[InCell], verdicts: Verdicts) -> list[InCell]:
    """Rows of trials or treatments, those of the study's first cell first: the order that the comparisons have."""
    cells = [c["cell"] for c in verdicts["comparisons"]]

    def place(row: InCell) -> int:
        cell = row["cell"]
        assert isinstance(cell, Mapping)
        others = {name: level for name, level in cell.items() if name != verdicts["factor"]}
        return cells.index(others) if others in cells else len(cells)

    return sorted(rows, key=place)
