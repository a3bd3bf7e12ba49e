"""What became of the conditions that the campaign was last held against (h123.gate decides it)."""

from collections.abc import Sequence
from typing import Literal, NotRequired

from typing_extensions import TypedDict

GateWord = Literal["passed", "failed", "undecided"]


class GateRow(TypedDict):
    """What became of the conditions that the campaign was last held against; gate.json has the figures."""

    verdict: GateWord
    lines: Sequence[str]
    """In words, the verdict first."""


class GatePart(TypedDict):
    gate: NotRequired[GateRow]
    """None where it was held against nothing."""
