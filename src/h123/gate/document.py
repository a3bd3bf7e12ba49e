"""gate.json as it is written (docs/contracts/gate.md)."""

from collections.abc import Mapping, Sequence
from typing import Literal, NotRequired

from typing_extensions import TypedDict

from h123.analysis.provenance.gate import GateWord
from h123.study import Basis

Word = GateWord


class CellRow(TypedDict):
    """What became of a condition in one place."""

    cell: Mapping[str, str]
    """Levels by factor."""
    verdict: Word
    why: str
    ratio: float | None
    value: NotRequired[float | None]
    """Where the condition is about one level's value, and not about a ratio, which is then null."""
    unit: NotRequired[str]
    """Of the value, `low` and `high`."""
    low: float | None
    """None: without bound, or not known, as ratio and value are then too."""
    high: float | None
    confidence: float | None
    blocks: int
    """With a value, on both sides of a ratio."""
    blocks_needed: int | None
    """Of an undecided one: with so many in all it would probably be decided; null: not known, or more than anybody
    runs."""


class ConditionRow(TypedDict):
    """What became of a condition."""

    condition: str
    by: Basis
    verdict: Word
    """The worst of its cells."""
    cells: Sequence[CellRow]


class Gate(TypedDict):
    """All of it."""

    h123: Literal["gate/1"]
    campaign: str
    verdict: Word
    conditions: Sequence[ConditionRow]
