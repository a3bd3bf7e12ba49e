"""Chooses the one packet that a trial loses on purpose. Comparing the trial with a lossless one shows what the loss
costs.

The packet is the one that contains a certain byte, counted on the link in the direction that carries most of the
bodies. The total number of bytes is not known in advance, but the size of the bodies is. So the byte's position is a
fraction of that size, plus the bytes that it takes to open connections.
"""

from h123.study.networks.network import Loss
from h123.study.parameters import Parameters

_OPENING = {"h1": 2000, "h2": 2000, "h3": 4000}
"""The approximate number of bytes that the server sends on a connection before the first body. QUIC pads its packets
(RFC 9000, 14.1)."""
_GOLDEN = (5**0.5 - 1) / 2


def spread(first: float, number: int) -> float:
    """Return element `number` of a sequence that starts at `first` and covers the range from 0 to 1 evenly at any
    length (multiples of the golden ratio: Knuth, The Art of Computer Programming 3, 6.4, theorem S)."""
    return (first + number * _GOLDEN) % 1


def single_loss(p: Parameters, lost_at: float) -> tuple[str, Loss]:
    """Return the direction in which a trial with these parameters loses its one packet, and the loss."""
    way = "down" if p.workload.senders()[0] == "server" else "up"
    return way, Loss(bytes=[_byte(p, way, lost_at)])


def _byte(p: Parameters, way: str, lost_at: float) -> int:
    work = p.workload
    opening = _OPENING[p.protocol] * work.connections_opened()
    return int(opening + lost_at * work.all_requests() * work.moved(way))
