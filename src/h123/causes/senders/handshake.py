"""Explains the time before a connection's first request.

While packets are in flight, the time is attributed to round trips. Otherwise it is attributed to the processing of the
end that last received a packet. If a packet was lost, the time until its sender's next packet is attributed to the
repair of the loss.
"""

import numpy as np

from h123.causes.cause import (
    AMPLIFICATION,
    CLIENT_WORK,
    CONNECTING,
    CROSS,
    NUMBER,
    QUEUE,
    REPAIRS,
    RETRY,
    SERVER_WORK,
    Cause,
    Nanoseconds,
    time_on,
)
from h123.causes.connections.connection import Connection, Sending
from h123.causes.connections.losses import repair_numbers
from h123.causes.intervals import Course, Numbers
from h123.causes.spans import Limits, Spans, Times

_TIMES = 3
_SMALLEST = 1200
"""The smallest size in bytes of a datagram that begins a QUIC connection."""
_REST = 400
"""The smallest payload, in bytes, of a packet that carries more of the handshake than an acknowledgement."""
_LONG = 0x80


def explain(of: Connection, begin: int, end: int, before: Cause) -> Nanoseconds:
    """Explain the time between a request's start and its first packet. `before`: the cause of the time before the
    connection began."""
    if end <= begin:
        return time_on(CONNECTING, 0, 0)
    first = min(max(of.begin, begin), end)
    return time_on(before, begin, first) + _course(of, first, end).between(first, end)


def _course(of: Connection, begin: int, end: int) -> Course:
    sides = [_until(side, end) for side in (of.up, of.down)]
    under_way = Spans.union(*_joined([(side.wire.ends, side.delivered_at) for side in sides], sides))
    waiting = Spans.union(*_joined([(side.at, side.wire.ends) for side in sides], sides))
    crossed, repairs = sides[0].crossed.with_(sides[1].crossed), _repairs(sides)
    got_up, got_down = (np.sort(side.delivered_at[side.arrived]) for side in sides)
    edges = np.concatenate([[begin, end], under_way.edges, waiting.edges, crossed.edges, got_up, got_down])
    retried, amplified = of.retry or 0, _amplification_waits(of)
    edges = np.concatenate([edges, amplified.edges, *(spans.edges for _, spans in repairs)])

    def tell(moments: Times) -> Numbers:
        last_up, last_down = (_latest(receipts, moments) for receipts in (got_up, got_down))
        work = np.where(last_up > last_down, NUMBER[SERVER_WORK], NUMBER[CLIENT_WORK])
        for cause, spans in repairs:
            work = np.where(spans.hold(moments), NUMBER[cause], work)
        work = np.where(waiting.hold(moments), NUMBER[QUEUE], work)
        work = np.where(crossed.hold(moments), NUMBER[CROSS], work)
        trips = np.where(amplified.hold(moments), NUMBER[AMPLIFICATION], NUMBER[CONNECTING])
        trips = np.where(moments < retried, NUMBER[RETRY], trips)
        return np.where(under_way.hold(moments), trips, work).astype(np.int8)

    return Course.cut(edges[(edges >= begin) & (edges <= end)], tell)


def _amplification_waits(of: Connection) -> Spans:
    """Return when a QUIC server waited for its client before it sent the rest of its handshake: until the client's
    address is validated, the server may send only three times as many bytes as it has received (RFC 9000, 8.1)."""
    up, down = of.up, of.down
    if not of.quic or not len(down):
        return Spans.union([], [])
    received_bytes = np.concatenate([[0], np.cumsum(up.packets["payload"][up.arrivals], dtype=np.int64)])
    allowed = _TIMES * received_bytes[np.searchsorted(up.delivered_at[up.arrivals], down.at[:-1], side="right")]
    sent_bytes = np.cumsum(down.packets["payload"], dtype=np.int64)[:-1]
    # The server continues with a large packet of the handshake, whose header is long.
    goes_on = (down.packets["flags"][1:] & _LONG > 0) & (down.packets["payload"][1:] >= _REST)
    waits = (sent_bytes + _SMALLEST > allowed) & goes_on & (np.diff(down.at) > of.round_trip_ns // 2)
    return Spans.union(down.at[:-1][waits], down.at[1:][waits])


def _until(side: Sending, end: int) -> Sending:
    return side.first(int(np.searchsorted(side.at, end)))


def _joined(spans: list[tuple[Times, Times]], sides: list[Sending]) -> tuple[Times, Times]:
    begins = [begin[side.arrived] for (begin, _), side in zip(spans, sides, strict=True)]
    ends = [end[side.arrived] for (_, end), side in zip(spans, sides, strict=True)]
    return np.concatenate(begins), np.concatenate(ends)


def _repairs(sides: list[Sending]) -> Limits:
    """Return, for each packet that never arrived, the span until its sender's next packet. Spans are grouped by what
    dropped the packet."""
    begins, ends, numbers = [], [], []
    for side in sides:
        places = np.flatnonzero(~side.arrived[:-1])
        begins.append(side.at[places])
        ends.append(side.at[places + 1])
        numbers.append(repair_numbers(side.packets[places]))
    begin, end, number = (np.concatenate(part) for part in (begins, ends, numbers))
    return [(cause, Spans.union(begin[number == NUMBER[cause]], end[number == NUMBER[cause]])) for cause in REPAIRS]


def _latest(times: Times, moments: Times) -> Times:
    """Return, for each moment, the last of `times` before it, or 0 if there is none."""
    return np.concatenate([[0], times])[np.searchsorted(times, moments, side="right")]
