"""Round trips by arithmetic: how many a connection takes to open, and how long a body takes in slow start on a link
that loses nothing."""

import heapq
from collections.abc import Iterator
from dataclasses import dataclass

from h123.catalogue import ALL_FULL, SessionOpening

MSS_BYTES = 1448
"""Payload of a full TCP segment at MTU 1500 with timestamps."""
INITIAL_WINDOW_BYTES = 10 * MSS_BYTES
"""The initial window of RFC 6928."""
ACKNOWLEDGEMENT_BYTES = 60
"""Bytes of a packet that only acknowledges."""
_PLAIN_TCP, _QUIC = 1, 1
"""Round trips: RFC 9293; RFC 9000, which has TLS in it."""
_TLS = {"1.3": 1, "1.2": 2}
"""Round trips of full handshakes: RFC 8446, section 2; RFC 5246, section 7.3."""


def handshake_round_trips(
    protocol: str, *, tls: str | None = "1.3", opening: SessionOpening = ALL_FULL, false_start: bool = False
) -> int:
    """Round trips before the first request of a new connection.

    `tls`: its version; None: not encrypted. `opening`: early data goes out at once over QUIC (RFC 9001, section 4.6).
    With TCP Fast Open TLS's first flight goes out with TCP's first packet (RFC 7413). Resuming a session of TLS 1.3
    alone saves none. `false_start`: the request does not wait for the server's last flight (TLS 1.2, RFC 7918).
    """
    if opening.early:
        return 0
    if protocol == "h3":
        return _QUIC
    return _PLAIN_TCP - opening.saved_round_trips + (_TLS[tls] - (false_start and tls == "1.2") if tls else 0)


@dataclass(frozen=True)
class Straight:
    """A link without loss and with room for every packet, the same both ways."""

    round_trip_s: float
    rate_bps: float

    def bits_s(self, size: float) -> float:
        """Seconds that the link needs for `size` bytes."""
        return 8 * size / self.rate_bps


def arrivals(packets: int, packet_bytes: float, window: int, most: int, link: Straight) -> Iterator[float]:
    """When each packet of a body arrives, in seconds after its sender received the request.

    The sender begins with `window` packets. Each acknowledged packet lets two follow, until `most` are in flight. A
    packet leaves the link when the one before it has left and its bits have passed.
    """
    credits = [0.0] * min(window, most)  # when the sender may send a packet
    heapq.heapify(credits)
    free = 0.0
    for _ in range(packets):
        free = max(free, heapq.heappop(credits)) + link.bits_s(packet_bytes)
        yield free + link.round_trip_s / 2
        acknowledged = free + link.round_trip_s + link.bits_s(ACKNOWLEDGEMENT_BYTES)
        heapq.heappush(credits, acknowledged)
        if len(credits) < most:
            heapq.heappush(credits, acknowledged)


def download_s(packets: int, packet_bytes: float, window: int, link: Straight, most: int | None = None) -> float:
    """Time until the last packet has arrived; `most`: packets in flight at once."""
    *_, last = arrivals(packets, packet_bytes, window, packets if most is None else most, link)
    return last
