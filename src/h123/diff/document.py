"""Defines the format of diff.json (docs/contracts/gate.md#diffjson)."""

from collections.abc import Mapping, Sequence
from typing import Literal, NotRequired

from typing_extensions import TypedDict


class DiffSide(TypedDict):
    """One of the two campaigns."""

    campaign: str
    study: str
    created: str
    blocks: int


class CircumstanceChange(TypedDict):
    """A circumstance that differs between the two campaigns. `before` or `after` is null if that campaign does not have
    the circumstance."""

    what: str
    before: str | None
    after: str | None


class LeftOut(TypedDict):
    """A treatment that only one campaign has, or whose conditions differ between the campaigns."""

    cell: Mapping[str, str]
    why: str


class DiffRow(TypedDict):
    """The ratio, after / before, of one metric of a treatment that both campaigns have."""

    metric: str
    cell: Mapping[str, str]
    before: Sequence[float]
    """One value for each block, without failed trials."""
    after: Sequence[float]
    before_median: float | None
    after_median: float | None
    ratio: float | None
    """The ratio of the geometric means. Null if a campaign has fewer than two values."""
    low: float | None
    high: float | None
    confidence: float
    withheld: str | None
    """The reason why the row allows no conclusion; null if it allows one."""
    timeless: NotRequired[bool]
    """Whether the row is withheld because nothing takes time in either campaign. A gate does not check such a row."""


class Diff(TypedDict):
    """The content of diff.json."""

    h123: Literal["diff/1"]
    before: DiffSide
    after: DiffSide
    changes: Sequence[CircumstanceChange]
    left_out: Sequence[LeftOut]
    wider: float | None
    """The factor by which the rows' intervals are wider than intervals from paired blocks of one campaign. Null if
    unknown."""
    unfinished: NotRequired[Sequence[str]]
    """For each campaign that is not finished, a sentence about how many of its trials have not run. Until both are
    finished, no condition passes."""
    rows: Sequence[DiffRow]
