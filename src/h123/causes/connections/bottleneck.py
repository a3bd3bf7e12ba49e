"""When a link's bottleneck sent each packet: from the packets' times and what the link is made of."""

from dataclasses import dataclass

import numpy as np

from h123.causes.spans import Times
from h123.packets.capture import BLOCKED, DELIVERED, QUEUE_FULL, Packets
from h123.study.networks.network import Direction

_NS = 1_000_000_000


@dataclass(frozen=True)
class Wire:
    """When each packet of a way was put on the wire, in the order of arrival at the link; ns.

    A packet that the queue had no room for, or that was blocked, took no time of it: both are its arrival. What was
    lost was lost behind the bottleneck, so it took as long as any other.
    """

    begins: Times
    ends: Times


def wire(packets: Packets, way: Direction, *, shared: bool = False) -> Wire:
    """Of the packets of one way; `shared` with cross traffic, of which there is no record."""
    if shared and way.rate is not None:
        return _behind_others(packets, way.rate.mean_bps, way)
    if way.rate is None or way.rate.bps is None or way.changes:
        return _by_departure(packets, way)
    came = packets["at_ns"].astype(np.int64)
    passed = (packets["fate"] != QUEUE_FULL) & (packets["fate"] != BLOCKED)
    takes = np.where(passed, packets["bytes"].astype(np.int64) * 8 * _NS // way.rate.bps, 0)
    return _in_turn(came, takes)


def _in_turn(came: Times, takes: Times) -> Wire:
    """One after the other: the end of each is that of the one before, or its arrival, and what it takes."""
    before = np.concatenate([[0], np.cumsum(takes)[:-1]]) if len(takes) else takes
    begins = np.maximum.accumulate(came - before) + before
    dropped = takes == 0
    begins = np.where(dropped, came, begins)
    return Wire(begins, begins + takes)


def _behind_others(packets: Packets, bps: float, way: Direction) -> Wire:
    """Each was off the wire when it left the link, less the delay, and had been on it for as long as it takes; before
    that it waited, for whomever. One that was lost is taken to have followed the one before."""
    came, left = packets["at_ns"].astype(np.int64), packets["left_ns"].astype(np.int64)
    gone = (packets["fate"] == DELIVERED) & (left > 0)
    passed = (packets["fate"] != QUEUE_FULL) & (packets["fate"] != BLOCKED)
    takes = np.where(passed, packets["bytes"] * (8 * _NS / bps), 0).astype(np.int64)
    shortest = int((left - came - takes)[gone].min()) if gone.any() else 0
    if not way.jitter and not way.changes:  # the queue may never have been empty
        shortest = min(way.delay_ns or 0, shortest)
    known = np.where(gone, left - shortest, 0)
    before = np.maximum.accumulate(np.concatenate([[0], known[:-1]])) if len(known) else known
    ends = np.where(gone, known, np.where(passed, np.maximum(came, before) + takes, came))
    return Wire(np.maximum(ends - takes, came), ends)


def _by_departure(packets: Packets, way: Direction) -> Wire:
    """Where the rate is not one number: a packet was on the wire from when the one before had gone until it left, less
    the delay; jitter counts as time on the wire."""
    came, left = packets["at_ns"].astype(np.int64), packets["left_ns"].astype(np.int64)
    gone = (packets["fate"] == DELIVERED) & (left > 0)
    if way.rate is None:
        return Wire(came, came)
    shortest = int((left - came)[gone].min()) if gone.any() else 0
    ends = np.where(gone, np.maximum(left - shortest, came), came)
    latest = np.maximum.accumulate(np.concatenate([[0], ends[:-1]])) if len(ends) else ends
    return Wire(np.minimum(np.maximum(came, latest), ends), ends)
