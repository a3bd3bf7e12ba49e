"""Slow start by arithmetic: how long a body takes on a link that loses nothing."""

import heapq
from collections.abc import Iterator
from dataclasses import dataclass

MSS_BYTES = 1448
"""Payload of a full TCP segment at MTU 1500 with timestamps."""
INITIAL_WINDOW_BYTES = 10 * MSS_BYTES
"""RFC 6928."""
ACKNOWLEDGEMENT_BYTES = 60
"""A packet that carries nothing else."""


@dataclass(frozen=True)
class Straight:
    """A link without loss and with room for every packet, the same both ways."""

    round_trip_s: float
    rate_bps: float

    def bits_s(self, size: float) -> float:
        """What the link needs for so many bytes."""
        return 8 * size / self.rate_bps


def arrivals(packets: int, packet_bytes: float, window: int, most: int, link: Straight) -> Iterator[float]:
    """When each packet of a body has arrived, in seconds from when its sender had the request.

    It begins with `window` packets, and each that is acknowledged lets two follow, until `most` are under way. A packet
    leaves the link when the one before it has left and its bits have passed.
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
    """Until the last one has arrived; `most`: all at once."""
    *_, last = arrivals(packets, packet_bytes, window, packets if most is None else most, link)
    return last
