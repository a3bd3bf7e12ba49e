"""Calculates how many round trips it takes to open a connection, and how long a transfer in slow start takes on a link
without loss."""

import heapq
from collections.abc import Iterator
from dataclasses import dataclass

from h123.catalogue import ALL_FULL, SessionOpening

MSS_BYTES = 1448
"""The payload of a full TCP segment with timestamps at an MTU of 1500 bytes."""
INITIAL_WINDOW_BYTES = 10 * MSS_BYTES
"""The initial window according to RFC 6928."""
ACKNOWLEDGEMENT_BYTES = 60
"""The size of a packet that carries only an acknowledgement."""
_PLAIN_TCP, _QUIC = 1, 1
"""The round trips that it takes to open a TCP connection, without TLS (RFC 9293), and a QUIC connection, with TLS (RFC
9000)."""
_TLS = {"1.3": 1, "1.2": 2}
"""The additional round trips of a full TLS handshake over TCP (RFC 8446, section 2; RFC 5246, section 7.3)."""


def handshake_round_trips(
    protocol: str, *, tls: str | None = "1.3", opening: SessionOpening = ALL_FULL, false_start: bool = False
) -> int:
    """Return the number of round trips before the first request of a new connection.

    `tls` is the TLS version, or None without encryption. If `opening` has early data, a QUIC client sends the request
    at once (RFC 9001, section 4.6). With TCP Fast Open, TCP's first packet carries the first flight of TLS (RFC 7413).
    Resuming a TLS 1.3 session alone saves no round trip. With `false_start`, the client sends its request before the
    server's last flight of TLS 1.2 has arrived (RFC 7918).
    """
    if opening.early:
        return 0
    if protocol == "h3":
        return _QUIC
    return _PLAIN_TCP - opening.saved_round_trips + (_TLS[tls] - (false_start and tls == "1.2") if tls else 0)


def slow_start_round_trips(packets: int, window: int) -> int:
    """Return the round trips that a sender waits in slow start before it can send the last of these packets. It starts
    with `window` packets, and each round trip doubles the window (RFC 5681, section 3.1)."""
    waits = 0
    while packets > window:
        packets, window, waits = packets - window, 2 * window, waits + 1
    return waits


@dataclass(frozen=True)
class Straight:
    """A link without losses and queue limits, and with the same rate and delay in both directions."""

    round_trip_s: float
    rate_bps: float

    def bits_s(self, size: float) -> float:
        """Return the seconds that the link needs to transmit `size` bytes."""
        return 8 * size / self.rate_bps


def arrivals(packets: int, packet_bytes: float, window: int, most: int, link: Straight) -> Iterator[float]:
    """Yield the arrival time of each packet of a body, in seconds after its sender received the request.

    The sender starts with `window` packets. Each acknowledged packet lets it send two more, until `most` are in flight.
    The link transmits one packet at a time.
    """
    credits = [0.0] * min(window, most)  # times at which the sender may send a packet
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
    """Return the seconds until the last packet of a body has arrived, after its sender received the request. At most
    `most` packets are in flight; None means no limit."""
    *_, last = arrivals(packets, packet_bytes, window, packets if most is None else most, link)
    return last
