"""Defines report.json: the lab's report about a trial that it has run."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from pydantic import Field

from h123.documents.shapes import Count, Document, Reason, Shape, Spans, Whole

NumberPair = Annotated[list[Count], Field(min_length=2, max_length=2)]


class Exit(Shape):
    code: int | None = None
    signal: int | None = None
    stopped: bool = False
    """Whether the lab stopped the role."""


class Cpu(Shape):
    user_ns: Count | None = None
    """Time in user mode over the role's whole life."""
    system_ns: Count | None = None
    """Time in the kernel over the role's whole life."""
    main_ns: Count
    """Processor time of the role's processes and all their descendants during the main role's run."""
    main_wait_ns: Count | None = None
    """The time for which the role's threads were ready but waited for a processor. Null under the virtual clock, or if
    the trial ended before the main role did."""
    main_turns: Count | None = None
    """The number of times that a thread got a processor. Null in the same cases as `main_wait_ns`."""
    main_over_time: list[NumberPair] = Field(default=[])
    """Pairs `[time, main_ns until then]`: at first every 5 ms, later less often, and under the virtual clock only at
    the end."""


class RoleReport(Shape):
    name: str
    host: str | None = None
    pid_exit: Exit | None = None
    ready_ns: Count | None = None
    cpu: Cpu | None = None
    max_rss_bytes: Count | None = None
    log: str | None = None
    """The path of the log in the trial's folder."""


class Counters(Shape):
    """A host's kernel counters, without those that are zero."""

    before: dict[str, Whole]
    """The counters before the main role ran, including the link check's packets."""
    after: dict[str, Whole] | None

    def grown(self, name: str) -> int:
        """Return how much the counter grew while the main role ran."""
        return max((self.after or {}).get(name, 0) - self.before.get(name, 0), 0)


class TcpReport(Shape):
    initial_window: Count | None = None
    min_rto_ns: Count | None = None
    max_payload: Count | None = None
    keep_idle_window: bool = False
    fast_open: bool = False
    ecn: bool = False
    quick_ack: bool = False


class HostReport(Shape):
    name: str
    congestion: str | None = None
    tcp: TcpReport | None = None
    """The settings in use. Null: the kernel's defaults, such as an initial window of 10 packets and a minimum
    retransmission timeout of 200 ms."""
    counters: Counters


class Lateness(Shape):
    p50: Whole | None = None
    p99: Whole
    p999: Whole | None = None
    max: Whole | None = None
    histogram: list[NumberPair] = Field(default=[])
    """Pairs `[upper bound in ns, count]`. The bounds are powers of two."""


class QueueWaits(Shape):
    """The times in ns for which packets waited in the queue because of the link's rate."""

    mean: Count
    max: Count


class DirectionReport(Shape):
    """One direction of a link."""

    packets_in: Count | None = None
    """Packets that reached the link: the sum of delivered, lost, queue_dropped, blocked, policed, too_large, thinned
    and in_flight."""
    bytes_in: Count | None = None
    delivered: Count | None = None
    """Packets that left the link."""
    bytes_delivered: Count | None = None
    ipv6_bytes_delivered: Count | None = None
    """Bytes of IPv6 packets that left the link. Null in early reports."""
    duplicated: Count | None = None
    lost: Count | None = None
    """Packets lost by the network's `loss` or a blackout."""
    queue_dropped: Count | None = None
    """Packets that the queue dropped: it was full, or its discipline chose them."""
    ecn_capable: Count | None = None
    """Packets that the queue could mark: their ECN field was ECT(0), ECT(1) or CE. Null in early reports."""
    marked: Count | None = None
    """Packets that the queue marked with Congestion Experienced. Null in early reports."""
    blocked: Count | None = None
    """Packets that a policy for UDP, ECN or an IP version dropped, or that were sent to an address from which the
    client had moved away."""
    policed: Count = 0
    """Packets dropped by the policer."""
    too_large: Count = 0
    """Packets larger than the path's MTU."""
    thinned: Count = 0
    """TCP acknowledgements that the link dropped because a later one acknowledged more."""
    reordered_near: Count = 0
    """Packets that left the link one or two places behind a packet of the same flow that was sent later (RFC 4737,
    4.2.1)."""
    reordered_far: Count = 0
    """Packets that left the link three or more places behind a packet of the same flow that was sent later. TCP and
    QUIC treat such packets as lost."""
    in_flight: Count | None = None
    """Packets still in the link at the end."""
    drop_set: str | None = None
    """SHA-256 of the lost packets' indices."""
    queue_ns: QueueWaits | None = None
    """How long packets that the queue did not drop waited because of the link's rate, including waits behind cross
    traffic. Null in early reports."""
    lateness_ns: Lateness
    """How late packets left the link, in ns."""


class CrossTrafficReport(Shape):
    """The cross traffic in one direction."""

    packets_in: Count
    bytes_in: Count
    delivered: Count
    bytes_delivered: Count
    lost: Count
    queue_dropped: Count
    received_bytes: Count
    """Bytes that the receiving programs of the cross traffic read while the main role ran."""


class DelayError(Shape):
    p50: Whole
    p99: Whole
    max: Whole | None = None


class DelayCheck(Shape):
    probes: Count | None = None
    lost: Count | None = None
    error_ns: DelayError | None
    """Quantiles of the error of the delay, in ns. None if no probe arrived."""


class LinkRateCheck(Shape):
    configured_bps: Annotated[int, Field(gt=0, lt=2**62)]
    measured_bps: Count


class LossCheck(Shape):
    sent: Count
    lost: Count
    expected_lost: Annotated[int | float, Field(ge=0, le=1e18)]
    low: Count | None = None
    """The smallest number of losses that is plausible with the configured loss."""
    high: Count | None = None


class BurstCheck(Shape):
    sent: Count
    delivered: Count
    expected: Count


Side = Literal["up", "down"]


class LinkCheck(Shape):
    delay: dict[Side, DelayCheck | None] | None = None
    """The probes and the errors of their delays, by direction."""
    rate: dict[Side, LinkRateCheck | None] | None = None
    loss: dict[Side, LossCheck | None] | None = None
    burst: dict[Side, BurstCheck | None] | None = None
    """Whether the queue holds as much as configured."""
    passed: bool | None = None
    failures: list[str] = Field(default=[])
    """The failed conditions, in words."""


class UnreadFrames(Shape):
    """A group of connections whose frames could not be read for the same reason."""

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
    """Whether the kernel stamps arriving packets. If not, a packet's arrival is the time at which the lab read the
    packet."""
    draws: int | None = None
    """The version of the algorithm whose random draws decide what happens to each packet. Null: version 1."""
    check: LinkCheck | None = None
    """The results of the link check. Null if the trial did not request a check, or the link is a veth. Parts with
    nothing to check are null."""
    directions: Mapping[Side, DirectionReport | None] | None = None
    """Counts of the trial's own packets. Null for a veth."""
    cross: Mapping[Side, CrossTrafficReport] | None = None
    """Counts of cross traffic alone."""
    stalls: Spans | None = None
    """Spans `[from, to]` in which packets were overdue, on the clock of the samples. Null for a veth."""
    packets_left_out: Count | None = None
    """The number of packets for which the record had no room. None if there is no record."""
    frames_left_out: Count | None = None
    """The number of packets whose frames were not read, plus the number of frames that were not recorded, for lack of
    room. None if the trial records no frames."""
    frames_unread: list[UnreadFrames] | None = None

    def ways(self) -> list[DirectionReport]:
        return [way for way in (self.directions or {}).values() if way]


class MachineLoad(Shape):
    """The load of the machine. Empty if the lab ended too early to report it."""

    cpus: Annotated[int, Field(ge=0, le=10**6)] = 0
    wall_ns: Count = 0
    busy_ns: Count = 0
    """The non-idle time of all processors while the main role ran."""
    steal_ns: Count = 0
    """The processor time that the hypervisor gave to other guests."""
    lab_ns: Count | None = None
    """The lab's part of `busy_ns`. Null in early reports."""
    cpu_pressure_ns: Count | None = None
    stalls: list[Spans] | None = None
    """For each processor, spans in which it was not available. Null without real-time priority or under the virtual
    clock."""


class UserNamespace(Shape):
    """The rights of root that the system granted to a lab that did not run as root."""

    realtime: bool
    """Whether links and their checks had real-time priority."""
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
    """Durations of `setup`, `check`, `ready`, `main` and `teardown`, in ns."""
    main_began_ns: Count = 0
    """The start of the main role, on the clock of the samples."""
    links: Sequence[LinkReport]
    roles: Sequence[RoleReport]
    hosts: list[HostReport]
    tcp_left_out: Count | None = None
    """The number of rows that did not fit into the record of TCP's state. None if there is no such record."""
    machine: MachineLoad
    user_namespace: UserNamespace | None = None
    """The rights that the system granted to the lab. Absent if the lab ran as root or under the virtual clock."""


class FinishedDirection(DirectionReport):
    @property
    def refused(self) -> int:
        """The number of packets that the link dropped, apart from `lost`: by the queue, a policy or the policer, for
        exceeding the MTU, or by ACK thinning."""
        return self.queue_dropped + self.blocked + self.policed + self.too_large + self.thinned

    packets_in: Count
    delivered: Count
    lost: Count
    queue_dropped: Count
    blocked: Count
    in_flight: Count


class FinishedLink(LinkReport):
    directions: Mapping[Side, FinishedDirection | None] | None = None

    def counted(self) -> dict[str, FinishedDirection]:
        """Return the counters of each direction. Empty for a veth."""
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
"""The report of an attempt that no lab ran."""
