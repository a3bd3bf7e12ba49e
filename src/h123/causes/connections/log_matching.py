"""Matches a stack's logs, which have their own clock, with connections on the link, and finds when each log began."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from h123.causes.assignment import assigned
from h123.causes.connections.connection import Connection
from h123.causes.spans import Times
from h123.packets.capture import RETRY
from h123.packets.stack_log import StackLog

_SHARES = np.linspace(0, 1, 21)
"""The quantiles at which a log's sending times are compared with the link's."""
_NEAR_NS, _NEAR_SHARE = 10_000_000, 0.05
"""The tolerance for a log's times: this many ns plus this share of the connection's duration. A stack records a time
before the packet reaches the link, and puts several handshake packets into one datagram."""
_UNLIKELY = 1e12


def match_logs(logs: Sequence[StackLog], connections: Sequence[Connection]) -> list[StackLog | None]:
    """Return, for each connection, the server's matching log, shifted to the trial's clock, or None. A log matches if
    its sending times agree with the times at which the link saw the server's packets."""
    log_of: list[StackLog | None] = [None] * len(connections)
    quic = [
        place for place, connection in enumerate(connections) if connection.quic and len(_sending_times(connection))
    ]
    if not logs or not quic:
        return log_of
    costs = np.array([[_mismatch_ns(log, _sending_times(connections[place])) for log in logs] for place in quic])
    for place, column in zip(quic, assigned(costs, _UNLIKELY), strict=True):
        if column is not None:
            log = logs[column]
            log_of[place] = log.later(int(_sending_times(connections[place])[0]) - int(log.sendings[0]))
    return log_of


def _sending_times(connection: Connection) -> Times:
    """Return when the server's packets reached the link. A Retry is left out, because it precedes the logged
    connection."""
    times: Times = connection.down.at[(connection.down.packets["flags"] & RETRY) != RETRY]
    return times


def _mismatch_ns(log: StackLog, times: Times) -> float:
    """Return the mean difference in ns between the log's sending times and `times`, both counted from the first packet,
    up to the end of the link's record. If it exceeds the tolerance, return _UNLIKELY."""
    length = int(times[-1] - times[0])
    logged = log.sendings - log.sendings[0]
    off = float(np.abs(_course(logged[logged <= length + _NEAR_NS]) - _course(times - times[0])).mean())
    return off if off <= _NEAR_NS + _NEAR_SHARE * length else _UNLIKELY


def _course(times: Times) -> NDArray[np.float64]:
    course: NDArray[np.float64] = np.quantile(times, _SHARES)
    return course
