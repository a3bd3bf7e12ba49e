"""Computes the summary of an attempt's samples, from which most of its metrics and audits are computed."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from h123.measures.visits import Visit, Visits
from h123.store.rows import Mask, Numbers, Rows
from h123.study import METRICS
from h123.study.metrics.quantity import Arrival, RequestTime, Stage, TimeFromSend
from h123.study.workload import LEAVING, WorkloadKind

QUANTILES = sorted({of.share for metric in METRICS.values() if isinstance(of := metric.of, RequestTime)})
"""The quantiles of request times that metrics need."""
SEND_QUANTILES = sorted({of.share for metric in METRICS.values() if isinstance(of := metric.of, TimeFromSend)})
"""The quantiles that metrics need of the time since the request was sent."""
_IN_ORDER = (
    *(("start_ns", "connected_ns"), ("connected_ns", "sent_ns"), ("start_ns", "sent_ns"), ("sent_ns", "end_ns")),
    *(("start_ns", "first_byte_ns"), ("first_byte_ns", "end_ns"), ("start_ns", "end_ns")),
)
"""Pairs of a request's times in the required order. A server may begin its response before the whole request is
sent."""


_Fields = dict[str, Any]
"""Some fields of `Summary`, by name."""


class Bodies(NamedTuple):
    """The smallest and the largest number of body bytes in successful requests for a resource, in each direction. None
    if unknown."""

    resource: int
    up: tuple[int | None, int | None]
    down: tuple[int | None, int | None]


@dataclass(frozen=True)
class Summary:
    """Figures of one attempt's samples. Times are in ns, and None if unknown.

    A request is ok if it has no error and has the status that its resource requires. In quantiles, a request that is
    not ok has an infinite time.
    """

    rows: int
    warm: int
    warmup: int
    cold: int
    handshakes: int | None
    """The number of rows whose request opened a connection. None if unknown, or if requests are retried, because only
    the last try of a request has a row."""
    leaving: int
    """The number of rows for requests that the client had to abandon."""
    abandoned: int
    """The number of rows for requests that the client abandoned."""
    retried: int | None
    """The number of warm rows of requests that took more than one try. None if the workload has no retries, or if the
    client does not record them."""
    errors: int
    first_error: str | None
    """The text of one of the errors. None if there are none."""
    refused: int
    """The number of rows without an error but with a status other than the required one."""
    instant: int
    """The number of rows that are ok and took no time at all."""
    warm_ok: int
    warm_ttfb_known: int
    """The number of warm rows that are ok and have the time of the first byte."""
    cold_ok: int
    cold_ttfb_known: int
    latency_ns: list[float] | None
    """The `QUANTILES` of end - start over warm requests (Hyndman and Fan 1996, type 7)."""
    sent_latency_ns: list[float] | None
    """The `SEND_QUANTILES` of end - sent over warm requests. None unless the time of sending is known for all requests
    that are ok."""
    ttfb_ns: float | None
    cold_latency_ns: float | None
    cold_ttfb_ns: float | None
    handshake_ns: float | None
    """The median time from the start of a cold request until its connection was open."""
    start_ns: int | None
    end_ns: int | None
    open_ns: int | None
    """The end of the last request that opened a connection, or of the last cold request if the client does not report
    which requests opened connections."""
    once_open: float | None
    """The number of requests after all connections were open. A request counts half if it began before and ended after
    that time."""
    warm_start_ns: int | None
    warm_end_ns: int | None
    """The start of the first warm request and the end of the last one."""
    warm_bytes_up: int | None
    warm_bytes_down: int | None
    """The body bytes of the warm requests that are ok, up and down."""
    quickest_up_ns: int | None
    quickest_up_bytes: int | None
    quickest_down_ns: int | None
    quickest_down_bytes: int | None
    """The time and the body bytes of the request with the most bytes per second, in each direction."""
    shortest_ns: int | None
    """The shortest time of a request that is ok, except times of 0."""
    cold_shortest_ns: int | None
    warm_busy_ns: int | None
    """The sum of end - start over warm requests."""
    handshake_min_ns: int | None
    ttfb_min_ns: int | None
    """The shortest time to first byte of a warm request that is ok."""
    disordered: int
    """The number of rows whose times are not in the order start, connected, sent, end, or start, first byte, end."""
    bytes_up_min: int | None
    bytes_up_max: int | None
    bytes_down_min: int | None
    bytes_down_max: int | None
    """The fewest and the most body bytes of a request that is ok, up and down."""
    protocol_min: str | None
    protocol_max: str | None
    """The alphabetically first and last of the protocols that requests without an error negotiated."""
    fell_back: float | None
    """The share, from 0 to 1, of successful rows with the fallback protocol rather than the one that the client
    prefers. None if the workload has no fallback, or if no row has either protocol."""
    bytes_down: int | None
    """The body bytes that all requests that are ok downloaded."""
    bodies: Sequence[Bodies]
    """The sizes of bodies, for each resource that a successful request was for."""
    visits: Sequence[Visit]
    """The warm visits of a page; none for other workloads."""
    visits_ns: Mapping[Arrival, float | None]
    """The median time, over the visits, until each event in `Visits.until`. Empty without visits."""
    stages_ns: Mapping[Stage, float | None]
    """For each stage that the client records: the mean time that a visit's requests spent in it, as the median over the
    visits."""


@dataclass(frozen=True)
class _PhaseMasks:
    """Masks of the rows that are ok and of each phase's rows, and the times of all rows."""

    ok: Mask
    warm: Mask
    cold: Mask
    durations: Numbers
    to_first_byte: Numbers
    to_connected: Numbers


def summarise(rows: Rows, work: WorkloadKind) -> Summary:
    """Return the figures of an attempt's samples. `work` is their workload."""
    durations, to_first_byte = rows["end_ns"] - rows["start_ns"], rows["first_byte_ns"] - rows["start_ns"]
    to_connected = rows["connected_ns"] - rows["start_ns"]
    ok = rows.ok(work.statuses())
    parts = _PhaseMasks(ok, rows.phase("warm"), rows.phase("cold"), durations, to_first_byte, to_connected)
    moving = ok & (durations.values > 0)
    sizes = _sizes(rows, ok)
    return Summary(
        **_counts(rows, parts),
        **_opening(rows, parts, work),
        **_times(rows, parts),
        **sizes,
        **_quickest(rows, durations, moving, sizes),
        shortest_ns=durations.least(moving),
        retried=_retried(rows, parts.warm, work),
        fell_back=_fell_back(rows, ok, work),
        bytes_down=rows["bytes_down"].total(ok),
        bodies=_bodies(rows, ok, sizes, len(work.exchanges())),
        **_visits(rows, parts, work),
    )


def _counts(rows: Rows, parts: _PhaseMasks) -> _Fields:
    ok, warm, cold, valid = parts.ok, parts.warm, parts.cold, parts.to_first_byte.valid
    errors, protocols = rows.texts("error", rows.faulty), rows.texts("protocol", rows.faultless)
    disordered = np.logical_or.reduce([rows[later].after(rows[earlier]) for earlier, later in _IN_ORDER])
    return {
        "rows": rows.count,
        "warm": _count(warm),
        "warmup": _count(rows.phase("warmup")),
        "cold": _count(cold),
        "leaving": _count(rows.phase(LEAVING)),
        "abandoned": _count(rows.abandoned),
        "errors": _count(rows.faulty),
        "first_error": errors[0] if errors else None,
        "refused": _count(rows.faultless & ~ok),
        "instant": _count(ok & parts.durations.valid & (parts.durations.values == 0)),
        "warm_ok": _count(warm & ok),
        "warm_ttfb_known": _count(warm & ok & valid),
        "cold_ok": _count(cold & ok),
        "cold_ttfb_known": _count(cold & ok & valid),
        "disordered": _count(disordered),
        "protocol_min": protocols[0] if protocols else None,
        "protocol_max": protocols[-1] if protocols else None,
    }


def _retried(rows: Rows, warm: Mask, work: WorkloadKind) -> int | None:
    tries = rows["tries"]
    visible = work.retries and tries.valid.any()
    return _count(warm & tries.valid & (tries.values > 1)) if visible else None


def _fell_back(rows: Rows, ok: Mask, work: WorkloadKind) -> float | None:
    if work.fallback is None:
        return None
    preferred, other = (_count(ok & rows.carried_by(protocol)) for protocol in (work.load.protocol, work.fallback))
    return other / (preferred + other) if preferred + other else None


def _opening(rows: Rows, parts: _PhaseMasks, work: WorkloadKind) -> _Fields:
    reused = rows["reused"]
    opened = reused.valid & (reused.values == 0)
    open_ns = rows["end_ns"].most(parts.cold | opened)
    later = [
        0 if open_ns is None else _count(when)
        for when in (rows["end_ns"].values > (open_ns or 0), rows["start_ns"].values >= (open_ns or 0))
    ]
    to_connected = parts.to_connected
    failed = _count(parts.cold & ~to_connected.valid & ~parts.ok)
    return {
        "handshakes": _count(opened) if reused.valid.any() and not work.retries else None,
        "open_ns": open_ns,
        # A request that began before the last connection was open, and ended after it, counts half.
        "once_open": None if open_ns is None else sum(later) / 2,
        "handshake_ns": median_of(to_connected.of(parts.cold), failed),
        "handshake_min_ns": to_connected.least(parts.cold),
    }


def _times(rows: Rows, parts: _PhaseMasks) -> _Fields:
    ok, warm, cold, durations, to_first_byte = parts.ok, parts.warm, parts.cold, parts.durations, parts.to_first_byte
    failed, failed_cold = _count(warm & ~ok), _count(cold & ~ok)
    from_send = (rows["end_ns"] - rows["sent_ns"]).of(warm & ok)
    complete = len(from_send) == _count(warm & ok)
    return {
        "latency_ns": quantiles(durations.of(warm & ok), failed, QUANTILES),
        "sent_latency_ns": quantiles(from_send, failed, SEND_QUANTILES) if complete else None,
        "ttfb_ns": median_of(to_first_byte.of(warm & ok), failed),
        "cold_latency_ns": median_of(durations.of(cold & ok), failed_cold),
        "cold_ttfb_ns": median_of(to_first_byte.of(cold & ok), failed_cold),
        "start_ns": rows["start_ns"].least(rows.every),
        "end_ns": rows["end_ns"].most(rows.every),
        "warm_start_ns": rows["start_ns"].least(warm),
        "warm_end_ns": rows["end_ns"].most(warm),
        "warm_bytes_up": rows["bytes_up"].total(warm & ok),
        "warm_bytes_down": rows["bytes_down"].total(warm & ok),
        "cold_shortest_ns": durations.least(ok & cold),
        "warm_busy_ns": durations.total(warm),
        "ttfb_min_ns": to_first_byte.least(warm & ok),
    }


def _sizes(rows: Rows, ok: Mask) -> _Fields:
    up, down = rows["bytes_up"], rows["bytes_down"]
    return {
        "bytes_up_min": up.least(ok),
        "bytes_up_max": up.most(ok),
        "bytes_down_min": down.least(ok),
        "bytes_down_max": down.most(ok),
    }


def _quickest(rows: Rows, durations: Numbers, moving: Mask, sizes: _Fields) -> _Fields:
    """Return the time and the bytes of the request with the most bytes per second among the rows in `moving`, in each
    direction. If all bodies have one size, this is the shortest request."""
    fields: _Fields = {}
    for way in ("up", "down"):
        size = rows[f"bytes_{way}"]
        times, bodies = durations.of(moving & size.valid), size.of(moving & durations.valid)
        alike = sizes[f"bytes_{way}_min"] == sizes[f"bytes_{way}_max"]
        best = (int(times.argmin() if alike else (bodies / times).argmax())) if len(times) else None
        fields[f"quickest_{way}_ns"] = None if best is None else int(times[best])
        fields[f"quickest_{way}_bytes"] = None if best is None else int(bodies[best])
    return fields


def _bodies(rows: Rows, ok: Mask, sizes: _Fields, resources: int) -> list[Bodies]:
    if resources == 1:
        return [_of_resource(0, sizes)]
    resource = rows["resource"]
    numbers: list[int] = np.unique(resource.of(ok)).tolist()
    return [_of_resource(number, _sizes(rows, ok & resource.valid & (resource.values == number))) for number in numbers]


def _of_resource(resource: int, sizes: _Fields) -> Bodies:
    up, down = ((sizes[f"bytes_{way}_min"], sizes[f"bytes_{way}_max"]) for way in ("up", "down"))
    return Bodies(resource, up, down)


def _visits(rows: Rows, parts: _PhaseMasks, work: WorkloadKind) -> _Fields:
    visits = Visits.of(rows, parts.ok, work)
    if visits is None:
        return {"visits": [], "visits_ns": {}, "stages_ns": {}}
    return {
        "visits": visits.each(),
        "visits_ns": {until: median_of(times.ns, times.failed) for until, times in visits.until().items()},
        "stages_ns": {
            stage: median_of(times.ns, times.failed) for stage, times in visits.stage_times().items() if times
        },
    }


def quantiles(
    values: NDArray[np.int64] | NDArray[np.float64], infinite: int, shares: Sequence[float]
) -> list[float] | None:
    """Return the quantiles `shares` of a set that consists of `values` and a number (`infinite`) of infinite values.
    Uses the method of Hyndman and Fan 1996, type 7. None if the set is empty."""
    count = len(values) + infinite
    if not count:
        return None
    ordered = np.sort(values)

    def ranked(rank: int) -> float:
        return float(ordered[rank]) if rank < len(ordered) else math.inf

    results = []
    for share in shares:
        place = (count - 1) * share
        low, high, part = ranked(math.floor(place)), ranked(math.ceil(place)), place - math.floor(place)
        results.append(low if low == high else low * (1 - part) + high * part)
    return results


def median_of(values: NDArray[np.int64] | NDArray[np.float64], infinite: int) -> float | None:
    medians = quantiles(values, infinite, [0.5])
    return medians[0] if medians else None


def _count(where: Mask) -> int:
    return int(np.count_nonzero(where))
