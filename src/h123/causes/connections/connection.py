"""Describes a connection as the link saw it: what each end sent, and when each packet was on the wire and arrived."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from h123.causes.connections.bottleneck import Wire, wire
from h123.causes.spans import Spans, Times
from h123.packets.capture import BLOCKED, DELIVERED, DOWN, PACKET, POLICED, RETRY, TCP, UDP, UP, Packets
from h123.study.networks.network import Direction, Limit

FULL = 1150
"""The smallest payload, in bytes, of a packet that is regarded as full. QUIC's full packets begin with 1200 bytes and
grow as it probes the path; TCP's have 1448."""
SPEAKS = 60
"""The smallest payload, in bytes, with which a QUIC packet almost always carries more than an acknowledgement."""
_LONG, _SYN = 0x80, 0x02
"""The bit of QUIC's first byte that marks a long header (all handshake packets have one), and TCP's SYN flag."""
NEVER = int(np.iinfo(np.int64).max)
"""The value for a time that never comes."""


@dataclass(frozen=True)
class Sending:
    """The packets that one end sent, in sending order."""

    packets: Packets
    wire: Wire
    busy: Spans | None = None
    """When any recorded packet of this direction was on the wire. None if only recorded packets used the link."""

    @cached_property
    def at(self) -> Times:
        """When each packet reached the link, in ns."""
        return self.packets["at_ns"].astype(np.int64)

    @cached_property
    def delivered_at(self) -> Times:
        """When each packet was delivered, in ns, or 0 if it never was."""
        return self.packets["left_ns"].astype(np.int64)

    @cached_property
    def arrived(self) -> NDArray[np.bool_]:
        """Whether each packet was delivered before the trial's end."""
        delivered: NDArray[np.bool_] = (self.packets["fate"] == DELIVERED) & (self.delivered_at > 0)
        return delivered

    @cached_property
    def speaks(self) -> NDArray[np.bool_]:
        """Whether each packet carries more than acknowledgements."""
        least = np.where(self.packets["protocol"] == TCP, 1, SPEAKS)
        has_payload: NDArray[np.bool_] = self.packets["payload"] >= least
        return has_payload

    @cached_property
    def delivered(self) -> Times:
        """The indices of delivered packets that carry more than acknowledgements, in the order of arrival."""
        return self.arrivals[self.speaks[self.arrivals]]

    @cached_property
    def arrivals(self) -> Times:
        """The indices of all delivered packets, in the order of arrival."""
        places = np.flatnonzero(self.arrived)
        return places[np.argsort(self.delivered_at[places], kind="stable")]

    @cached_property
    def full(self) -> NDArray[np.bool_]:
        """Whether each packet has the size of a full packet."""
        full: NDArray[np.bool_] = self.packets["payload"] >= FULL
        return full

    @cached_property
    def offsets(self) -> Times:
        """The position of each packet's data in the TCP stream, in bytes after the first packet's data. TCP's sequence
        numbers count modulo 2^32; these positions do not."""
        steps = np.diff(self.packets["seq"]).astype(np.int32)
        return np.concatenate([[0], np.cumsum(steps, dtype=np.int64)])

    @cached_property
    def occupied(self) -> Spans:
        """The times during which packets of this sender waited for the wire or were on it."""
        return Spans.union(self.at, self.wire.ends)

    @cached_property
    def crossed(self) -> Spans:
        """The times during which packets of this sender waited while no recorded packet was on the wire, because cross
        traffic was using it."""
        return Spans.union([], []) if self.busy is None else self.occupied.without(self.busy)

    @cached_property
    def on_wire(self) -> Spans:
        """The times during which packets of this sender were on the wire."""
        return Spans.union(self.wire.begins, self.wire.ends)

    def wire_ns(self, size: int) -> float:
        """Return for how many ns a body of `size` bytes would be on the wire in packets like these."""
        if not self.speaks.any():
            return 0.0
        durations = (self.wire.ends - self.wire.begins)[self.speaks]
        return size * float(durations.sum()) / float(self.packets["payload"][self.speaks].sum(dtype=np.int64))

    def receipts(self, times: Times) -> Times:
        """Return, for each time, when the other end first received a packet that this end sent at that time or later.
        NEVER if it received none."""
        arrived = np.flatnonzero(self.arrived)
        place = np.searchsorted(self.at[arrived], times)
        return np.append(self.delivered_at[arrived], NEVER)[place]

    def first(self, count: int) -> "Sending":
        return self.some(slice(count))

    def some(self, which: slice | NDArray[np.bool_]) -> "Sending":
        return Sending(self.packets[which], Wire(self.wire.begins[which], self.wire.ends[which]), self.busy)

    def joined(self, other: "Sending") -> "Sending":
        """Combine these packets with those that the same end sent to, or from, a different address."""
        packets = np.concatenate([self.packets, other.packets])
        begins, ends = (
            np.concatenate([getattr(side.wire, name) for side in (self, other)]) for name in ("begins", "ends")
        )
        order = np.argsort(packets["at_ns"], kind="stable")
        return Sending(packets[order], Wire(begins[order], ends[order]), self.busy)

    def __len__(self) -> int:
        return len(self.packets)


@dataclass(frozen=True)
class Connection:
    """Both directions of a connection."""

    up: Sending
    down: Sending
    round_trip_ns: int
    """The round trip of the link without its queue, in ns."""

    def joined(self, other: "Connection") -> "Connection":
        """Return this connection and its continuation, after the client has moved, as one connection."""
        return Connection(self.up.joined(other.up), self.down.joined(other.down), self.round_trip_ns)

    @property
    def quic(self) -> bool:
        return bool(self.up.packets["protocol"][0] != TCP)

    @property
    def begin(self) -> int:
        """When the first packet reached the link, in ns."""
        return int(self.up.at[0])

    @property
    def continues(self) -> bool:
        """Whether this connection continues an earlier one after the client moved. It does if it begins without a SYN
        (TCP) or with a short header (QUIC: RFC 9000, 17.3)."""
        first = int(self.up.packets["flags"][0])
        return not first & (_LONG if self.quic else _SYN)

    @cached_property
    def retry(self) -> int | None:
        """When the server's Retry was delivered, in ns. None if there was no Retry."""
        down = self.down.packets
        is_retry = self.quic & ((down["flags"] & RETRY) == RETRY) & self.down.arrived
        return int(self.down.delivered_at[np.argmax(is_retry)]) if is_retry.any() else None


def connections(packets: Packets, up: Direction, down: Direction, *, shared: bool = False) -> list[Connection]:
    """Return all connections in a link's record, in the order in which they began. `shared`: whether cross traffic used
    the link too."""
    ordered = packets[np.argsort(packets["at_ns"], kind="stable")]
    ways = [(_policed(ordered[ordered["way"] == way], of), of) for way, of in ((UP, up), (DOWN, down))]
    trip = (up.delay_ns or 0) + (down.delay_ns or 0)
    sides = [
        dict(_sendings(of_way, wire(of_way, of, shared=shared), port, shared))
        for (of_way, of), port in zip(ways, _PORTS, strict=True)
    ]
    all_connections = [
        Connection(sending, sides[1].get(client, _NOTHING), trip)
        for client, sending in sides[0].items()
        if client[0] in (TCP, UDP)
    ]
    return sorted(all_connections, key=lambda connection: connection.begin)


_PORTS = ("source", "destination")
"""The packet field that contains the client's port, for each direction."""


def _policed(packets: Packets, way: Direction) -> Packets:
    """Return the packets, with the fate POLICED for those that a limit on UDP's rate blocked."""
    policies = [way.udp, *(change.udp for change in way.changes or [])]
    if not any(isinstance(policy, Limit) for policy in policies) or {"drop", "reject"} & {*map(str, policies)}:
        return packets
    changed = packets.copy()
    changed["fate"][(packets["fate"] == BLOCKED) & (packets["protocol"] == UDP)] = POLICED
    return changed


def _sendings(packets: Packets, on: Wire, port: str, shared: bool) -> Iterator[tuple[tuple[int, int], Sending]]:
    """Yield the packets of each connection, identified by its protocol and the client's port."""
    busy = Spans.union(on.begins, on.ends) if shared else None
    key = packets["protocol"].astype(np.int64) << 16 | packets[port]
    order = np.argsort(key, kind="stable")
    for places in np.split(order, np.flatnonzero(np.diff(key[order])) + 1):
        if len(places):
            client = int(key[places[0]])
            yield (
                (client >> 16, client & 0xFFFF),
                Sending(packets[places], Wire(on.begins[places], on.ends[places]), busy),
            )


_NOTHING = Sending(np.empty(0, PACKET), Wire(np.empty(0, np.int64), np.empty(0, np.int64)))
