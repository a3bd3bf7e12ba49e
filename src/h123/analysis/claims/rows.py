"""Defines the claims in verdicts.json, and the verdicts on them."""

from collections.abc import Mapping, Sequence
from typing import NotRequired

from typing_extensions import TypedDict

from h123.analysis.comparisons.rows import Cell


class ClaimChecked(TypedDict):
    possible: bool
    shown: str


class ClaimFigure(TypedDict):
    cell: Cell | None
    """The cell. Null if the figure is for all cells."""
    blocks: int
    ratio: float | None
    low: float | None
    high: float | None
    confidence: float
    p: float | None


class ClaimQuestion(TypedDict):
    """The question that a claim asks of a campaign."""

    estimand: str | None
    condition: Mapping[str, object]
    against: Mapping[str, object]
    size: str | None
    note: str | None
    reason: str | None


class ClaimAnswered(TypedDict):
    """A campaign's answer to a claim."""

    verdict: str
    reason: str | None
    requests: Sequence[int]
    blocks: int | None
    p: float | None
    p_adjusted: float | None
    figures: Sequence[ClaimFigure]


class ClaimRow(TypedDict):
    """A claim of a published work: its question, its answer and the result of arithmetic."""

    id: str
    quotation: str | None
    summary: str | None
    source: str | None
    where: NotRequired[str | None]
    """The claim's place in the source."""
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
    """Whether all checks pass. A campaign can decide a relative claim even if an absolute figure in it is
    impossible."""
    verdict: str
    reason: str | None
    requests: Sequence[int]
    """The numbers of requests per user in the claim's cells; empty if nothing was measured."""
    blocks: int | None
    """The smallest number of blocks among the figures; null without a campaign."""
    p: float | None
    """The p value before correction. Null without a campaign, or if the campaign cannot decide the claim, for example
    because it has fewer than 6 blocks."""
    p_adjusted: float | None
    figures: Sequence[ClaimFigure]
    """The measured figures: a single one with `cell` null, or one per cell for a claim with a margin; empty if nothing
    was measured."""


class LedgerDecided(TypedDict):
    """The verdicts on a ledger's claims."""

    title: str
    where: str
    study: str | None
    scale: float | None
    """The scale of the campaign (`--scale`); null without a campaign."""
    family_size: int
    claims: Sequence[ClaimRow]
