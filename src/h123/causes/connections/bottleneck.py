"""Computes when a link's bottleneck sent each packet, from the packets' times and the link's profile."""

from dataclasses import dataclass

import numpy as np

from h123.causes.spans import Times
from h123.packets.capture import DELIVERED, QUEUED, Packets
from h123.study.networks.network import Direction

_NS = 1_000_000_000


@dataclass(frozen=True)
class Wire:
    """The times, in ns, at which each packet of a direction was on the wire, in the order of arrival at the link.

    A packet that was refused before the bottleneck took no time on the wire, so both of its times are its arrival. Lost
    packets were lost behind the bottleneck, so they took as long as any other packet.
    """

    begins: Times
    ends: Times


def wire(packets: Packets, way: Direction, *, shared: bool = False) -> Wire:
    """Return the wire times of the packets in one direction. `shared`: whether cross traffic used the link too."""
    if shared and way.rate is not None:
        return _behind_others(packets, way.rate.mean_bps, way)
    if way.rate is None or way.rate.bps is None or way.changes:
        return _by_departure(packets, way)
    arrivals = packets["at_ns"].astype(np.int64)
    enqueued = np.isin(packets["fate"], QUEUED)
    takes = np.where(enqueued, packets["bytes"].astype(np.int64) * 8 * _NS // way.rate.bps, 0)
    return _in_turn(arrivals, takes)


def _in_turn(arrivals: Times, takes: Times) -> Wire:
    """Compute the times of packets sent one after another. A packet's time on the wire begins when the packet has
    arrived and the previous one has ended. It ends after as long as the packet takes."""
    before = np.concatenate([[0], np.cumsum(takes)[:-1]]) if len(takes) else takes
    begins = np.maximum.accumulate(arrivals - before) + before
    dropped = takes == 0
    begins = np.where(dropped, arrivals, begins)
    return Wire(begins, begins + takes)


def _behind_others(packets: Packets, bps: float, way: Direction) -> Wire:
    """Compute the times if there is cross traffic, whose packets are not recorded. A packet left the wire one delay
    before it left the link. It was on the wire for as long as its size takes at the link's rate, and before that it
    waited for other traffic. A lost packet is assumed to have followed the previous one."""
    arrivals, departures = packets["at_ns"].astype(np.int64), packets["left_ns"].astype(np.int64)
    delivered = (packets["fate"] == DELIVERED) & (departures > 0)
    enqueued = np.isin(packets["fate"], QUEUED)
    takes = np.where(enqueued, packets["bytes"] * (8 * _NS / bps), 0).astype(np.int64)
    shortest = int((departures - arrivals - takes)[delivered].min()) if delivered.any() else 0
    if not way.jitter and not way.changes:  # otherwise the queue may never have been empty
        shortest = min(way.delay_ns or 0, shortest)
    observed_ends = np.where(delivered, departures - shortest, 0)
    before = np.maximum.accumulate(np.concatenate([[0], observed_ends[:-1]])) if len(observed_ends) else observed_ends
    ends = np.where(delivered, observed_ends, np.where(enqueued, np.maximum(arrivals, before) + takes, arrivals))
    return Wire(np.maximum(ends - takes, arrivals), ends)


def _by_departure(packets: Packets, way: Direction) -> Wire:
    """Compute the times for a rate that is not constant. A packet was on the wire from the end of the previous packet
    until it left the link, less the delay. Jitter counts as time on the wire."""
    arrivals, departures = packets["at_ns"].astype(np.int64), packets["left_ns"].astype(np.int64)
    delivered = (packets["fate"] == DELIVERED) & (departures > 0)
    if way.rate is None:
        return Wire(arrivals, arrivals)
    shortest = int((departures - arrivals)[delivered].min()) if delivered.any() else 0
    ends = np.where(delivered, np.maximum(departures - shortest, arrivals), arrivals)
    latest = np.maximum.accumulate(np.concatenate([[0], ends[:-1]])) if len(ends) else ends
    return Wire(np.minimum(np.maximum(arrivals, latest), ends), ends)
