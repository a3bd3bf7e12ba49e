"""Claims as verdicts.json lists them: what each one says, and its verdict."""

from collections.abc import Mapping, Sequence
from typing import NotRequired

from typing_extensions import TypedDict

from h123.analysis.comparisons.rows import Cell


class ClaimChecked(TypedDict):
    possible: bool
    shown: str


class ClaimFigure(TypedDict):
    cell: Cell | None
    """None: all cells together."""
    blocks: int
    ratio: float | None
    low: float | None
    high: float | None
    confidence: float
    p: float | None


class ClaimQuestion(TypedDict):
    """The question of a claim to a campaign."""

    estimand: str | None
    condition: Mapping[str, object]
    against: Mapping[str, object]
    size: str | None
    note: str | None
    reason: str | None


class ClaimAnswered(TypedDict):
    """The campaign's answer."""

    verdict: str
    reason: str | None
    requests: Sequence[int]
    blocks: int | None
    p: float | None
    p_adjusted: float | None
    figures: Sequence[ClaimFigure]


class ClaimRow(TypedDict):
    """A claim of a published work: the question, the answer and what arithmetic says."""

    id: str
    quotation: str | None
    summary: str | None
    source: str | None
    where: NotRequired[str | None]
    """The place in the source."""
    metric: str
    a: str | None
    b: str | None
    direction: str | None
    estimand: str | None
    condition: Mapping[str, object]
    against: Mapping[str, object]
    size: str | None
    note: str | None
    repeats: str | None
    arithmetic: Sequence[ClaimChecked]
    possible: bool
    """Whether all checks hold. A claim can be impossible as an absolute figure while its relative part is decided."""
    verdict: str
    reason: str | None
    requests: Sequence[int]
    """Requests of each user."""
    blocks: int | None
    """The number of blocks of the figure with the fewest."""
    p: float | None
    """Null below 6 blocks."""
    p_adjusted: float | None
    figures: Sequence[ClaimFigure]
    """One, with `cell` null; with a margin one a cell; none if there is nothing to measure."""


class LedgerDecided(TypedDict):
    """The verdicts on a ledger's claims."""

    title: str
    where: str
    study: str | None
    scale: float | None
    """The scale of the campaign."""
    family_size: int
    claims: Sequence[ClaimRow]
