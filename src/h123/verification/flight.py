"""How many packets a sender begins with, told from when its datagrams came.

Over a link with a long delay and no rate, what is sent before the first acknowledgement of a body is back arrives
within one round trip of the body's first packet, also from a sender that paces. Small datagrams (the end of the
handshake, settings) count as the part of a packet that they are.
"""

from collections.abc import Sequence
from statistics import mode

from h123.verification.assignment import DISTANT_NS
from h123.verification.controller import Arrival

ROUND_TRIP_NS = 2 * DISTANT_NS
TOLERANCE = 1
"""Packets: a sender may send one more than fits, and its handshake takes a part of its window."""
_FULL_BYTES = 1_000
"""Payload of a datagram that is full, of whatever size the sender takes."""


def first_flight(arrivals: Sequence[Arrival]) -> float | None:
    """Packets of the first flight of a body; None where no body came."""
    handshake = arrivals[0].at_ns + ROUND_TRIP_NS // 2 if arrivals else 0
    body = [a for a in arrivals if a.at_ns > handshake]
    began = next((a.at_ns for a in body if a.bytes >= _FULL_BYTES), None)
    if began is None:
        return None
    flight = [a.bytes for a in body if began <= a.at_ns < began + 0.95 * ROUND_TRIP_NS]
    return sum(flight) / mode(size for size in flight if size >= _FULL_BYTES)


def begins_with(packets: float | None, asked: int) -> bool:
    """Whether that is as many as were asked for."""
    return packets is not None and abs(packets - asked) <= TOLERANCE
