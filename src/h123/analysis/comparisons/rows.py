"""Judged comparisons as verdicts.json has them, and which of them answer the question."""

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
    why: str


class Later(TypedDict):
    """Why the first answers of one side, a or b, begin later than the other's."""

    side: Literal["a", "b"]
    round_trips: int
    why: str


class Projection(TypedDict):
    """What would decide a comparison."""

    blocks: int | None
    basis: str


class EstimateRow(TypedDict):
    """The estimate of a comparison."""

    blocks: int
    a_median: float | None
    b_median: float | None
    ratio: float | None
    low: float | None
    high: float | None
    confidence: float | None


class ComparedLevels(TypedDict):
    """The compared levels, their cell, and the metric."""

    cell: Cell
    workload: str
    metric: str
    a: str
    b: str
    repeats: str | None


class TestResult(EstimateRow):
    """The result of a comparison."""

    test: str | None
    symmetric: float | None
    p: float | None
    p_attainable: float
    p_adjusted: float | None
    p_equivalent: float | None
    p_equivalent_adjusted: float | None
    family: str
    family_size: int
    correction: str
    verdict: str
    small: str | None
    withheld: Withheld | None
    undecided: NotRequired[str | None]
    """Why there is no verdict though the interval lies on one side of no difference."""
    note: str | None
    qualified: Sequence[str]
    failed: Mapping[str, Sequence[int]]
    pairs: Sequence[PairRow]


class VerdictRow(TypedDict):
    """A comparison as sentences tell it."""

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
    projection: NotRequired[Projection | None]
    """Present for the campaign's comparisons."""
    later: NotRequired[Later]
    """Present for first bytes, where packets show the reason."""


def headline(comparisons: Sequence[JudgedComparison]) -> list[JudgedComparison]:
    """The comparisons of verdicts.json that answer the study's question: its first family, each observation once
    (repeats.py)."""
    distinct = [comparison for comparison in comparisons if not comparison["twin"] and not comparison.get("repeats")]
    return [c for c in distinct if c["family"].partition("/")[0] == distinct[0]["family"].partition("/")[0]]
