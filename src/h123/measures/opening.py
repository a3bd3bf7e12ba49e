"""Counts, from the link's packets, what it took to open each connection: the round trips, packets and bytes until the
first byte of the first response.

Round trips are counted, not inferred from time: something that the client sent reaches the server, something that the
server sends afterwards reaches the client, and so on, until the server sends the response.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from h123.packets.capture import DELIVERED, DOWN, RETRY, TCP, UDP, UP, Packets, packets_file, read_packets
from h123.store.rows import Integers, Rows

_NEVER = int(np.iinfo(np.int64).max)
_TIMES_THREE = 3
"""The multiple of the received bytes that a server may send until it has validated the client's address (RFC 9000,
8.1)."""
_UNKNOWN = -1
_FULL, _PART = 1000, 4
"""The smallest payload of a nearly full packet in bytes, and the number of such packets that show that the server has
sent part of a response."""
_DATAGRAM = 1200
"""The size, in bytes, of the smallest datagram in which a server sends a certificate."""
COLUMNS = ("at_ns", "left_ns", "bytes", "payload", "source", "destination", "way", "protocol", "flags", "fate")
"""The columns of the packets that this module reads."""


class Opening(NamedTuple):
    """How a connection opened, from its first packet to the first byte of its first response."""

    round_trips: int
    """The number of round trips, including the request's own, which is the last one."""
    bytes_up: int
    bytes_down: int
    """The bytes of IP packets in each direction, up to and including the packet with the first byte of the response."""
    packets_up: int
    packets_down: int
    losses: bool
    """Whether any packet of the opening did not arrive."""
    retried: bool
    """Whether the server sent a Retry."""
    limited: bool
    """Whether the server had used up what it may send before it has validated the client's address: three times the
    bytes that it has received."""
    request_round_trips: int | None = None
    """The number of round trips until the request was sent, including the request's own. None if the time of sending is
    unknown."""
    ns: int = 0
    """The time in ns from the connection's first packet to the first byte of the response."""
    early_part: bool = False
    """Whether the server sent part of the response a round trip before the client could read the first byte, because a
    TLS record was larger than what the server may send at once."""


def openings_of(folder: Path, rows: Rows, statuses: Sequence[int]) -> list[Opening]:
    """Return how the connections of a trial's successful cold requests opened, in the order of the requests. Empty if
    there is no record of packets, or if a request cannot be matched with exactly one connection. Raises UserError if
    the record cannot be read."""
    first_byte = rows["first_byte_ns"]
    cold = rows.phase("cold") & rows.ok(statuses) & rows["start_ns"].valid & first_byte.valid
    if not cold.any() or not packets_file(folder).is_file():
        return []
    connections = list(_connections(read_packets(folder, columns=COLUMNS)))
    openings, sent_ns = [], rows["sent_ns"]
    request_times = np.where(sent_ns.valid, sent_ns.values, _UNKNOWN)[cold].tolist()
    times = zip(rows["start_ns"].values[cold].tolist(), first_byte.values[cold].tolist(), request_times, strict=True)
    for start, answered, sent_at in times:
        candidates = [connection for connection in connections if start <= connection.begin <= answered]
        opening = candidates[0].opening(answered, sent_at) if len(candidates) == 1 else None
        if opening is None:
            return []
        openings.append(opening)
    return openings


@dataclass(frozen=True)
class _Side:
    """The packets that one end sent, in sending order."""

    packets: Packets
    at: Integers
    delivered_at: Integers
    """The delivery time of each packet; `_NEVER` for packets that did not arrive."""
    next: Integers
    """For each packet, the earliest arrival among this packet and all later ones."""

    @classmethod
    def of(cls, packets: Packets) -> "_Side":
        arrived = (packets["fate"] == DELIVERED) & (packets["left_ns"] > 0)
        departures = np.where(arrived, packets["left_ns"], _NEVER)
        return cls(
            packets, packets["at_ns"].astype(np.int64), departures, np.minimum.accumulate(departures[::-1])[::-1]
        )

    def receipt_of(self, since: int) -> int:
        """Return when the other end first received something that was sent at `since` or later."""
        place = int(np.searchsorted(self.at, since))
        return int(self.next[place]) if place < len(self.next) else _NEVER

    def until(self, time: int) -> Packets:
        """Return the packets that were sent at `time` or earlier."""
        return self.packets[: int(np.searchsorted(self.at, time, side="right"))]

    def has_losses(self, time: int) -> bool:
        """Return whether a packet that was sent at `time` or earlier did not arrive."""
        return bool((self.delivered_at[: int(np.searchsorted(self.at, time, side="right"))] == _NEVER).any())


class _Turn(NamedTuple):
    """A turn of the client: the packets that it sends after it has received something."""

    since: int
    until: int
    """When the first packet of the turn reached the server."""


@dataclass(frozen=True)
class _Connection:
    up: _Side
    down: _Side

    @property
    def begin(self) -> int:
        return int(self.up.at[0])

    def opening(self, answer_at: int, request_at: int = _UNKNOWN) -> Opening | None:
        """Return how the connection opened. None if nothing had arrived by `answer_at`, when the client received the
        first byte of the response. `request_at` is when the client sent the request."""
        arrivals = np.flatnonzero((self.down.delivered_at <= answer_at) & (self.down.packets["payload"] > 0))
        if not len(arrivals):
            return None
        answer_sent_at = int(self.down.at[arrivals[np.argmax(self.down.delivered_at[arrivals])]])
        turns = self._turns(answer_sent_at)
        receipts = [turn.until for turn in turns]
        own = [turn for turn in turns if turn.since <= request_at]
        up, down = self.up.until(answer_at), self.down.until(answer_sent_at)
        quic = bool(self.up.packets["protocol"][0] == UDP)
        return Opening(
            round_trips=len(receipts),
            bytes_up=int(up["bytes"].sum(dtype=np.int64)),
            bytes_down=int(down["bytes"].sum(dtype=np.int64)),
            packets_up=len(up),
            packets_down=len(down),
            losses=self.up.has_losses(answer_at) or self.down.has_losses(answer_sent_at),
            retried=quic and bool(((down["flags"] & RETRY) == RETRY).any()),
            limited=quic and self._limited(receipts),
            request_round_trips=len(own) if request_at != _UNKNOWN else None,
            ns=answer_at - self.begin,
            early_part=bool(own) and self._answers_early(own[-1].until, receipts[-1]),
        )

    def _turns(self, until: int) -> list[_Turn]:
        """Return the client's turns until the server sent the response."""
        turns, since = [], self.begin
        while (receipt := self.up.receipt_of(since)) <= until:
            turns.append(_Turn(since, receipt))
            if (since := self.down.receipt_of(receipt)) == _NEVER:
                break
        return turns

    def _answers_early(self, request_at: int, last: int) -> bool:
        """Return whether the server sent so many nearly full packets between these times that they cannot be only
        handshakes and settings."""
        between = (self.down.at >= request_at) & (self.down.at < last)
        return int((self.down.packets["payload"][between] >= _FULL).sum()) >= _PART

    def _limited(self, receipts: Sequence[int]) -> bool:
        """Return whether QUIC's anti-amplification limit delayed the server, judging by the bytes that the server had
        received and sent before the client's second turn reached it."""
        second = receipts[1] if len(receipts) > 1 else _NEVER
        received_bytes = self.up.packets["payload"][self.up.delivered_at < second].sum(dtype=np.int64)
        sent_bytes = self.down.packets["payload"][self.down.at < second].sum(dtype=np.int64)
        return bool(sent_bytes + _DATAGRAM > _TIMES_THREE * received_bytes)


def _connections(packets: Packets) -> Iterator[_Connection]:
    """Yield the connections over TCP and UDP, each of which has its own client port."""
    ordered = packets[np.argsort(packets["at_ns"], kind="stable")]
    port = np.where(ordered["way"] == UP, ordered["source"], ordered["destination"])
    key = ordered["protocol"].astype(np.int64) << 16 | port
    for number in np.unique(key[np.isin(ordered["protocol"], (TCP, UDP))]):
        of = ordered[key == number]
        up = of[of["way"] == UP]
        if len(up):
            yield _Connection(_Side.of(up), _Side.of(of[of["way"] == DOWN]))
