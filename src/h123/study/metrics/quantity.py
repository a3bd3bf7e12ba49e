"""Defines the quantities behind metrics (times of requests, visits, packets, processors), and what a trial must provide
for each.

measures/metrics.py computes their values from a trial's samples and report.json.
"""

from dataclasses import dataclass
from typing import ClassVar, Literal

from h123.catalogue import Ability

Clock = Literal["wall", "virtual"]
Role = Literal["server", "client", "backend"]
Way = Literal["up", "down"]
Arrival = Literal["complete", "document", "largest"]
PageEvent = Literal["dom_content_loaded", "load"]
VisitTime = Arrival | PageEvent
Stage = Literal["queued", "connecting", "waiting", "receiving"]


@dataclass(frozen=True)
class Needs:
    """The requirements that a trial must meet for a value to be computed."""

    columns: tuple[str, ...] = ()
    """The columns that the trial's samples must have, in addition to `phase`, `status` and `error`."""
    client: tuple[Ability, ...] = ()
    """The abilities that the trial's client must have."""
    report: tuple[str, ...] = ()
    """The fields that report.json must have for each role, or for the client's link."""
    facts: tuple[str, ...] = ()
    """The fields that client.json must have for each visit."""
    packets: bool = False
    """Whether the packets of the client's link must be recorded."""
    breaks: bool = False
    """Whether the trial needs a network over which the client moves, or which blocks UDP partway."""
    counterpart: bool = False
    """Whether the trial must lose one packet, and the block must have another trial in which that packet was
    delivered."""
    requests: int = 1
    """The smallest number of requests in the phase. With fewer, a high quantile is meaningless."""


@dataclass(frozen=True)
class RequestTime:
    """A quantile of the times that a phase's requests took, from their start `until` an event."""

    clocks: ClassVar[tuple[Clock, ...]] = ("wall", "virtual")
    phase: Literal["warm", "cold"]
    until: Literal["connected_ns", "first_byte_ns", "end_ns"]
    share: float = 0.5
    requests: int = 1

    @property
    def needs(self) -> Needs:
        abilities: dict[Ability, bool] = {"ttfb": self.until == "first_byte_ns", "cold": self.phase == "cold"}
        client = tuple(ability for ability, needed in abilities.items() if needed)
        return Needs(("start_ns", self.until), client, requests=self.requests)


@dataclass(frozen=True)
class TimeFromSend:
    """A quantile of the times that warm requests took after they were sent. The wait before is left out (coordinated
    omission)."""

    clocks: ClassVar[tuple[Clock, ...]] = ("wall", "virtual")
    share: float
    requests: int

    @property
    def needs(self) -> Needs:
        return Needs(("sent_ns", "end_ns"), requests=self.requests)


@dataclass(frozen=True)
class PageTime:
    """The median time that warm page visits took, from their start until an event."""

    clocks: ClassVar[tuple[Clock, ...]] = ("wall", "virtual")
    until: VisitTime
    """The event that ends the time: the last resource's end, the document's first byte, the largest body's end, or an
    event of the browser."""

    @property
    def needs(self) -> Needs:
        every = ("user", "group", "start_ns")
        match self.until:
            case "complete":
                return Needs((*every, "end_ns"))
            case "document":
                return Needs((*every, "resource", "first_byte_ns"), ("ttfb",))
            case "largest":
                return Needs((*every, "resource", "end_ns"))
            case _:
                return Needs((*every, "end_ns"), facts=(f"{self.until}_ns",))


@dataclass(frozen=True)
class StageTime:
    """The median, over warm visits, of the mean time that the visit's requests spent in a stage."""

    clocks: ClassVar[tuple[Clock, ...]] = ("wall", "virtual")
    stage: Stage
    """The stage. A request is queued until it has a place on a connection, connecting until a new connection is open,
    waiting until the first byte, and receiving until the last. The stages add up to the request's time."""

    @property
    def needs(self) -> Needs:
        start_columns, end_columns = ("start_ns", "sent_ns", "reused"), ("first_byte_ns",)
        columns = {"queued": start_columns, "connecting": start_columns, "waiting": ("sent_ns", *end_columns)}
        return Needs(("user", "group", *columns.get(self.stage, ("end_ns", *end_columns))), self._abilities)

    @property
    def _abilities(self) -> tuple[Ability, ...]:
        return ("ttfb",) if self.stage in ("waiting", "receiving") else ()


@dataclass(frozen=True)
class OpenedConnections:
    """The median number of connections that a warm visit opened, counted from packets of the client's link.

    Browsers open connections that they never use. The samples do not show these, because the `connection` column counts
    only connections that carry requests. The hosts' counters lack QUIC connections, but include connections of the
    browser's driver and of proxies. On the link, every connection has a first packet, over TCP or UDP, whose time shows
    which visit opened the connection.
    """

    clocks: ClassVar[tuple[Clock, ...]] = ("wall", "virtual")
    needs: ClassVar[Needs] = Needs(("user", "group", "start_ns", "end_ns"), packets=True)


@dataclass(frozen=True)
class BodyRate:
    """The bytes of bodies divided by the time that they took, for all warm requests together or for each request."""

    clocks: ClassVar[tuple[Clock, ...]] = ("wall", "virtual")
    by: Literal["trial", "request"]

    @property
    def needs(self) -> Needs:
        return Needs(("start_ns", "end_ns", "bytes_up", "bytes_down"))


@dataclass(frozen=True)
class RequestRate:
    """The number of warm requests divided by the time from the start of the first to the end of the last."""

    clocks: ClassVar[tuple[Clock, ...]] = ("wall", "virtual")
    needs: ClassVar[Needs] = Needs(("start_ns", "end_ns"))


@dataclass(frozen=True)
class ProcessorTime:
    """The processor time of one or more roles, divided by requests or connections. `all` is the total per request;
    `open` is the part after all connections were open, per request; `opening` is the part before that, per
    connection."""

    clocks: ClassVar[tuple[Clock, ...]] = ("wall",)
    """The virtual clock is missing. Under it, processing takes no time, and the kernel counts nothing but rounding
    errors."""
    roles: tuple[Role, ...]
    """`backend` is everything behind the server: the store of its objects, or a proxy's origin."""
    part: Literal["all", "open", "opening"] = "all"

    @property
    def needs(self) -> Needs:
        columns = {"all": (), "open": ("start_ns", "end_ns"), "opening": ("start_ns", "end_ns", "reused")}
        return Needs(columns[self.part], report=("cpu.main_ns" if self.part == "all" else "cpu.main_over_time",))


@dataclass(frozen=True)
class ResidentMemory:
    """The largest resident set of a role during the trial, in bytes."""

    clocks: ClassVar[tuple[Clock, ...]] = ("wall", "virtual")
    role: Literal["server", "client"]

    @property
    def needs(self) -> Needs:
        return Needs(report=("max_rss_bytes",))


@dataclass(frozen=True)
class ProcessOverhead:
    """The time that the requesting program takes before its first request, or after its last."""

    clocks: ClassVar[tuple[Clock, ...]] = ("wall", "virtual")
    part: Literal["start", "end"]

    @property
    def needs(self) -> Needs:
        return Needs((f"{self.part}_ns",), ("process",))


@dataclass(frozen=True)
class LinkTraffic:
    """All packets or bytes that reached the client's link in this direction, divided by the number of requests. They
    include handshakes, headers, acknowledgements and retransmissions."""

    clocks: ClassVar[tuple[Clock, ...]] = ("wall", "virtual")
    way: Way
    what: Literal["bytes", "packets"] = "bytes"

    @property
    def needs(self) -> Needs:
        return Needs(report=(f"{self.what}_in",))


@dataclass(frozen=True)
class QueueDelay:
    """The mean time that packets in this direction spent in the queue of the client's link and in transmission. A link
    without a rate has no queue delay."""

    clocks: ClassVar[tuple[Clock, ...]] = ("wall", "virtual")
    needs: ClassVar[Needs] = Needs(report=("queue_ns",))
    way: Way


@dataclass(frozen=True)
class PacketShare:
    """The packets in this direction that the client's link marked, reordered, or dropped for one reason, as a
    percentage of those that reached the link. No value if this happened to no packet."""

    clocks: ClassVar[tuple[Clock, ...]] = ("wall", "virtual")
    way: Way
    what: Literal["marked", "queue_dropped", "too_large", "reordered_far"]

    @property
    def needs(self) -> Needs:
        return Needs(report=("packets_in", self.what))


@dataclass(frozen=True)
class CrossTrafficRate:
    """The bytes that the programs of the cross traffic received in this direction while the client ran, divided by that
    time."""

    clocks: ClassVar[tuple[Clock, ...]] = ("wall", "virtual")
    needs: ClassVar[Needs] = Needs(report=("received_bytes",))
    way: Way


@dataclass(frozen=True)
class OpeningCost:
    """The median number of round trips, bytes or packets on the link from a connection's first packet to the first byte
    of the response, over connections with a cold request."""

    clocks: ClassVar[tuple[Clock, ...]] = ("wall", "virtual")
    needs: ClassVar[Needs] = Needs(("start_ns", "first_byte_ns"), ("ttfb", "cold"), packets=True)
    what: Literal["round_trips", "bytes_up", "bytes_down", "packets_up", "packets_down"]


@dataclass(frozen=True)
class RoundTripRate:
    """The round trips per minute on connections with a cold request, until the first byte of the response. This is the
    number of round trips, counted on the link, divided by the time that all of them took."""

    clocks: ClassVar[tuple[Clock, ...]] = ("wall", "virtual")
    needs: ClassVar[Needs] = OpeningCost.needs


@dataclass(frozen=True)
class RecoveryTime:
    """The median time from a client's move, or from the moment when UDP is blocked, to the next complete response."""

    clocks: ClassVar[tuple[Clock, ...]] = ("wall", "virtual")
    needs: ClassVar[Needs] = Needs(("start_ns", "end_ns"), breaks=True)


@dataclass(frozen=True)
class FallbackShare:
    """The share of responses over a protocol other than the one that the client prefers."""

    clocks: ClassVar[tuple[Clock, ...]] = ("wall", "virtual")
    needs: ClassVar[Needs] = Needs(("protocol",))


@dataclass(frozen=True)
class Ipv6Share:
    """The bytes of IPv6 packets that left the client's link in this direction, as a percentage of the bytes of all
    packets."""

    clocks: ClassVar[tuple[Clock, ...]] = ("wall", "virtual")
    needs: ClassVar[Needs] = Needs(report=("bytes_delivered", "ipv6_bytes_delivered"))
    way: Way


@dataclass(frozen=True)
class AbandonedShare:
    """The share of cancelled requests among those that the client must cancel if their response is late."""

    clocks: ClassVar[tuple[Clock, ...]] = ("wall", "virtual")
    needs: ClassVar[Needs] = Needs()


@dataclass(frozen=True)
class RetriedShare:
    """The share of warm requests that were retried, in workloads that retry requests without a response."""

    clocks: ClassVar[tuple[Clock, ...]] = ("wall", "virtual")
    needs: ClassVar[Needs] = Needs(("tries",))


@dataclass(frozen=True)
class WastedShare:
    """The share of bytes on the client's link, in the direction to the client, that did not belong to the body of a
    complete response. If requests are abandoned or retried, this includes the bytes of cancelled requests."""

    clocks: ClassVar[tuple[Clock, ...]] = ("wall", "virtual")
    needs: ClassVar[Needs] = Needs(("bytes_down",), report=("bytes_delivered",))


@dataclass(frozen=True)
class LossCost:
    """How much one lost packet delayed requests, compared with the trial of the same block that lost no packet and is
    otherwise identical."""

    clocks: ClassVar[tuple[Clock, ...]] = ("virtual",)
    """The wall clock is missing. Under it, two trials differ even without a loss."""
    needs: ClassVar[Needs] = Needs(("start_ns", "end_ns"), packets=True, counterpart=True)
    what: Literal["all", "others"]
    """The requests whose delays are added up: all, or all except the one that lost the packet."""


Quantity = (
    RequestTime
    | TimeFromSend
    | PageTime
    | StageTime
    | OpenedConnections
    | BodyRate
    | RequestRate
    | ProcessorTime
    | ResidentMemory
    | ProcessOverhead
    | LinkTraffic
    | PacketShare
    | QueueDelay
    | CrossTrafficRate
    | OpeningCost
    | RoundTripRate
    | RecoveryTime
    | FallbackShare
    | Ipv6Share
    | AbandonedShare
    | RetriedShare
    | WastedShare
    | LossCost
)
