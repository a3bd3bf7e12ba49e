"""report.json: what the lab reports about a trial that it has run."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from pydantic import Field

from h123.documents.shapes import Count, Document, Reason, Shape, Spans, Whole

NumberPair = Annotated[list[Count], Field(min_length=2, max_length=2)]


class Exit(Shape):
    code: int | None = None
    signal: int | None = None
    stopped: bool = False
    """Whether the lab stopped it."""


class Cpu(Shape):
    user_ns: Count | None = None
    """Time in user mode over the role's whole life."""
    system_ns: Count | None = None
    """Time in the kernel over the role's whole life."""
    main_ns: Count
    """Time of all processes that descend from the role's, during the main role's run."""
    main_wait_ns: Count | None = None
    """How long its threads were ready but waited for a processor. Null under the virtual clock, and if the trial ended
    before the main role did."""
    main_turns: Count | None = None
    """How often a thread got a processor. Null in the same cases as `main_wait_ns`."""
    main_over_time: list[NumberPair] = Field(default=[])
    """`[when, main_ns so far]`, every 5 ms at first, then less often; under the virtual clock only at the end."""


class RoleReport(Shape):
    name: str
    host: str | None = None
    pid_exit: Exit | None = None
    ready_ns: Count | None = None
    cpu: Cpu | None = None
    max_rss_bytes: Count | None = None
    log: str | None = None
    """Path of the log, in the trial's folder."""


class Counters(Shape):
    """The kernel's counters of a host. It leaves out those that are zero."""

    before: dict[str, Whole]
    """The counters before the main role ran, including the link check's packets."""
    after: dict[str, Whole] | None

    def grown(self, name: str) -> int:
        """How much each counter grew while the main role ran."""
        return max((self.after or {}).get(name, 0) - self.before.get(name, 0), 0)


class TcpReport(Shape):
    initial_window: Count | None = None
    min_rto_ns: Count | None = None
    max_payload: Count | None = None
    keep_idle_window: bool = False
    fast_open: bool = False


class HostReport(Shape):
    name: str
    congestion: str | None = None
    tcp: TcpReport | None = None
    """The settings in use. Null: the kernel's own, 10 packets and 200 ms."""
    counters: Counters


class Lateness(Shape):
    p50: Whole | None = None
    p99: Whole
    p999: Whole | None = None
    max: Whole | None = None
    histogram: list[NumberPair] = Field(default=[])
    """`[upper bound, count]`, powers of two."""


class QueueWaits(Shape):
    """Times that packets waited for the link's rate, behind other packets in the queue, ns."""

    mean: Count
    max: Count


class DirectionReport(Shape):
    """A direction of a link."""

    packets_in: Count | None = None
    """delivered + lost + queue_dropped + blocked + in_flight."""
    bytes_in: Count | None = None
    delivered: Count | None = None
    """Packets that left the link."""
    bytes_delivered: Count | None = None
    duplicated: Count | None = None
    lost: Count | None = None
    """Packets lost by the network's `loss` or a blackout."""
    queue_dropped: Count | None = None
    """Packets dropped because the queue was full."""
    blocked: Count | None = None
    """Packets stopped by the UDP policy, or whose receiver has moved."""
    in_flight: Count | None = None
    """Packets still in the link at the end."""
    drop_set: str | None = None
    """SHA-256 of the lost packets' indices."""
    queue_ns: QueueWaits | None = None
    """Waits for the link's rate, cross traffic included, of packets that the queue let through. Null in early
    reports."""
    lateness_ns: Lateness
    """How late packets left."""


class CrossTrafficReport(Shape):
    """The cross traffic that went one way."""

    packets_in: Count
    bytes_in: Count
    delivered: Count
    bytes_delivered: Count
    lost: Count
    queue_dropped: Count
    received_bytes: Count
    """Bytes that programs received while the main role ran."""


class DelayError(Shape):
    p50: Whole
    p99: Whole
    max: Whole | None = None


class DelayCheck(Shape):
    probes: Count | None = None
    lost: Count | None = None
    error_ns: DelayError | None
    """None if no probe arrived."""


class LinkRateCheck(Shape):
    configured_bps: Annotated[int, Field(gt=0, lt=2**62)]
    measured_bps: Count


class LossCheck(Shape):
    sent: Count
    lost: Count
    expected_lost: Annotated[int | float, Field(ge=0, le=1e18)]
    low: Count | None = None
    """The fewest losses that chance allows."""
    high: Count | None = None


class BurstCheck(Shape):
    sent: Count
    delivered: Count
    expected: Count


Side = Literal["up", "down"]


class LinkCheck(Shape):
    delay: dict[Side, DelayCheck | None] | None = None
    """Probes and their errors, by side."""
    rate: dict[Side, LinkRateCheck | None] | None = None
    loss: dict[Side, LossCheck | None] | None = None
    burst: dict[Side, BurstCheck | None] | None = None
    """Whether the queue holds as much as configured."""
    passed: bool | None = None
    failures: list[str] = Field(default=[])
    """The failed conditions, in words."""


class UnreadFrames(Shape):
    """Connections whose frames could not be read, for the same reason."""

    why: Literal["no-keys", "cipher", "beginning", "damaged"]
    connections: Count
    ports: list[Count]
    """The client's ports on the first of these connections."""


class LinkReport(Shape):
    name: str | None = None
    kind: Literal["emulated", "veth"] | None = None
    realtime: bool | None = None
    """Whether the link's thread had real-time priority."""
    stamps: bool | None = None
    """Whether the kernel stamps packets as they arrive; if not, a packet arrives when it is read."""
    draws: int | None = None
    """The version of the random draws that decided the packets' fates; reports without it are of the first."""
    check: LinkCheck | None = None
    """Null if the trial did not ask for one, as is each part with nothing to check. A veth has none."""
    directions: Mapping[Side, DirectionReport | None] | None = None
    """Counts of the trial's own packets. A veth has none."""
    cross: Mapping[Side, CrossTrafficReport] | None = None
    """Counts of cross traffic alone."""
    stalls: Spans | None = None
    """Spans `[from, to]` in which packets were overdue, on the clock of the samples; null for a veth."""
    packets_left_out: Count | None = None
    """Packets that the record had no room for. None if there is no record."""
    frames_left_out: Count | None = None
    """Packets whose frames were not read, and frames that were not recorded, for lack of room. None if the trial
    records no frames."""
    frames_unread: list[UnreadFrames] | None = None

    def ways(self) -> list[DirectionReport]:
        """The reports of the directions that the link has."""
        return [way for way in (self.directions or {}).values() if way]


class MachineLoad(Shape):
    """Empty if the lab ended before it could report it."""

    cpus: Annotated[int, Field(ge=0, le=10**6)] = 0
    wall_ns: Count = 0
    busy_ns: Count = 0
    """Non-idle time of all processors while the main role ran."""
    steal_ns: Count = 0
    """Time that the host took."""
    lab_ns: Count | None = None
    """The lab's own part of `busy_ns`. Null in early reports."""
    cpu_pressure_ns: Count | None = None
    stalls: list[Spans] | None = None
    """For each processor, spans in which it was not available; null without real-time priority, and under the virtual
    clock."""


class UserNamespace(Shape):
    """The rights of root that the system granted to a lab that was not root."""

    realtime: bool
    """Real-time priority for links and their checks."""
    memory_locked: bool
    """Whether the system kept the links' memory from being swapped out."""
    probe_buffer_bytes: Count
    """The receive buffer of the link check, as the kernel counts it."""
    files: Literal["own", "read-only"]
    """Whether roles could change the user's files during the trial, or only read them."""


class Report(Document):
    h123: Literal["report/1"]
    id: str | None = None
    clock: Literal["wall", "virtual"] | None = None
    valid: bool | None = None
    reasons: list[Reason]
    warnings: list[Reason] = Field(default=[])
    started_unix_ns: Count
    phases_ns: dict[str, Count]
    """Durations of `setup`, `check`, `ready`, `main` and `teardown`, ns."""
    main_began_ns: Count = 0
    """When the main role began, on the clock of the samples."""
    links: Sequence[LinkReport]
    roles: Sequence[RoleReport]
    hosts: list[HostReport]
    tcp_left_out: Count | None = None
    """Rows that TCP's account had no room for; None if there is no account."""
    machine: MachineLoad
    user_namespace: UserNamespace | None = None
    """Absent if the lab was root, and under the virtual clock."""


class FinishedDirection(DirectionReport):
    packets_in: Count
    delivered: Count
    lost: Count
    queue_dropped: Count
    blocked: Count
    in_flight: Count


class FinishedLink(LinkReport):
    directions: Mapping[Side, FinishedDirection | None] | None = None

    def counted(self) -> dict[str, FinishedDirection]:
        """The counters of each direction; none for a veth."""
        return {name: way for name, way in (self.directions or {}).items() if way}


class FinishedRole(RoleReport):
    cpu: Cpu


class FinishedMachineLoad(MachineLoad):
    cpus: Annotated[int, Field(ge=0, le=10**6)]
    wall_ns: Count
    busy_ns: Count


class FinishedReport(Report):
    """The report of a trial that ran to its end."""

    links: Sequence[FinishedLink]
    roles: Sequence[FinishedRole]
    machine: FinishedMachineLoad


NO_REPORT = FinishedReport(
    h123="report/1",
    reasons=[],
    started_unix_ns=0,
    phases_ns={},
    links=[],
    roles=[],
    hosts=[],
    machine=FinishedMachineLoad(cpus=0, wall_ns=0, busy_ns=0),
)
"""The report of an attempt that was not executed by a lab."""
