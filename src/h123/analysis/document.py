"""verdicts.json as it is written and read (docs/contracts/verdicts.md): a row has one name, and one meaning.

Rows are dictionaries, because a large campaign has tens of thousands of them. What earlier versions did not write is
not required.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Literal, NotRequired

from pydantic import TypeAdapter, ValidationError, with_config
from typing_extensions import TypedDict

from h123.analysis.published_rows import AsPublished
from h123.base.errors import UserError
from h123.base.paths import typed
from h123.documents import fault_of, read_content
from h123.documents.campaign_file import MachineFacts, Origin, Proof, VerifiedRole, Width
from h123.store import CampaignFolder

Bound = Literal["at most", "at least"]
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


class Projected(TypedDict):
    """What would decide a comparison."""

    blocks: int | None
    basis: str


class Estimated(TypedDict):
    """The estimate of a comparison."""

    blocks: int
    a_median: float | None
    b_median: float | None
    ratio: float | None
    low: float | None
    high: float | None
    confidence: float | None


class Compared(TypedDict):
    """Which levels were compared, where, by what."""

    cell: Cell
    workload: str
    metric: str
    a: str
    b: str
    repeats: str | None


class Tested(Estimated):
    """What was found of a comparison."""

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


class Judged(Compared, Tested):
    """A comparison."""

    twin: bool
    projection: NotRequired[Projected | None]
    """Of the campaign's comparisons."""
    later: NotRequired[Later]
    """Of first bytes, where packets show why."""


class CostRow(Compared, Estimated):
    """Processor time beside the parts: nobody asked for a verdict on it."""


class PartsRow(Compared):
    """How much of a difference is protocol, and how much is processing."""

    total: Tested
    protocol: Tested
    processing: Tested


class Clocks(TypedDict):
    """The factor whose levels are the two clocks, and their names."""

    factor: str
    wall: str
    virtual: str


class PartsOfTime(TypedDict):
    clock: Clocks
    rows: Sequence[PartsRow]
    cpu: Sequence[CostRow]


class LooksTaken(TypedDict):
    """The numbers of blocks at which the campaign was looked at, and the error that the present look may spend."""

    blocks: Sequence[int]
    planned: Sequence[int]
    rule: str
    level: float


class WidthReached(Width):
    narrow: bool
    widest: float | None
    blocks: int | None


class Blocks(TypedDict):
    planned: int
    complete: int


class TrialCounts(TypedDict):
    planned: int
    valid: int
    invalid: int
    missing: int


class FailedAttemptsRow(TypedDict):
    """A treatment's attempts that its server or client failed, by the first reason of each."""

    cell: Cell
    attempts: int
    """All of it, with those that its twin had."""
    failed: int
    reasons: Mapping[str, int]


class Outlook(TypedDict):
    """What would decide the question."""

    blocks: int | None
    seconds: float | None
    power: float
    limit: int
    failed: int
    waiting: int


class PlaceRow(TypedDict):
    """Where trials ran: the blocks that are whole there, and what the machine is."""

    name: str
    blocks: Sequence[int]
    trials: int
    machine: MachineFacts


class TransportRow(TypedDict):
    """How alike the compared treatments sent."""

    transport: str
    unlike: Mapping[str, str]
    said: str


class WindowsRow(TypedDict):
    """What the initial windows alone make of a cold request's difference."""

    metric: str
    cell: Cell
    a: str
    b: str
    a_packets: int
    b_packets: int
    seconds: float
    """That a saves by its window, by arithmetic; negative: b."""
    difference: float
    """Seconds that a was seen to save."""


class SecondsBetween(TypedDict):
    """How much longer the first level takes, over the blocks."""

    seconds: float
    low: float
    high: float
    confidence: float


class CauseRow(TypedDict):
    """A part of a request's time."""

    cause: str
    group: str
    words: str
    rivals: NotRequired[Sequence[str]]
    """Groups of causes between which the evidence does not choose; without them the cause was distinguished."""
    a_seconds: float
    b_seconds: float
    difference: SecondsBetween
    size: NotRequired[float]
    """Bytes of the window, or requests at once on a connection, of the side that spends more on it."""
    round_trips: NotRequired[float]
    """The difference in round trips of the link without its queue."""


class Sums(TypedDict):
    """How far the parts sum up to the latencies, without what packets do not tell."""

    a_requests: float
    """Share of the requests of which they do within 2 %; of trials the mean."""
    b_requests: float
    a_untold: float
    """Share of the time that is untold."""
    b_untold: float


class Losses(TypedDict):
    """What losses cost the mean request."""

    a_seconds: float
    b_seconds: float
    a_held: float
    """Seconds of it in which data of other requests had arrived on the connection and was held back."""
    b_held: float


class Spent(TypedDict):
    """What the mean request of both levels spent its time on, or the median visit of a page; parts of nearly nothing
    are left out."""

    blocks: int
    a_seconds: float
    b_seconds: float
    difference: SecondsBetween
    parts: Sequence[CauseRow]
    losses: NotRequired[Losses]
    sums: NotRequired[Sums]
    told: NotRequired[bool]
    """False: so much of a side's time is untold that the parts do not say what makes the difference."""


class CausesRow(Spent):
    """Of one comparison."""

    metric: str
    cell: Cell
    a: str
    b: str


class Factor(TypedDict):
    """A comparison as a step of a ladder, or its whole: the geometric mean over the row's blocks with its interval, and
    the comparison's own estimate and verdict."""

    a: str
    b: str
    factor: float | None
    low: float | None
    high: float | None
    ratio: float | None
    verdict: str


class LadderRow(TypedDict):
    """The steps' factors multiply to the whole's."""

    cell: Cell
    workload: str
    metric: str
    blocks: int
    whole: Factor
    steps: Sequence[Factor]
    apart: float | None
    """The furthest that a factor is off its comparison's estimate, as a share of that."""


class Middle(TypedDict):
    """A median over blocks, and its interval: none of fewer than 6."""

    value: float
    low: float | None
    high: float | None
    confidence: float | None


class Reached(Middle):
    """Requests a second. A knee at the first or last step is only bounded."""

    bound: Bound | None


class CapacityStep(TypedDict):
    """What a treatment did at a step, medians over its trials; a value that failed requests leave is none."""

    level: str
    rate: float | None
    """Requests a second that were due; None of a closed loop."""
    blocks: int
    achieved: float | None
    """Requests a second that were answered."""
    latency: float | None
    tail: float | None
    """Seconds from when requests were due: the median, and the 99th percentile."""
    sent_tail: float | None
    """The 99th percentile from when they were sent."""
    client: float | None
    """Share of one processor that the client used."""


class CapacityRow(TypedDict):
    """Of one treatment: its steps from the lowest rate, closed loops apart."""

    cell: Cell
    blocks: int
    """That have all steps."""
    steps: Sequence[CapacityStep]
    closed: Sequence[CapacityStep]
    knee: Reached | None
    maximum: Reached | None
    saturated: bool
    """Whether the highest step was more than it gets through, in all blocks: else the maximum is the steps' own."""


class CapacityRatio(Middle):
    """Of two levels' knees or maxima, paired within blocks."""

    cell: Cell
    a: str
    b: str
    what: str
    blocks: int


class Capacity(TypedDict):
    """Latency against load."""

    factor: str
    """Whose levels are the steps."""
    rows: Sequence[CapacityRow]
    ratios: Sequence[CapacityRatio]


class FailuresRow(TypedDict):
    """The shares of failed requests of two levels."""

    cell: Cell
    a: str
    b: str
    blocks: int
    a_share: float
    b_share: float
    difference: float
    low: float
    high: float
    confidence: float
    p: float
    p_adjusted: float
    verdict: str


class Contrasted(TypedDict):
    level: str
    against: str


class Interaction(TypedDict):
    """How a difference depends on other factors."""

    metric: str
    a: str
    b: str
    term: Mapping[str, Contrasted]
    blocks: int
    ratio: float | None
    low: float | None
    high: float | None
    confidence: float
    p: float


class InteractionRow(Interaction):
    p_adjusted: float
    family_size: int


class ClaimChecked(TypedDict):
    possible: bool
    shown: str


class ClaimFigure(TypedDict):
    cell: Cell | None
    """None of all cells together."""
    blocks: int
    ratio: float | None
    low: float | None
    high: float | None
    confidence: float
    p: float | None


class ClaimAsked(TypedDict):
    """What a campaign is asked."""

    estimand: str | None
    condition: Mapping[str, object]
    against: Mapping[str, object]
    size: str | None
    note: str | None
    reason: str | None


class ClaimAnswered(TypedDict):
    """What it answers."""

    verdict: str
    reason: str | None
    requests: Sequence[int]
    blocks: int | None
    p: float | None
    p_adjusted: float | None
    figures: Sequence[ClaimFigure]


class ClaimRow(TypedDict):
    """A claim of a published work: both, and what arithmetic says."""

    id: str
    quotation: str | None
    summary: str | None
    source: str | None
    where: NotRequired[str | None]
    """Its place in the source."""
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
    verdict: str
    reason: str | None
    requests: Sequence[int]
    blocks: int | None
    p: float | None
    p_adjusted: float | None
    figures: Sequence[ClaimFigure]


class LedgerDecided(TypedDict):
    """What became of a ledger's claims."""

    title: str
    where: str
    study: str | None
    scale: float | None
    family_size: int
    claims: Sequence[ClaimRow]


class WithoutDisturbed(TypedDict):
    """An answer from undisturbed trials, beside that from all."""

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
    failed: Mapping[str, Sequence[int]]
    all: str


class DisturbancesFound(TypedDict):
    tolerated: float
    trials: int
    of: int
    typical: float | None
    without: Sequence[WithoutDisturbed]


class RepeatsRow(TypedDict):
    """A metric that repeats another's observation."""

    metric: str
    of: str
    comparisons: int
    correlation: float | None


class ConfoundedRow(TypedDict):
    """Parameters that the levels of a factor change together; factors that go together where there is none."""

    factor: str | None
    together: Sequence[str]


class HandshakesRow(TypedDict):
    """Of a median trial."""

    cell: Cell
    level: str
    handshakes: int
    requests: int


class TailRow(TypedDict):
    """A high quantile of a typical trial, with its own interval."""

    metric: str
    cell: Cell
    trials: int
    requests: int
    value: float | None
    low: float | None
    high: float | None
    confidence: float
    fewest: bool


class TwinsFound(TypedDict):
    comparisons: int
    rejected: int
    rate: float | None
    expected: float | None
    most: int | None
    verdict: str | None


class AuditRow(TypedDict):
    """What an audit found of a trial; of the whole campaign where there is none."""

    audit: str
    trial: str | None
    passed: bool
    value: float | None
    limit: float | None
    detail: str


class AuditCount(TypedDict):
    audit: str
    result: Literal["passed", "failed", "nothing to check"]
    checked: int
    of: int | None
    failed: int
    meaning: str
    failure: str | None


class OriginCosts(Origin):
    costs: Sequence[str]
    """What it costs that the samples were imported, in words."""


class ValueRow(TypedDict):
    """A trial's metrics."""

    trial: str
    block: int
    position: int | None
    cell: Cell
    twin: bool
    metrics: Mapping[str, float | None]


class UnprovedRow(Proof):
    """A subject whose verification did not pass, in a role that it had."""

    subject: str
    role: VerifiedRole


class DiscardedRow(TypedDict):
    """Files that were written in the trials of a server and went with the lab."""

    server: str
    trials: int
    files: str
    """The paths of the first of these trials, a few of many, as the lab lists them."""


class AnswersRow(TypedDict):
    """Two levels whose servers answered the same request differently."""

    cell: Cell
    a: str
    b: str
    requests: int
    """Of the workload, those that were answered differently; the sizes are of the one that differs most."""
    a_bytes: Sequence[int]
    """The smallest and the largest answer."""
    b_bytes: Sequence[int]


class ElsewhereRow(TypedDict):
    """A server that was reached through a gateway."""

    server: str
    address: str
    trials: int
    """That the medians are over."""
    tcp_ns: int
    """That the gateway adds to a round trip over each."""
    udp_ns: int
    beyond_ns: int | None
    """That a TCP connection to the server takes from the machine; None: it takes none."""


GateWord = Literal["passed", "failed", "undecided"]


class GateRow(TypedDict):
    """What became of the conditions that the campaign was last held against; gate.json has the figures."""

    verdict: GateWord
    lines: Sequence[str]
    """In words, the verdict first."""


@with_config(strict=True, allow_inf_nan=False)
class Verdicts(TypedDict):
    h123: Literal["verdicts/1"]
    campaign: str
    study: str
    question: str
    factor: str
    margin: float
    alpha: float
    looks: LooksTaken
    width: WidthReached | None
    seed: int
    blocks: Blocks
    attainable_p: float
    trials: TrialCounts
    failed_attempts: NotRequired[Sequence[FailedAttemptsRow]]
    unsealed: NotRequired[int]
    answers: NotRequired[Sequence[AnswersRow]]
    places: NotRequired[Sequence[PlaceRow]]
    """None where there was one."""
    unproved: NotRequired[Sequence[UnprovedRow]]
    discarded: NotRequired[Sequence[DiscardedRow]]
    gate: NotRequired[GateRow]
    """None where it was held against nothing."""
    comparisons: Sequence[Judged]
    failures: Sequence[FailuresRow]
    projection: Outlook
    transport: NotRequired[Sequence[TransportRow]]
    elsewhere: NotRequired[Sequence[ElsewhereRow]]
    causes: NotRequired[Sequence[CausesRow]]
    windows: NotRequired[Sequence[WindowsRow]]
    ladder: NotRequired[Sequence[LadderRow]]
    capacity: NotRequired[Capacity | None]
    parts: PartsOfTime | None
    interactions: Sequence[InteractionRow]
    as_published: AsPublished | None
    claims: Sequence[LedgerDecided]
    disturbances: NotRequired[DisturbancesFound]
    repeats: NotRequired[Sequence[RepeatsRow]]
    confounded: NotRequired[Sequence[ConfoundedRow]]
    handshakes: NotRequired[Sequence[HandshakesRow]]
    tails: NotRequired[Sequence[TailRow]]
    twins: TwinsFound
    audits: Sequence[AuditRow]
    audit_summary: Sequence[AuditCount]
    origin: OriginCosts | None
    values: Sequence[ValueRow]


def read_verdicts(folder: CampaignFolder) -> Verdicts:
    """All that `h123 analyse` last found. Raises UserError where it has not been run, or the file has another shape."""
    file, again = folder.verdicts, f"run `h123 analyse {typed(folder.path)}`"
    if not file.is_file():
        raise UserError(f"{folder.path} has not been analysed: it has no verdicts.json", remedy=again)
    try:
        return _model().validate_python(read_content(file, "verdicts/1"), strict=True)
    except ValidationError as invalid:
        raise UserError(f"{file} is not as h123 writes it: {fault_of(invalid)}", remedy=again) from None


@cache
def _model() -> TypeAdapter[Verdicts]:
    return TypeAdapter(Verdicts)
