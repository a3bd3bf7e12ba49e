"""Defines the format of gate.json (docs/contracts/gate.md)."""

from collections.abc import Mapping, Sequence
from typing import Literal, NotRequired

from typing_extensions import TypedDict

from h123.analysis.provenance.gate import GateWord
from h123.study import Basis

Word = GateWord


class CellRow(TypedDict):
    """The outcome of a condition in one cell."""

    cell: Mapping[str, str]
    """The cell's level of each factor."""
    verdict: Word
    why: str
    """The reason for the verdict, in words."""
    ratio: float | None
    """The ratio of the two levels. Null if unknown, or if the condition is about one level. The interval is not
    corrected for the number of cells."""
    value: NotRequired[float | None]
    """The value of one level. Present only if the condition is about one level."""
    unit: NotRequired[str]
    """The unit of `value`, `low` and `high`."""
    low: float | None
    """The lower end of the interval. Null if there is no bound on this side, or no interval."""
    high: float | None
    confidence: float | None
    blocks: int
    """The number of blocks with a value, or for a ratio, with a value of both levels."""
    blocks_needed: int | None
    """For an undecided condition, the total number of blocks that would probably decide it. Null if it is unknown or
    not practical."""


class UncheckedRow(TypedDict):
    """A cell that does not affect the outcome."""

    cell: Mapping[str, str]
    """The cell's level of each factor."""
    why: str


class ConditionRow(TypedDict):
    """The outcome of a condition."""

    condition: str
    """The condition that must be met; for `--fail-if X`, the opposite of X."""
    by: Basis
    """`interval`: the whole interval must be on the right side of the bound. `estimate`: only the estimate decides."""
    verdict: Word
    """The worst verdict of its cells."""
    cells: Sequence[CellRow]
    not_checked: NotRequired[Sequence[UncheckedRow]]
    """Cells in which nothing takes time under the virtual clock. If there are no other cells, `cells` contains them
    instead, as undecided."""


class Gate(TypedDict):
    """The content of gate.json."""

    h123: Literal["gate/1"]
    campaign: str
    verdict: Word
    conditions: Sequence[ConditionRow]
