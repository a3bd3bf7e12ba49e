"""Reports the values of all trials."""

from collections.abc import Mapping, Sequence

from typing_extensions import TypedDict

from h123.analysis.case import Case
from h123.analysis.comparisons.rows import Cell
from h123.analysis.section import Section
from h123.measures import Attempt, finite_metrics


class ValueRow(TypedDict):
    """The metrics of a trial."""

    trial: str
    block: int
    position: int | None
    """The attempt's place in its block; null for imported samples."""
    cell: Cell
    twin: bool
    metrics: Mapping[str, float | None]
    """The trial's value of each metric, by name; null if it has none."""


class ValuesPart(TypedDict):
    values: Sequence[ValueRow]


def _compute(case: Case) -> ValuesPart:
    return {"values": [_row(attempt) for attempt in case.attempts]}


def _row(attempt: Attempt) -> ValueRow:
    return {
        "trial": attempt.name,
        "block": attempt.block,
        "position": attempt.position,
        "cell": attempt.cell,
        "twin": attempt.twin,
        "metrics": finite_metrics(attempt.metrics),
    }


SECTION = Section(ValuesPart, _compute)
