"""The link as configured: what no measurement over it can beat."""

from typing import Any

import numpy as np

Direction = dict[str, Any]
_NORMAL_REACH = 4
"""Standard deviations of normal jitter that a packet may be early by; one in 30000 is more."""


def direction(link: dict[str, Any], name: str) -> Direction:
    """`up` or `down` of a link in trial.json; empty for a veth."""
    return dict(link.get(name) or {})


def round_trip_floor_ns(link: dict[str, Any]) -> int:
    """The shortest round trip that the link allows: the least delay of each direction, over all timed changes."""
    return sum(_least_delay_ns(direction(link, name)) for name in ("up", "down"))


def capacity_bits(one_way: Direction, seconds: float) -> float | None:
    """The most bits that the direction can deliver in any span of so many seconds; None without a limit.

    rate x time for a constant rate; for a trace, the fullest window of that length. Over timed changes the highest.
    """
    rates = [one_way.get("rate"), *(c["rate"] for c in one_way.get("changes") or [] if c.get("rate"))]
    if any(rate is None for rate in rates):
        return None
    return max(_rate_capacity(rate, seconds) for rate in rates if rate)


def _least_delay_ns(one_way: Direction) -> int:
    changes = one_way.get("changes") or []
    delays = [one_way.get("delay_ns") or 0, *(c["delay_ns"] for c in changes if c.get("delay_ns") is not None)]
    jitter = one_way.get("jitter") or {}
    reach = jitter.get("spread_ns", 0) * (_NORMAL_REACH if jitter.get("distribution") == "normal" else 1)
    ahead = (one_way.get("reorder") or {}).get("ahead_ns", 0)
    return int(max(0, min(delays) - reach - ahead))


def _rate_capacity(rate: dict[str, Any], seconds: float) -> float:
    if "bps" in rate:
        return float(rate["bps"]) * seconds
    opportunities = np.asarray(rate["trace_ms"], dtype=np.float64)
    period, window = opportunities[-1], seconds * 1000
    repeats, rest = divmod(window, period)
    twice = np.concatenate([opportunities, opportunities + period])
    fullest = (np.searchsorted(twice, opportunities + rest, side="right") - np.arange(len(opportunities))).max()
    return float((repeats * len(opportunities) + fullest) * rate["opportunity_bytes"] * 8)
