"""How many packets a sender begins with, told from when its datagrams came.

Over a link with a long delay and no rate, what is sent before the first acknowledgement of a body is back arrives
within one round trip of the body's first packet, also from a sender that paces. Small datagrams (the end of the
handshake, settings) count as the part of a packet that they are.
"""

from collections.abc import Sequence
from itertools import dropwhile, pairwise

from h123.verification.assignment import FLIGHT_NS
from h123.verification.controller import Arrival

ROUND_TRIP_NS = 2 * FLIGHT_NS
FEWER, MORE = 3, 1.5
"""Packets by which a first flight may differ. What else goes out in that round trip takes a part of the window: the
end of the handshake, settings, a probe for larger packets. And a sender may send one more than fits."""
_FULL_BYTES = 1_000
"""Payload of a datagram that is full, of whatever size the sender takes."""


def first_flight(arrivals: Sequence[Arrival]) -> float | None:
    """Packets of the first flight of a body; None where no body came.

    It begins with the first two full datagrams of one size: what ends a handshake is filled up too, but comes alone.
    """
    handshake = arrivals[0].at_ns + ROUND_TRIP_NS // 2 if arrivals else 0
    later = [a for a in arrivals if a.at_ns > handshake]
    body = dropwhile(lambda pair: pair[0].bytes != pair[1].bytes or pair[0].bytes < _FULL_BYTES, pairwise(later))
    first = next((pair[0] for pair in body), None)
    if first is None:
        return None
    return sum(a.bytes for a in later if 0 <= a.at_ns - first.at_ns < 0.95 * ROUND_TRIP_NS) / first.bytes


def begins_with(packets: float | None, asked: int) -> bool:
    """Whether that is as many as were asked for."""
    return packets is not None and -FEWER <= packets - asked <= MORE
