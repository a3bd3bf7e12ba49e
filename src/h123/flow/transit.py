"""Computes the traffic through a link in one direction: the throughput, how long packets waited in the queue, and when
packets were lost."""

import numpy as np

from h123.causes import Times, wire
from h123.flow.bins import Bins, Numbers, Series
from h123.packets.capture import DELIVERED, QUEUED, Packets
from h123.study.networks.network import Direction

_NS = 1_000_000_000


def throughput(packets: Packets, bins: Bins) -> Numbers:
    """Return the bits per second that left the link in one direction, by bin. Whole IP packets count, as in the link's
    rate."""
    out = (packets["fate"] == DELIVERED) & (packets["left_ns"] > 0)
    return bins.sums(packets["left_ns"][out], packets["bytes"][out]) * 8 * _NS / bins.width


def waiting(packets: Packets, way: Direction, *, shared: bool = False) -> Series:
    """Return how long each packet of a direction waited in the queue, in ns, with the time when it reached the link.
    Dropped packets have no value. Empty if the direction has no queue. `shared`: whether cross traffic used the link
    too."""
    if way.rate is None and not any(change.rate for change in way.changes or []):
        return Series(np.empty(0, np.int64), np.empty(0))
    queued = np.isin(packets["fate"], QUEUED)
    arrivals = packets["at_ns"].astype(np.int64)
    return Series(arrivals[queued], (wire(packets, way, shared=shared).begins - arrivals)[queued].astype(float))


def fate_times(packets: Packets, fate: int) -> Times:
    """Return when the packets with a given fate reached the link."""
    times: Times = packets["at_ns"][packets["fate"] == fate].astype(np.int64)
    return times


def capacity(way: Direction, begin: int, end: int) -> Series:
    """Return the link's rate over time, in bit/s. Each value applies until the time of the next, and a trace is
    replaced by its mean. Empty if the link has no rate."""
    steps = [(begin, way.rate)]
    steps += [(begin + c.at_ns, c.rate) for c in way.changes or [] if c.rate and begin + c.at_ns < end]
    rates = [(time, rate.mean_bps) for time, rate in steps if rate]
    if rates:
        rates.append((end, rates[-1][1]))
    return Series(np.array([time for time, _ in rates], np.int64), np.array([bps for _, bps in rates], float))


def full_queue_ns(way: Direction) -> float | None:
    """Return the delay of a full queue, in ns. None if it is unknown or varies."""
    if way.queue is None or way.changes:
        return None
    if way.queue.ns is not None:
        return float(way.queue.ns)
    if way.queue.bytes is None or way.rate is None or way.rate.bps is None:
        return None
    return way.queue.bytes * 8 * _NS / way.rate.bps
