"""The shapes of a campaign's files, as far as h123 reads them: what is in a folder may be anybody's.

A shape is only held against a file; whoever reads goes on with the file's own content. What earlier versions did not
write is optional. Numbers are bounded so that no arithmetic on them overflows.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from h123.study.network import Bottleneck, Direction

Whole = Annotated[int, Field(ge=-(2**62), lt=2**62)]
Count = Annotated[int, Field(ge=0, lt=2**62)]
Share = Annotated[float, Field(ge=0, le=1)]
Seconds = Annotated[float, Field(ge=0, le=1e10)]
Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Spans = list[Annotated[list[Whole], Field(min_length=2, max_length=2)]]


class Shape(BaseModel):
    """Types as JSON has them: no text for a number, no number for a truth."""

    model_config = ConfigDict(strict=True, allow_inf_nan=False)


def _sane(way: Direction) -> Direction:
    changes = way.changes or []
    delays = [way.delay_ns, *(change.delay_ns for change in changes)]
    delays += [way.jitter.spread_ns] if way.jitter else []
    delays += [way.reorder.ahead_ns] if way.reorder else []
    if any(abs(delay or 0) >= 2**62 for delay in delays):
        raise ValueError("a delay that no link has")
    losses = [loss.mean for loss in (way.loss, *(change.loss for change in changes)) if loss]
    if not all(0 <= share <= 1 for share in losses):
        raise ValueError("a loss that no link has")
    if not all(_possible(rate) for rate in (way.rate, *(change.rate for change in changes)) if rate):
        raise ValueError("a rate that no link has")
    return way


def _possible(rate: Bottleneck) -> bool:
    if rate.bps is not None:
        return 0 < rate.bps < 2**62
    trace, size = rate.trace_ms, rate.opportunity_bytes
    return bool(trace and size and 0 < trace[-1] < 2**53 and 0 < size < 2**32 and trace == sorted(trace))


Way = Annotated[Direction, AfterValidator(_sane)]


class Reason(Shape):
    code: str
    detail: str


class Trial(Shape):
    """A `trial` event of the journal."""

    time: str
    trial: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._+-]*$", max_length=240)]
    """It names a folder."""
    attempt: Annotated[int, Field(ge=1, le=10**6)]
    block: Annotated[int, Field(ge=1, le=10**6)]
    position: Annotated[int, Field(ge=1, le=10**6)] | None
    cell: dict[str, str]
    twin: bool
    parameters: dict[str, Any]
    link_seed: Annotated[int, Field(ge=0, lt=2**63)] | None
    valid: bool
    reasons: list[Reason]
    alone: bool = True
    disturbed: bool = False
    disturbance: Share | None = None
    shares: dict[str, Share] = {}
    crowded: bool = False
    noise: Annotated[float, Field(ge=0, le=1e6)] = 0.0
    seconds: Seconds | None
    seal: Digest | None = None


class Cpu(Shape):
    main_ns: Count
    main_wait_ns: Count | None = None
    main_turns: Count | None = None
    """None where the trial ended before the main role did."""
    main_over_time: list[Annotated[list[Count], Field(min_length=2, max_length=2)]] = []


class Role(Shape):
    name: str
    cpu: Cpu | None = None
    max_rss_bytes: Count | None = None


class Counters(Shape):
    before: dict[str, Whole]
    after: dict[str, Whole] | None


class Host(Shape):
    name: str
    congestion: str | None = None
    counters: Counters


class Lateness(Shape):
    p99: Whole


class Late(Shape):
    lateness_ns: Lateness


class Counted(Late):
    packets_in: Count
    delivered: Count
    lost: Count
    queue_dropped: Count
    blocked: Count
    in_flight: Count


class Error(Shape):
    p50: Whole
    p99: Whole


class Delay(Shape):
    error_ns: Error | None
    """None where no probe arrived."""


class Rate(Shape):
    configured_bps: Annotated[int, Field(gt=0, lt=2**62)]
    measured_bps: Count


class Loss(Shape):
    sent: Count
    lost: Count
    expected_lost: Annotated[float, Field(ge=0, le=1e18)]


class Check(Shape):
    delay: dict[str, Delay | None] | None = None
    rate: dict[str, Rate | None] | None = None
    loss: dict[str, Loss | None] | None = None


class Link(Shape):
    kind: Literal["emulated", "veth"] | None = None
    check: Check | None = None
    directions: Mapping[Literal["up", "down"], Late | None] | None = None
    stalls: Spans | None = None


class Machine(Shape):
    """Empty where the lab ended before it could tell."""

    cpus: Annotated[int, Field(ge=0, le=10**6)] = 0
    wall_ns: Count = 0
    busy_ns: Count = 0
    steal_ns: Count = 0
    lab_ns: Count = 0
    stalls: list[Spans] | None = None


class Report(Shape):
    """report.json."""

    reasons: list[Reason]
    warnings: list[Reason] = []
    started_unix_ns: Count
    phases_ns: dict[str, Count]
    main_began_ns: Count = 0
    links: Sequence[Link]
    roles: Sequence[Role]
    hosts: list[Host]
    machine: Machine


class FinishedLink(Link):
    directions: Mapping[Literal["up", "down"], Counted | None] | None = None


class FinishedRole(Role):
    cpu: Cpu


class FinishedMachine(Machine):
    cpus: Annotated[int, Field(ge=0, le=10**6)]
    wall_ns: Count
    busy_ns: Count


class Finished(Report):
    """report.json of a trial that ran to its end."""

    links: Sequence[FinishedLink]
    roles: Sequence[FinishedRole]
    machine: FinishedMachine


class Tls(Shape):
    version: str | None = None
    cipher: str | None = None
    key_exchange: str | None = None
    alpn: str | None = None
    connections: Count = 0
    resumed: bool = False
    requests: Count = 0
    """Both of imported samples."""


class Client(Shape):
    """client.json."""

    tls: list[Tls] = []
    congestion: str | None = None


class Path(Shape):
    """What a network or a link does to packets."""

    up: Way | None = None
    down: Way | None = None


class TrialFile(Shape):
    """trial.json, of which the analysis reads the first link."""

    links: Annotated[list[Path], Field(min_length=1)]


class Seal(Shape):
    """seal.json."""

    files: dict[str, Digest]


class File(Shape):
    name: str
    sha256: Digest


class Origin(Shape):
    kind: Literal["imported"]
    files: list[File]
    schema_: Annotated[str, Field(alias="schema")]
    requests: Count
    blocks: bool
    runs: Count
    timed: bool
    ordered: bool
    unknown: list[str]


class Subject(Shape):
    version: str
    stack: str
    language: str
    congestion: dict[str, str | list[str]] = {}
    initial_window: list[Literal["server", "client"]] = []
    pacing: list[Literal["server", "client"]] = []
    max_datagram: list[Literal["server", "client"]] = []


class MachineFacts(Shape):
    """Empty where samples are imported."""

    cpus: int | None = None
    cpus_usable: int | None = None
    memory_bytes: Count | None = None
    load_average: list[float] | None = None


class Width(Shape):
    wanted: Annotated[float, Field(gt=0, le=1)]
    at_most: Annotated[int, Field(ge=1, le=100_000)] | None = None


class Campaign(Shape):
    """campaign.json; study and networks are read by the study room."""

    study: dict[str, Any]
    networks: dict[str, Path]
    seed: Annotated[int, Field(ge=0, lt=2**53)]
    blocks: Annotated[int, Field(ge=1, le=100_000)]
    only: dict[str, list[str]]
    looks: list[Annotated[int, Field(ge=1, le=100_000)]] = []
    width: Width | None = None
    version: str
    created: str
    machine: MachineFacts
    subjects: dict[str, Subject]
    origin: Origin | None = None
    digest: Digest | None = None


SHAPES: dict[str, type[Shape]] = {
    "campaign/1": Campaign,
    "report/1": Report,
    "client/1": Client,
    "trial/1": TrialFile,
    "seal/1": Seal,
}
"""By format line."""
