"""Defines the rows of the `as_published` part of verdicts.json."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal, NotRequired

from pydantic import AfterValidator, Field
from typing_extensions import TypedDict

Cell = Mapping[str, str]
Measured = Annotated[float, Field(ge=-1e15, le=1e15)]
LEAST = 1e-15
Ratio = Annotated[float, Field(ge=LEAST, le=1e15)]


class Shapiro(TypedDict):
    w: float
    p: float
    n: int


class PooledSide(TypedDict):
    """The figures that the paper computes for one treatment, and two (`correlation` and `independent`) that show the
    cost of pooling requests."""

    n: int
    """The number of requests in all runs."""
    runs: int
    median: float
    mean: float
    cv: float | None
    """The standard deviation of the runs' means, divided by their mean; null for a single run."""
    consistency: str | None
    """The class of `cv`: `highly consistent` up to 10 %, `consistent` to 15 %, `sufficiently consistent` to 20 %, else
    `inconsistent`. Null if `cv` is."""
    shapiro: Shapiro | None
    """The Shapiro-Wilk test of at most 5000 requests; null for fewer than 3 values or if all are equal."""
    correlation: float | None
    """The intraclass correlation: the share of the variance of log values that lies between runs. Null if it cannot be
    estimated."""
    independent: float | None
    """The number of independent requests that would give as much information as the pooled ones. Null if `correlation`
    is."""


class SoundRow(TypedDict):
    """h123's own comparison, next to the published one."""

    metric: str
    """The metric that h123 tests. For a published throughput, it is latency, and the ratio and its interval are
    inverted."""
    blocks: int
    p_adjusted: float | None
    verdict: str
    ratio: float
    low: float | None
    high: float | None
    confidence: NotRequired[float | None]
    """The confidence level of the interval. Absent in files of earlier versions."""


class SoundComparison(TypedDict):
    sound: SoundRow | None
    """h123's own comparison; null if there is none."""
    agrees: bool | None
    """Whether both analyses find the same difference, or both find none. Null if `sound` is."""
    reason: str | None
    """Why the two analyses disagree. Null unless they do."""


class Tests(TypedDict):
    """The published tests, applied to the pooled requests of two levels."""

    a_side: PooledSide
    b_side: PooledSide
    u: float
    p: float
    r_rb: float
    effect: str
    median_difference: float
    verdict: str
    note: str | None


class PublishedPair(Tests):
    """A comparison by the published procedure."""

    cell: Cell
    metric: str
    a: str
    b: str
    repeats: str | None


class PublishedRow(PublishedPair, SoundComparison):
    """A comparison by the published procedure, next to h123's."""


class Group(TypedDict):
    level: str
    n: int
    median: float


class FactorTest(TypedDict):
    """A Kruskal-Wallis test over a factor's levels."""

    within: Cell
    """The level of the factor `method` at which the other factor is tested; empty if the study has no factor `method`.
    All other factors are pooled."""
    factor: str
    metric: str
    h: float
    df: int
    p: float
    groups: Sequence[Group]


class Agreement(TypedDict):
    compared: int
    agree: int
    disagree: int


class Replication(TypedDict):
    """One trial, with the averages that the paper computes."""

    block: int
    requests: int
    mean: float
    median: float


class LinkBounds(TypedDict):
    """The minimum time, or the maximum throughput, that a link allows one request."""

    alone: float | None
    """The bound for a request that has the link to itself: minimum seconds, or maximum bytes per second."""
    share: float | None
    """The bound if all users share the link equally, in the unit of `alone`. Null for the time to first byte, or if the
    number of users is unknown."""


class ReplicationsRow(TypedDict):
    """The trials of one treatment."""

    cell: Cell
    metric: str
    trials: Sequence[Replication]
    link: LinkBounds | None


class Centre(TypedDict):
    """A central value of several trials, with its interval."""

    value: Measured
    low: Measured | None
    high: Measured | None
    confidence: float | None
    trials: int


class OursRow(Centre):
    cell: Cell


def _has_interval_or_none(row: OursRow) -> OursRow:
    if len({row[name] is None for name in ("low", "high", "confidence")}) > 1:
        raise ValueError("low, high and confidence must all be null, or none of them")
    return row


class Range(TypedDict):
    low: float
    high: float


class Used(Range):
    """The bound that a link sets in one cell, and the printed figure relative to this bound. The bound is a range if
    the cell does not set every factor."""

    used: float
    """The printed rate divided by the loosest bound, or the loosest bound divided by the printed time. If this is above
    1 for `alone`, the figure is impossible."""


class PrintedLink(TypedDict):
    alone: Used | None
    share: Used | None


class PrintedRow(TypedDict):
    """A printed figure next to the campaign's own value."""

    where: str
    quotation: str
    note: str | None
    metric: str
    statistic: str
    kind: Literal["value", "change", "effect"]
    """`value` is about one level; `change` and `effect` compare two."""
    cell: Cell
    of: str
    written: Sequence[str]
    printed: Range
    ours: Sequence[Annotated[OursRow, AfterValidator(_has_interval_or_none)]]
    """The campaign's own values, one for each treatment that the figure is about."""
    ratio: Ratio | None
    """The campaign's value divided by the printed one. Null for ranges, changes and effects, or if `ours` does not have
    exactly one element."""
    link: PrintedLink | None
    """The bounds of the paper's link, over all levels of factors that the cell does not set; null for changes and
    effects, or if there is no limit."""


def _has_logarithm(row: PrintedRow) -> PrintedRow:
    """Check that times and rates in the row are positive, because they are drawn on logarithmic axes."""
    if row["kind"] == "value" and any(own["value"] < LEAST for own in row["ours"]):
        raise ValueError("ours: the value of a time or rate must be positive")
    return row


class PrintedComparison(TypedDict):
    source: Mapping[str, object]
    compared: str
    rows: Sequence[Annotated[PrintedRow, AfterValidator(_has_logarithm)]]


class AsPublished(TypedDict):
    comparisons: Sequence[PublishedRow]
    kruskal_wallis: Sequence[FactorTest]
    agreement: Agreement
    replications: Sequence[ReplicationsRow]
    printed: PrintedComparison | None
