"""The quantities behind metrics (requests' times, visits, packets, processors), and what a trial needs for each.

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
    """What a trial must provide for a value to be computed."""

    columns: tuple[str, ...] = ()
    """Columns of its samples, in addition to `phase`, `status` and `error`."""
    client: tuple[Ability, ...] = ()
    """Abilities of its client."""
    report: tuple[str, ...] = ()
    """Fields of each role in report.json, or of the client's link there."""
    facts: tuple[str, ...] = ()
    """Fields of each visit in client.json."""
    packets: bool = False
    """The record of packets on that link."""
    breaks: bool = False
    """A network over which its client moves, or which stops UDP."""
    counterpart: bool = False
    """Whether it needs one lost packet, and a second trial in which that packet was delivered."""
    requests: int = 1
    """The fewest requests of its phase. With fewer, a high quantile says nothing."""


@dataclass(frozen=True)
class RequestTime:
    """A quantile of the time that requests of a phase took, from their start `until` an event."""

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
    """A quantile of the time that warm requests took once they were sent. This leaves out the wait before, which a
    client that sends only after the last answer never sees (coordinated omission)."""

    clocks: ClassVar[tuple[Clock, ...]] = ("wall", "virtual")
    share: float
    requests: int

    @property
    def needs(self) -> Needs:
        return Needs(("sent_ns", "end_ns"), requests=self.requests)


@dataclass(frozen=True)
class PageTime:
    """The median of the time that warm visits of a page took, from their start until an event."""

    clocks: ClassVar[tuple[Clock, ...]] = ("wall", "virtual")
    until: VisitTime
    """The event at the end of the time: all resources have arrived, the document's first byte, the largest body, or an
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
    """The median over warm visits of the time that a visit's mean request spent in a stage."""

    clocks: ClassVar[tuple[Clock, ...]] = ("wall", "virtual")
    stage: Stage
    """Until it had a place on a connection; until its new connection was open; until its first byte; until its last
    byte. They add up to the request."""

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
    """The median over warm visits of the connections that a visit opened, from the packets of the client's link.

    Browsers open connections that they then do not use, and no sample records those: the column `connection` counts
    the used ones. The hosts' counters include all TCP connections of the whole trial, also those of the browser's
    controlling program and those of a proxy to its origin, but none over QUIC. On the link each connection of either
    protocol has a first packet, whose time shows which visit opened it.
    """

    clocks: ClassVar[tuple[Clock, ...]] = ("wall", "virtual")
    needs: ClassVar[Needs] = Needs(("user", "group", "start_ns", "end_ns"), packets=True)


@dataclass(frozen=True)
class BodyRate:
    """Body bytes over the time that they took: of all warm requests together, or of each request."""

    clocks: ClassVar[tuple[Clock, ...]] = ("wall", "virtual")
    by: Literal["trial", "request"]

    @property
    def needs(self) -> Needs:
        return Needs(("start_ns", "end_ns", "bytes_up", "bytes_down"))


@dataclass(frozen=True)
class RequestRate:
    """Warm requests divided by the time that all of them took together."""

    clocks: ClassVar[tuple[Clock, ...]] = ("wall", "virtual")
    needs: ClassVar[Needs] = Needs(("start_ns", "end_ns"))


@dataclass(frozen=True)
class ProcessorTime:
    """Processor time of roles together: a request's share of all, of the time after all connections were open, or a
    connection's share of the time before."""

    clocks: ClassVar[tuple[Clock, ...]] = ("wall",)
    """Under the virtual clock processing takes no time: what its kernel counts is rounding, not a value."""
    roles: tuple[Role, ...]
    """`backend` is everything behind the server: the store in which it keeps objects, or a proxy's origin."""
    part: Literal["all", "open", "opening"] = "all"

    @property
    def needs(self) -> Needs:
        columns = {"all": (), "open": ("start_ns", "end_ns"), "opening": ("start_ns", "end_ns", "reused")}
        return Needs(columns[self.part], report=("cpu.main_ns" if self.part == "all" else "cpu.main_over_time",))


@dataclass(frozen=True)
class ResidentMemory:
    """The largest resident set that a role ever had."""

    clocks: ClassVar[tuple[Clock, ...]] = ("wall", "virtual")
    role: Literal["server", "client"]

    @property
    def needs(self) -> Needs:
        return Needs(report=("max_rss_bytes",))


@dataclass(frozen=True)
class ProcessOverhead:
    """The time that the program which makes the requests takes before the first one, or after the last."""

    clocks: ClassVar[tuple[Clock, ...]] = ("wall", "virtual")
    part: Literal["start", "end"]

    @property
    def needs(self) -> Needs:
        return Needs((f"{self.part}_ns",), ("process",))


@dataclass(frozen=True)
class LinkTraffic:
    """All packets or bytes that reached the client's link in this direction, divided by all requests. This includes
    connecting, headers, acknowledgements and retransmissions."""

    clocks: ClassVar[tuple[Clock, ...]] = ("wall", "virtual")
    way: Way
    what: Literal["bytes", "packets"] = "bytes"

    @property
    def needs(self) -> Needs:
        return Needs(report=(f"{self.what}_in",))


@dataclass(frozen=True)
class QueueDelay:
    """The mean time that packets in this direction waited for the rate of the client's link: behind others in its
    queue, and for their own transmission. A link without a rate has none."""

    clocks: ClassVar[tuple[Clock, ...]] = ("wall", "virtual")
    needs: ClassVar[Needs] = Needs(report=("queue_ns",))
    way: Way


@dataclass(frozen=True)
class CrossTrafficRate:
    """The bytes that programs of the cross traffic received in this direction, over the time that the client ran."""

    clocks: ClassVar[tuple[Clock, ...]] = ("wall", "virtual")
    needs: ClassVar[Needs] = Needs(report=("received_bytes",))
    way: Way


@dataclass(frozen=True)
class OpeningCost:
    """The median, over connections with a cold request, of what crossed the link from a connection's first packet to
    the first byte of the answer."""

    clocks: ClassVar[tuple[Clock, ...]] = ("wall", "virtual")
    needs: ClassVar[Needs] = Needs(("start_ns", "first_byte_ns"), ("ttfb", "cold"), packets=True)
    what: Literal["round_trips", "bytes_up", "bytes_down", "packets_up", "packets_down"]


@dataclass(frozen=True)
class RecoveryTime:
    """The median time from a client's move, or from the moment at which UDP is stopped, to the first answer after
    it."""

    clocks: ClassVar[tuple[Clock, ...]] = ("wall", "virtual")
    needs: ClassVar[Needs] = Needs(("start_ns", "end_ns"), breaks=True)


@dataclass(frozen=True)
class FallbackShare:
    """The share of answers over a protocol other than the one that the client prefers."""

    clocks: ClassVar[tuple[Clock, ...]] = ("wall", "virtual")
    needs: ClassVar[Needs] = Needs(("protocol",))


@dataclass(frozen=True)
class AbandonedShare:
    """The share of requests to be abandoned whose answer had not arrived completely by then."""

    clocks: ClassVar[tuple[Clock, ...]] = ("wall", "virtual")
    needs: ClassVar[Needs] = Needs()


@dataclass(frozen=True)
class RetriedShare:
    """The share of warm requests that were made more than once, if requests without an answer are repeated."""

    clocks: ClassVar[tuple[Clock, ...]] = ("wall", "virtual")
    needs: ClassVar[Needs] = Needs(("tries",))


@dataclass(frozen=True)
class WastedShare:
    """The share of the bytes down the client's link that were not part of a complete answer's body. If requests are
    abandoned or repeated, this includes the bytes of cancelled ones."""

    clocks: ClassVar[tuple[Clock, ...]] = ("wall", "virtual")
    needs: ClassVar[Needs] = Needs(("bytes_down",), report=("bytes_delivered",))


@dataclass(frozen=True)
class LossCost:
    """The time that one lost packet cost requests, compared with the block's trial that lost none and is otherwise the
    same."""

    clocks: ClassVar[tuple[Clock, ...]] = ("virtual",)
    """Under the wall clock, two trials differ anyway."""
    needs: ClassVar[Needs] = Needs(("start_ns", "end_ns"), packets=True, counterpart=True)
    what: Literal["all", "others"]
    """Requests: all, or all except the lost packet's own."""


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
    | QueueDelay
    | CrossTrafficRate
    | OpeningCost
    | RecoveryTime
    | FallbackShare
    | AbandonedShare
    | RetriedShare
    | WastedShare
    | LossCost
)
