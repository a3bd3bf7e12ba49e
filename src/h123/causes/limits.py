"""What kept a sender from sending beside its congestion window, where somebody tells: the receiver's window of TCP is
there to read, and a QUIC stack may write down when flow control held it up."""

from collections.abc import Sequence

import numpy as np

from h123.causes.cause import CONNECTION_LIMIT, RECEIVER, STREAM_LIMIT, Cause
from h123.causes.connection import FULL, Connection
from h123.causes.receive_window import full_window
from h123.causes.spans import Spans
from h123.results.packets import DOWN
from h123.results.stack_log import StackLog

Limits = Sequence[tuple[Cause, Spans]]
"""Each with the times in which it held the sender up."""


def limits(connection: Connection, way: int, log: StackLog | None) -> Limits:
    """Of the sender of a way; `log`: what the server's stack says of the connection."""
    if not connection.quic:
        sides = (connection.up, connection.down)[:: -1 if way == DOWN else 1]
        return [(RECEIVER, full_window(*sides))]
    if log is None:
        return []
    return [(STREAM_LIMIT, _held(connection, way, log, True)), (CONNECTION_LIMIT, _held(connection, way, log, False))]


def _held(connection: Connection, way: int, log: StackLog, stream: bool) -> Spans:
    """What the server hears of its client left there half a round trip before, and what it grants arrives as much
    later. A stream that is held is not what a sender waits for whose congestion window is full as well."""
    own, trip = way == DOWN, 0 if way == DOWN else connection.round_trip_ns // 2
    told = [one for one in log.held if one.own == own and one.stream == stream]
    spans = Spans.union([one.begin - trip for one in told], [one.end + trip for one in told])
    return spans.without(_full(log)) if own else spans


def _full(log: StackLog) -> Spans:
    """When the congestion window had no room for a packet, as the sender itself says."""
    full = np.flatnonzero(log.window[:-1] - log.in_flight[:-1] < FULL)  # of what is not told, nothing
    return Spans.union(log.at[full], log.at[full + 1])
