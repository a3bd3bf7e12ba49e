"""The outcome of the campaign's conditions, as h123.gate decides it."""

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
    """Absent if the campaign was not checked against conditions."""
