"""Chooses the one packet that a trial loses on purpose. Comparing it with a trial that loses none shows what the loss
costs.

It is the packet with a certain byte, counted on the link in the direction in which most bodies go. How many bytes
will pass is not known in advance, but the size of the bodies is. So the place is a share of that size, after the
bytes that open connections.
"""

from h123.study.networks.network import Direction, Loss, Network
from h123.study.parameters import Parameters

_OPENING = {"h1": 2000, "h2": 2000, "h3": 4000}
"""Bytes to the client before the first of a body, about, of each connection: QUIC pads (RFC 9000, 14.1)."""
_GOLDEN = (5**0.5 - 1) / 2


def spread(first: float, number: int) -> float:
    """The `number`-th of a sequence that fills 0 to 1 evenly however long it gets, from any start (multiples of the
    golden ratio: Knuth, The Art of Computer Programming 3, 6.4, theorem S)."""
    return (first + number * _GOLDEN) % 1


def with_losses(network: Network, p: Parameters, lost_at: float) -> Network:
    """The network in a trial with these parameters."""
    if p.losses == "own" or network.up is None or network.down is None:
        return network
    ways = {"up": _lossless(network.up), "down": _lossless(network.down)}
    if p.losses == "one":
        way = "down" if p.workload.senders()[0] == "server" else "up"
        ways[way] = ways[way].model_copy(update={"loss": Loss(bytes=[_byte(p, way, lost_at)])})
    return network.model_copy(update=ways)


def _lossless(way: Direction) -> Direction:
    changes = [change.model_copy(update={"loss": None}) for change in way.changes or []]
    other_changes = [change for change in changes if change.model_dump(exclude={"at_ns"}, exclude_none=True)]
    return way.model_copy(update={"loss": None, "changes": other_changes or None})


def _byte(p: Parameters, way: str, lost_at: float) -> int:
    work = p.workload
    opening = _OPENING[p.protocol] * work.connections_opened()
    return int(opening + lost_at * work.all_requests() * work.moved(way))
