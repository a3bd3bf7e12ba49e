"""Judged comparisons as verdicts.json lists them, and which of them answer the question."""

from collections.abc import Mapping, Sequence
from typing import Literal, NotRequired

from typing_extensions import TypedDict

Cell = Mapping[str, str]
"""Levels by factor."""


class PairRow(TypedDict):
    """A block's values of both sides."""

    block: int
    a: float
    b: float
    ratio: float | None


class Withheld(TypedDict):
    """Why there is no verdict."""

    kind: str
    """`attempts`, `unmeasured`, `disturbed`, `audits`, `failures`, `answers`, `timeless` or `machine`."""
    why: str
    """The reason in words."""


class Later(TypedDict):
    """Why the first answers of one side, a or b, begin later than the other's."""

    side: Literal["a", "b"]
    round_trips: int
    why: str


class Projection(TypedDict):
    """The blocks that would decide a comparison."""

    blocks: int | None
    """More blocks than planned; null if blocks are not what is missing."""
    basis: str
    """The basis of the number (docs/contracts/verdicts.md, projections)."""


class EstimateRow(TypedDict):
    """The estimate of a comparison."""

    blocks: int
    """Blocks with a value on both sides; 0 without data."""
    a_median: float | None
    b_median: float | None
    ratio: float | None
    """a / b, by Hodges and Lehmann."""
    low: float | None
    """The interval's end; null if failures leave no bound."""
    high: float | None
    confidence: float | None


class ComparedLevels(TypedDict):
    """The compared levels, their cell, and the metric."""

    cell: Cell
    """Levels of all factors but the compared one."""
    workload: str
    """The request, in words."""
    metric: str
    a: str
    """The first level; `verdict` is about it."""
    b: str
    repeats: str | None
    """The metric whose observation this one repeats: goodput and latency in a closed loop. It takes that metric's place
    in the correction, never has a smaller adjusted p, and has no projection."""


class TestResult(EstimateRow):
    """The result of a comparison."""

    test: str | None
    """`signed-rank`, or `sign` if the differences are lopsided."""
    symmetric: float | None
    """p of the triples test for lopsided differences; null with fewer than 8 blocks."""
    p: float | None
    p_attainable: float
    """The smallest p that so many blocks can give."""
    p_adjusted: float | None
    p_equivalent: float | None
    """The larger p of the two one-sided tests against the margin."""
    p_equivalent_adjusted: float | None
    family: str
    """The comparisons that are corrected together, with the levels of `each`."""
    family_size: int
    correction: str
    """`holm`, `bh` or `none`."""
    verdict: str
    """`equivalent`, `faster`, `slower`, `inconclusive`; of amounts `lower`, `higher`. Earlier versions wrote `faster`
    and `slower` of amounts too."""
    small: str | None
    """The direction, if it is certain although the verdict is `equivalent`."""
    withheld: Withheld | None
    undecided: NotRequired[str | None]
    """Why there is no verdict although the interval excludes no difference."""
    note: str | None
    """Further facts that a reader must know, in words."""
    qualified: Sequence[str]
    """Failed audits of load, chance and order. The verdict remains."""
    failed: Mapping[str, Sequence[int]]
    """For each side, the blocks that it lost by failing."""
    pairs: Sequence[PairRow]
    """Blocks with a value on both sides."""


class VerdictRow(TypedDict):
    """A comparison, as sentences describe it."""

    cell: Cell
    workload: str
    metric: str
    a: str
    b: str
    blocks: int
    ratio: float | None
    low: float | None
    high: float | None
    confidence: float | None
    verdict: str
    small: str | None
    withheld: Withheld | None
    undecided: NotRequired[str | None]
    failed: Mapping[str, Sequence[int]]


class JudgedComparison(ComparedLevels, TestResult):
    """A comparison."""

    twin: bool
    """Whether it compares a level with its own twin; its family is `twins`, without correction."""
    projection: NotRequired[Projection | None]
    """The blocks that would decide an inconclusive comparison. Null for others, for twins, and without values."""
    later: NotRequired[Later]
    """Present for first bytes, where packets show the reason."""


def headline(comparisons: Sequence[JudgedComparison]) -> list[JudgedComparison]:
    """The comparisons of verdicts.json that answer the study's question: its first family, each observation once
    (repeats.py)."""
    distinct = [comparison for comparison in comparisons if not comparison["twin"] and not comparison.get("repeats")]
    return [c for c in distinct if c["family"].partition("/")[0] == distinct[0]["family"].partition("/")[0]]
