"""Finds limits of a sender other than its congestion window. Sources are TCP's receive window, flow control in the
frames of HTTP/2 and QUIC, and the log of a QUIC stack."""

import numpy as np

from h123.causes.cause import CONNECTION_LIMIT, RECEIVER, STREAM_LIMIT
from h123.causes.connections.connection import FULL, Connection
from h123.causes.senders.receive_window import full_window
from h123.causes.senders.streams import Streams
from h123.causes.spans import Limits, Spans
from h123.packets.capture import DOWN
from h123.packets.stack_log import StackLog


def limits(connection: Connection, way: int, log: StackLog | None, streams: Streams | None = None) -> Limits:
    """Return the limits of the sender in a direction, with the times at which they applied. `log`: the server stack's
    log. `streams`: the streams in the connection's frames."""
    stream_limits = streams.limits(way) if streams else []
    if not connection.quic:
        sides = (connection.up, connection.down)[:: -1 if way == DOWN else 1]
        return [(RECEIVER, full_window(*sides)), *stream_limits]
    if streams:
        return stream_limits
    if log is None:
        return []
    return [
        (STREAM_LIMIT, _flow_control_spans(connection, way, log, True)),
        (CONNECTION_LIMIT, _flow_control_spans(connection, way, log, False)),
    ]


def _flow_control_spans(connection: Connection, way: int, log: StackLog, stream: bool) -> Spans:
    """Return when flow control limited the sender, by the server's log. If the client is the sender, each span is
    extended by half a round trip at both ends, because the server learns of the limit later and lifts it earlier. If
    the server is the sender, times in which its congestion window is also full are left out."""
    own, trip = way == DOWN, 0 if way == DOWN else connection.round_trip_ns // 2
    stalls = [stall for stall in log.stalls if stall.own == own and stall.stream == stream]
    spans = Spans.union([stall.begin - trip for stall in stalls], [stall.end + trip for stall in stalls])
    return spans.without(_full(log)) if own else spans


def _full(log: StackLog) -> Spans:
    """Return when the congestion window had no room for a packet, according to the sender's own log."""
    full = np.flatnonzero(log.window[:-1] - log.in_flight[:-1] < FULL)  # unknown values count as 0
    return Spans.union(log.at[full], log.at[full + 1])
