"""Computes the limits of the configured link, which no measurement over the link can beat."""

from typing import Protocol

import numpy as np

from h123.study.networks.network import Bottleneck, Direction

_NORMAL_REACH = 4
"""The most standard deviations by which normally distributed jitter is assumed to shorten a delay. It shortens one
delay in 30000 by more."""


class Ways(Protocol):
    """A link in trial.json, or a network, with its two directions. For a veth, both are None."""

    @property
    def up(self) -> Direction | None: ...
    @property
    def down(self) -> Direction | None: ...


def direction(link: Ways, name: str) -> Direction:
    """Return the direction `up` or `down` of the link. For a veth, return a direction without effects."""
    return (link.up if name == "up" else link.down) or Direction()


def round_trip_floor_ns(link: Ways) -> int:
    """Return the shortest round trip that the link allows, in ns: the sum of the shortest delays of both directions,
    including their timed changes."""
    return sum(_least_delay_ns(direction(link, name)) for name in ("up", "down"))


def capacity_bits(one_way: Direction, seconds: float) -> float | None:
    """Return the most bits that the direction can deliver in any span of `seconds`, or None if there is no limit.

    For a constant rate, the limit is rate x time, plus the burst of a token bucket. For a trace, the limit is the most
    that any window of that length carries. If the rate changes over time, the limit is that of the highest rate. A
    policer allows at most its rate x time plus its burst.
    """
    limits = []
    if one_way.rate is not None:
        rates = [one_way.rate, *(change.rate for change in one_way.changes or [] if change.rate)]
        limits.append(max(_rate_capacity(rate, seconds) for rate in rates))
    if policer := one_way.policer:
        limits.append(policer.bps * seconds + 8 * policer.burst_bytes)
    return min(limits, default=None)


def _least_delay_ns(one_way: Direction) -> int:
    changed = [change.delay_ns for change in one_way.changes or [] if change.delay_ns is not None]
    least, jitter = min([one_way.delay_ns or 0, *changed]), one_way.jitter
    reach = jitter.spread_ns * (_NORMAL_REACH if jitter.distribution == "normal" else 1) if jitter else 0
    ahead = one_way.reorder.ahead_ns if one_way.reorder else 0
    return max(0, least - reach - ahead)


def _rate_capacity(rate: Bottleneck, seconds: float) -> float:
    if rate.bps is not None:
        return rate.bps * seconds + 8 * (rate.burst_bytes or 0)
    assert rate.trace_ms is not None  # the caller ensures a rate or a trace
    assert rate.opportunity_bytes is not None
    opportunities = np.asarray(rate.trace_ms, dtype=np.float64)
    period, window = opportunities[-1], seconds * 1000
    repeats, rest = divmod(window, period)
    twice = np.concatenate([opportunities, opportunities + period])
    fullest = (np.searchsorted(twice, opportunities + rest, side="right") - np.arange(len(opportunities))).max()
    return float((repeats * len(opportunities) + fullest) * rate.opportunity_bytes * 8)
