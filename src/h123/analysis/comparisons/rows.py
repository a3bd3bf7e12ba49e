"""Defines the judged comparisons in verdicts.json, and selects those that answer the question."""

from collections.abc import Mapping, Sequence
from typing import Literal, NotRequired

from typing_extensions import TypedDict

Cell = Mapping[str, str]
"""Levels by factor."""


class PairRow(TypedDict):
    """The values of both levels in one block."""

    block: int
    a: float
    b: float
    ratio: float | None


class Withheld(TypedDict):
    """The reason why a comparison has no verdict."""

    kind: str
    """The kind of reason: `attempts`, `unmeasured`, `disturbed`, `audits`, `failures`, `answers`, `timeless` or
    `machine`."""
    why: str
    """The reason in words."""


class Later(TypedDict):
    """The reason why responses begin later at one level, a or b, than at the other."""

    side: Literal["a", "b"]
    round_trips: int
    why: str


class Projection(TypedDict):
    """The number of blocks that would probably decide a comparison."""

    blocks: int | None
    """The number of blocks, including the planned ones. Null if more blocks would not help, or if too many would be
    needed."""
    basis: str
    """The kind of the projection (docs/contracts/verdicts.md, projections)."""


class EstimateRow(TypedDict):
    """The estimated ratio of a comparison."""

    blocks: int
    """The number of blocks with a value on both sides; 0 without data."""
    a_median: float | None
    b_median: float | None
    ratio: float | None
    """The Hodges-Lehmann estimate of a / b."""
    low: float | None
    """The lower end of the interval; null if failures leave no bound."""
    high: float | None
    confidence: float | None


class ComparedLevels(TypedDict):
    """The compared levels, their cell, and the metric."""

    cell: Cell
    """The levels of all factors except the compared one."""
    workload: str
    """The request, in words."""
    metric: str
    a: str
    """The first level. `verdict` describes it."""
    b: str
    repeats: str | None
    """The metric that this comparison's metric repeats, as goodput repeats latency in a closed loop. If there is one,
    the comparison takes the place of that metric's comparison in the correction, never has a smaller adjusted p, and
    has no projection."""


class TestResult(EstimateRow):
    """The result of a comparison: its estimate, its p values and its verdict."""

    test: str | None
    """`signed-rank`, or `sign` if the differences are asymmetric."""
    symmetric: float | None
    """The p value of the triples test for symmetry; null with fewer than 8 blocks, or if a level failed in a block."""
    p: float | None
    p_attainable: float
    """The smallest p that this number of blocks can give."""
    p_adjusted: float | None
    p_equivalent: float | None
    """The larger p of the two one-sided tests against the margin."""
    p_equivalent_adjusted: float | None
    family: str
    """The family within which p values are corrected, followed by the comparison's levels of the factors in the
    family's `each`."""
    family_size: int
    correction: str
    """`holm`, `bh` or `none`."""
    verdict: str
    """`equivalent`, `faster`, `slower` or `inconclusive`; for amounts `lower` and `higher` instead of `faster` and
    `slower`, except in files of earlier versions."""
    small: str | None
    """The direction, if it is certain although the verdict is `equivalent`."""
    withheld: Withheld | None
    undecided: NotRequired[str | None]
    """The reason why there is no verdict although the interval excludes equality."""
    note: str | None
    """Further facts that readers must know, in words."""
    qualified: Sequence[str]
    """Failed audits that do not prevent a verdict."""
    failed: Mapping[str, Sequence[int]]
    """For each side, the blocks in which only that side failed. There it has the worst value."""
    pairs: Sequence[PairRow]
    """The blocks with a value on both sides."""


class VerdictRow(TypedDict):
    """The fields of a comparison that are needed to describe it in a sentence."""

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
    """A comparison with its levels, result and projection."""

    twin: bool
    """Whether this is an A/A comparison. Its family is `twins`, without correction."""
    projection: NotRequired[Projection | None]
    """The number of blocks that would probably decide an inconclusive comparison. Null for other comparisons, for A/A
    pairs, or if there are no values."""
    later: NotRequired[Later]
    """Present only for first bytes, and only if packets show the reason."""


def headline(comparisons: Sequence[JudgedComparison]) -> list[JudgedComparison]:
    """Return the comparisons of verdicts.json that answer the study's question: its first family, without metrics that
    only repeat another metric (repeats.py)."""
    distinct = [comparison for comparison in comparisons if not comparison["twin"] and not comparison.get("repeats")]
    return [c for c in distinct if c["family"].partition("/")[0] == distinct[0]["family"].partition("/")[0]]
