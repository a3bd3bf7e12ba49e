"""What the time before a connection's first request went to.

Packets that are under way are round trips; where none is, the end that has last got one is at work, unless a packet was
lost: then its sender waits.
"""

import numpy as np

from h123.causes.cause import (
    BLOCKED,
    CLIENT_WORK,
    CONNECTING,
    MENDING,
    NUMBER,
    QUEUE,
    RETRY,
    SERVER_WORK,
    Nanoseconds,
    spent,
)
from h123.causes.connection import Connection, Sending
from h123.causes.course import Course, Numbers
from h123.causes.spans import Spans, Times


def explain(of: Connection, begin: int, end: int, blocked: bool) -> Nanoseconds:
    """Of the time between a request's start and its first packet. `blocked`: whether UDP was tried in it, in vain."""
    if end <= begin:
        return spent(CONNECTING, 0, 0)
    first = min(max(of.began, begin), end)
    before = spent(BLOCKED if blocked else CLIENT_WORK, begin, first)
    return before + _course(of, first, end).between(first, end)


def _course(of: Connection, begin: int, end: int) -> Course:
    sides = [_until(side, end) for side in (of.up, of.down)]
    under_way = Spans.union(*_joined([(side.wire.ends, side.left) for side in sides], sides))
    waiting = Spans.union(*_joined([(side.at, side.wire.ends) for side in sides], sides))
    lost = Spans.union(*_lost(sides))
    got_up, got_down = (np.sort(side.left[side.arrived]) for side in sides)
    edges = np.concatenate([[begin, end], under_way.edges, waiting.edges, lost.edges, got_up, got_down])
    retried = of.retry or 0

    def tell(moments: Times) -> Numbers:
        last_up, last_down = (_latest(got, moments) for got in (got_up, got_down))
        said = np.where(last_up > last_down, NUMBER[SERVER_WORK], NUMBER[CLIENT_WORK])
        said = np.where(lost.hold(moments), NUMBER[MENDING], said)
        said = np.where(waiting.hold(moments), NUMBER[QUEUE], said)
        trips = np.where(moments < retried, NUMBER[RETRY], NUMBER[CONNECTING])
        return np.where(under_way.hold(moments), trips, said).astype(np.int8)

    return Course.cut(edges[(edges >= begin) & (edges <= end)], tell)


def _until(side: Sending, end: int) -> Sending:
    """What was sent before a time."""
    return side.first(int(np.searchsorted(side.at, end)))


def _joined(spans: list[tuple[Times, Times]], sides: list[Sending]) -> tuple[Times, Times]:
    begins = [begin[side.arrived] for (begin, _), side in zip(spans, sides, strict=True)]
    ends = [end[side.arrived] for (_, end), side in zip(spans, sides, strict=True)]
    return np.concatenate(begins), np.concatenate(ends)


def _lost(sides: list[Sending]) -> tuple[Times, Times]:
    """From the sending of each packet that did not arrive until its sender's next."""
    begins, ends = [], []
    for side in sides:
        gone = np.flatnonzero(~side.arrived[:-1])
        begins.append(side.at[gone])
        ends.append(side.at[gone + 1])
    return np.concatenate(begins), np.concatenate(ends)


def _latest(times: Times, moments: Times) -> Times:
    """The last of the times before each moment; 0: none."""
    return np.concatenate([[0], times])[np.searchsorted(times, moments, side="right")]
