"""Defines the part of verdicts.json about the outcome of the gate's conditions, which h123.gate decides."""

from collections.abc import Sequence
from typing import Literal, NotRequired

from typing_extensions import TypedDict

GateWord = Literal["passed", "failed", "undecided"]


class GateRow(TypedDict):
    """The outcome of the conditions against which the campaign was last checked. The figures are in gate.json."""

    verdict: GateWord
    lines: Sequence[str]
    """The outcome in words, the verdict first."""


class GatePart(TypedDict):
    gate: NotRequired[GateRow]
    """The outcome of the last check. Absent if there was none."""
