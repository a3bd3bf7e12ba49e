"""The outcome of the campaign's conditions (h123.gate decides it)."""

from collections.abc import Sequence
from typing import Literal, NotRequired

from typing_extensions import TypedDict

GateWord = Literal["passed", "failed", "undecided"]


class GateRow(TypedDict):
    """The outcome of the last conditions that the campaign was checked against; gate.json gives the figures."""

    verdict: GateWord
    lines: Sequence[str]
    """The outcome in words, the verdict first."""


class GatePart(TypedDict):
    gate: NotRequired[GateRow]
    """Absent if the campaign was checked against no conditions."""
