"""diff.json as it is written (docs/contracts/gate.md#diffjson)."""

from collections.abc import Mapping, Sequence
from typing import Literal, NotRequired

from typing_extensions import TypedDict


class DiffSide(TypedDict):
    """A campaign."""

    campaign: str
    study: str
    created: str
    blocks: int


class CircumstanceChange(TypedDict):
    """What is another in the second campaign; null: not there."""

    what: str
    before: str | None
    after: str | None


class LeftOut(TypedDict):
    """A treatment that both have by name, but that is not the same, or that one has."""

    cell: Mapping[str, str]
    why: str


class DiffRow(TypedDict):
    """A metric of a treatment that both have: after over before."""

    metric: str
    cell: Mapping[str, str]
    before: Sequence[float]
    """Values, a block each; those of failed trials are left out."""
    after: Sequence[float]
    before_median: float | None
    after_median: float | None
    ratio: float | None
    """Of the geometric means."""
    low: float | None
    high: float | None
    confidence: float
    withheld: str | None
    """Why nothing is to be concluded from it."""


class Diff(TypedDict):
    """All of it."""

    h123: Literal["diff/1"]
    before: DiffSide
    after: DiffSide
    changes: Sequence[CircumstanceChange]
    left_out: Sequence[LeftOut]
    wider: float | None
    """How many times as wide as pairs of one campaign would make them these intervals are, by what pairing does within
    the two; null: not known."""
    unfinished: NotRequired[Sequence[str]]
    """What of the two is still to run, in words: as long as that is so no condition passes."""
    rows: Sequence[DiffRow]
