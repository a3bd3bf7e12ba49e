"""The format of gate.json (docs/contracts/gate.md)."""

from collections.abc import Mapping, Sequence
from typing import Literal, NotRequired

from typing_extensions import TypedDict

from h123.analysis.provenance.gate import GateWord
from h123.study import Basis

Word = GateWord


class CellRow(TypedDict):
    """The outcome of a condition in one place."""

    cell: Mapping[str, str]
    """Levels by factor."""
    verdict: Word
    why: str
    """What the verdict rests on, in words."""
    ratio: float | None
    """Not corrected for the number of cells."""
    value: NotRequired[float | None]
    """Present where the condition is about one level's value and not about a ratio, which is then null."""
    unit: NotRequired[str]
    """The unit of the value, `low` and `high`."""
    low: float | None
    """Null: without bound, or unknown, as are then ratio and value."""
    high: float | None
    confidence: float | None
    blocks: int
    """Blocks with a value, for a ratio on both sides."""
    blocks_needed: int | None
    """For an undecided condition, the total number of blocks that would probably decide it. Null: unknown, or more than
    is practical."""


class ConditionRow(TypedDict):
    """The outcome of a condition."""

    condition: str
    """What must hold, also where `--fail-if` said what must not."""
    by: Basis
    """`interval`: the whole interval must allow it. `estimate`: the ratio alone decides."""
    verdict: Word
    """The worst of its cells."""
    cells: Sequence[CellRow]


class Gate(TypedDict):
    """The whole document."""

    h123: Literal["gate/1"]
    campaign: str
    verdict: Word
    conditions: Sequence[ConditionRow]
