"""Computes when a link's bottleneck sent each packet, from the packets' times and the link's profile.

Drop-tail queues, CoDel, PIE and RED send packets in the order of arrival. At a constant rate and without cross traffic,
the times then follow from the arrivals. With FQ-CoDel, a token bucket or cross traffic, they follow from the departures
instead. On a link with aggregation, a packet that the bottleneck has sent also waits for an opportunity to send.
Departures do not show how long this wait was, so the longest possible one is subtracted.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from h123.causes.spans import Times
from h123.packets.capture import DELIVERED, QUEUED, Packets
from h123.study.networks.network import Direction

_NS = 1_000_000_000
_IN_ORDER = {"bytes", "packets", "ns", "codel", "pie", "red"}
"""The queues that send packets in the order of their arrival."""


@dataclass(frozen=True)
class Wire:
    """When each packet of a direction was on the wire, in ns. Packets are in the order of arrival at the link.

    A packet that was dropped before the bottleneck took no time on the wire, so both of its times are its arrival. Lost
    packets were lost behind the bottleneck, so they took time on the wire like any other packet.
    """

    begins: Times
    ends: Times


def wire(packets: Packets, way: Direction, *, shared: bool = False) -> Wire:
    """Return the wire times of the packets in one direction. `shared`: whether cross traffic used the link too."""
    arrivals = packets["at_ns"].astype(np.int64)
    if way.rate is None:
        return Wire(arrivals, arrivals)
    varies = way.rate.bps is None or bool(way.changes)
    if varies and not shared:
        return _in_order_of_departure(packets)
    enqueued = np.isin(packets["fate"], QUEUED)
    takes = np.where(enqueued, packets["bytes"] * (8 * _NS / way.rate.mean_bps), 0).astype(np.int64)
    if shared or way.rate.burst_bytes is not None or _is_fair(way):
        return _by_departure(packets, way, takes)
    return _in_turn(arrivals, np.where(enqueued, packets["bytes"].astype(np.int64) * 8 * _NS // (way.rate.bps or 1), 0))


def _is_fair(way: Direction) -> bool:
    """Return whether the queue sends packets of different connections in turn. All disciplines outside _IN_ORDER do."""
    return bool(way.queue and set(way.queue.model_dump(exclude_none=True)) - _IN_ORDER)


def _in_turn(arrivals: Times, takes: Times) -> Wire:
    """Return the times of packets sent one after another. A packet's time on the wire begins when the packet has
    arrived and the wire is free. It lasts for `takes`: the ns that the packet's size needs at the link's rate, or 0 if
    the packet was dropped."""
    before = np.concatenate([[0], np.cumsum(takes)[:-1]]) if len(takes) else takes
    begins = np.maximum.accumulate(arrivals - before) + before
    dropped = takes == 0
    begins = np.where(dropped, arrivals, begins)
    return Wire(begins, begins + takes)


def _by_departure(packets: Packets, way: Direction, takes: Times) -> Wire:
    """Compute the times from departures. The time at which a packet left the wire is the time at which it left the
    link, less the link's delay. The packet was on the wire for as long as its size takes at the link's rate, and it
    waited before that. A packet that a token bucket passed on at once took no time. A lost packet is assumed to have
    directly followed the previous one; in a fair queue, the previous one of its connection."""
    arrivals, delivered, departures = _departures(packets)
    least = arrivals if way.rate and way.rate.burst_bytes is not None else arrivals + takes
    after_rate = way.delay_ns or 0
    if way.jitter or way.changes:  # then the queue may never have been empty
        after_rate = int((departures - least)[delivered].min()) if delivered.any() else 0
    if way.aggregation:
        after_rate += way.aggregation.every_ns + way.aggregation.spread_ns
    observed_ends = np.where(delivered, np.maximum(departures - after_rate, least), 0)
    ends = np.where(delivered, observed_ends, arrivals)
    lost = (takes > 0) & ~delivered
    if lost.any():
        for places in _turns(packets, way):
            before = np.maximum.accumulate(np.concatenate([[0], observed_ends[places][:-1]]))
            followed = np.maximum(arrivals[places], before) + takes[places]
            ends[places] = np.where(lost[places], followed, ends[places])
    return Wire(np.maximum(ends - takes, arrivals), ends)


def _turns(packets: Packets, way: Direction) -> list[Times]:
    """Return groups of packets, as indices. The queue sends the packets of a group in the order of their arrival."""
    if not _is_fair(way):
        return [np.arange(len(packets))]
    names = ("protocol", "source", "destination")
    flows = np.unique(np.stack([packets[name] for name in names]), axis=1, return_inverse=True)[1].ravel()
    return [np.flatnonzero(flows == flow) for flow in range(int(flows.max()) + 1)]


def _in_order_of_departure(packets: Packets) -> Wire:
    """Compute the times for a rate that is not constant. A packet was on the wire from the previous packet's departure
    to its own, both less the link's delay. Jitter and the wait for an opportunity to send are included in the time on
    the wire."""
    arrivals, delivered, departures = _departures(packets)
    shortest = int((departures - arrivals)[delivered].min()) if delivered.any() else 0
    ends = np.where(delivered, np.maximum(departures - shortest, arrivals), arrivals)
    order = np.flatnonzero(delivered)
    order = order[np.argsort(ends[order], kind="stable")]
    before = arrivals.copy()
    before[order[1:]] = np.maximum(ends[order[:-1]], arrivals[order[1:]])
    return Wire(np.minimum(before, ends), ends)


def _departures(packets: Packets) -> tuple[Times, NDArray[np.bool_], Times]:
    """Return when packets arrived at the link, which of them it delivered, and when they left it."""
    departures = packets["left_ns"].astype(np.int64)
    return packets["at_ns"].astype(np.int64), (packets["fate"] == DELIVERED) & (departures > 0), departures
