"""Which connection of the client's account is which one on the link."""

from collections.abc import Sequence

import numpy as np

from h123.causes.connection import Connection
from h123.causes.request import Request

_UNLIKELY_NS = 10**12
"""A connection that cannot be the one."""
_CLOCKS_NS = 1_000_000
"""A client may take its time a little after its first packet."""


def match(requests: Sequence[Sequence[Request]], found: Sequence[Connection]) -> list[Connection | None]:
    """Of the requests of each connection, in the order of their start, the connection on the link: the one that begins
    and answers when they do."""
    if not requests or not found:
        return [None] * len(requests)
    from scipy.optimize import linear_sum_assignment  # only now: campaigns without packets need not wait for it

    costs = np.array([[_unlike(of, one) for one in found] for of in requests])
    chosen: list[Connection | None] = [None] * len(requests)
    for row, column in zip(*linear_sum_assignment(costs), strict=True):
        if costs[row, column] < _UNLIKELY_NS:
            chosen[int(row)] = found[int(column)]
    return chosen


def _unlike(requests: Sequence[Request], one: Connection) -> float:
    """ns: by how much the connection began after its first request did, and its packets came before requests ended."""
    first = requests[0]
    if not first.start - _CLOCKS_NS <= one.began <= first.end or not one.down.arrived.any():
        return _UNLIKELY_NS
    came = np.sort(one.down.left[one.down.arrived & one.down.speaks])
    ends = np.array([request.end for request in requests])
    place = np.searchsorted(came, ends + _CLOCKS_NS // 20, side="right") - 1
    if (place < 0).any():
        return _UNLIKELY_NS
    return float(np.minimum(np.abs(ends - came[place]), 10**9).mean() + (one.began - first.start) * 0.01)
