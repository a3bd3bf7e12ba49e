"""Matches the connections that a client reports with those on the link."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TypeVar

import numpy as np

from h123.causes.assignment import assigned
from h123.causes.connections.connection import NEVER, Connection
from h123.causes.request import Request

_UNLIKELY_NS = 10**12
"""The mismatch, in ns, of a connection that cannot have carried the requests."""
_CLOCKS_NS = 1_000_000
"""A client may record the start of a connection's first request up to this many ns after the connection's first
packet."""
_Group = TypeVar("_Group")


def match(
    requests: Sequence[Sequence[Request]], connections: Sequence[Connection], moves: Sequence[int] = ()
) -> list[Connection | None]:
    """Return, for each group of requests, the connection on the link that fits the group best, or None. A connection
    fits if it began when the group's first request needed a connection, and if its packets arrived just before the
    requests ended.

    A group contains the requests of one connection in the order of their starts. `moves`: the times in ns at which the
    client gets a new address. A returned connection includes its parts after moves.
    """
    assigned = _assigned(requests, [connection for connection in connections if not connection.continues], _mismatch_ns)
    for begin, end in pairwise([*moves, NEVER]):
        parts = [
            connection
            for connection in connections
            if connection.continues and connection.quic and begin <= connection.begin < end
        ]
        wholes = list(zip(requests, assigned, strict=True))
        for place, part in enumerate(_assigned(wholes, parts, _mismatch_of_rest_ns)):
            if (whole := assigned[place]) and part:
                assigned[place] = whole.joined(part)
    return assigned


def _assigned(
    groups: Sequence[_Group], connections: Sequence[Connection], unlike: Callable[[_Group, Connection], float]
) -> list[Connection | None]:
    """Return the connection of each group, or None. Connections are chosen so that the total of `unlike`, in ns, is as
    small as possible."""
    if not groups or not connections:
        return [None] * len(groups)
    costs = np.array([[unlike(of, connection) for connection in connections] for of in groups])
    return [None if place is None else connections[place] for place in assigned(costs, _UNLIKELY_NS)]


def _mismatch_ns(requests: Sequence[Request], connection: Connection) -> float:
    """Return how badly a connection fits the requests, in ns: how long before the requests' ends the connection's last
    packets arrived, plus a small part of the time between the connection's beginning and the first request. The
    connection may be older than the first request, because a browser may open it earlier in the visit."""
    first = requests[0]
    begin = (first.visit or first.start) - _CLOCKS_NS
    if (
        first.quic not in (None, connection.quic)
        or not begin <= connection.begin <= first.end
        or not connection.down.arrived.any()
    ):
        return _UNLIKELY_NS
    return _apart(requests, connection) + abs(connection.begin - first.made_at) * 0.01


def _mismatch_of_rest_ns(of: tuple[Sequence[Request], Connection | None], part: Connection) -> float:
    """Return how badly `part`, which begins after a move, fits as the continuation of a connection, in ns. It is judged
    by the connection's requests that ended after the part began."""
    requests, whole = of
    if whole is None or not whole.quic or whole.begin > part.begin or not part.down.arrived.any():
        return _UNLIKELY_NS
    since = [request for request in requests if request.end > int(part.down.delivered_at[part.down.arrivals[0]])]
    return _apart(since, part) if since else _UNLIKELY_NS


def _apart(requests: Sequence[Request], connection: Connection) -> float:
    """Return the mean time, in ns, from the connection's last arrival before the end of a request to that end."""
    arrivals = np.sort(connection.down.delivered_at[connection.down.arrived & connection.down.speaks])
    ends = np.array([request.end for request in requests])
    place = np.searchsorted(arrivals, ends + _CLOCKS_NS // 20, side="right") - 1
    if (place < 0).any():
        return _UNLIKELY_NS
    return float(np.minimum(np.abs(ends - arrivals[place]), 10**9).mean())
