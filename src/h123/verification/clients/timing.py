"""Checks whether the times that a client wrote can be true: their order, and what the trial's link allows.

Every function returns faults in words. Single requests may be late, because virtual machines compile while they run and
processors have other work. Times that a client invents instead of measuring are wrong in every request.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import mean, stdev
from typing import Literal, get_args

from h123.catalogue import Client
from h123.store import Sample
from h123.study import handshake_round_trips
from h123.study.workload import Arrivals
from h123.verification.client_cases import ClientCase
from h123.verification.client_networks import DISTANT, FAR
from h123.verification.trial import SEED, Window

Time = Literal["start_ns", "connected_ns", "sent_ns", "first_byte_ns", "end_ns"]
TIMES: tuple[Time, ...] = get_args(Time)
SPAN_LIMITS = (0.4, 1.8)
"""The allowed range for the span of a Poisson process's first 40 arrivals, relative to its expected value. It is wider
than three standard deviations, but below the 2.3 that 4 users need if they wait for responses."""
LEAST_VARIATION = 0.4
"""The smallest allowed coefficient of variation of the gaps between arrivals. It is about 1 for a Poisson process, and
0 for evenly spaced arrivals."""
MOST_TRIPS = 2.5
"""The number of round trips within which a request of an open loop must end. If 4 users waited for responses, the last
requests would take 6."""
MOST_LATE = 0.1
"""The share of an open loop's requests that may take longer than MOST_TRIPS."""
SLOWEST = 3
"""The fastest request may take at most this many times as long as the link needs."""
_MEASURED = 0.99
"""The share of a physical minimum that a measured time must reach. It is less than 1, because clocks are not
perfect."""


def times(rows: Sequence[Sample], window: Window) -> Iterator[str]:
    """Yield the faults in a trial's times that are visible over any link."""
    yield from dict.fromkeys(fault for row in rows if (fault := _order(row)))
    moments = [at for row in rows for name in TIMES if (at := row[name]) is not None]
    if moments and not window[0] <= min(moments) <= max(moments) <= window[1]:
        yield "times are outside the trial: not from this machine's monotonic clock, in ns"
    if any(row["connected_ns"] is not None for row in rows if row["phase"] != "cold"):
        yield "connected_ns in a row that is not cold"


def _order(row: Sample) -> str | None:
    between: list[tuple[Time, ...]] = [("sent_ns",), ("first_byte_ns",)]
    if row["bytes_up"] == 0:  # the response to an upload may begin before it has been written
        between.append(("sent_ns", "first_byte_ns"))
    for names in between:
        in_order: list[Time] = ["start_ns", "connected_ns", *names, "end_ns"]
        moments = [(name, at) for name in in_order if (at := row[name]) is not None]
        for (earlier, earlier_ns), (later, later_ns) in pairwise(moments):
            if earlier_ns > later_ns:
                return f"{later} is before {earlier}"
    return None


def times_over_the_link(case: ClientCase, client: Client, rows: Sequence[Sample]) -> Iterator[str]:
    """Yield the faults in times over links whose delay and rate reveal times that were not measured."""
    if case.network is FAR:
        handshake = _handshake_ns(case, false_start=client.false_start)
        yield from dict.fromkeys(
            fault for row in rows if (fault := _unmeasured(case, row) or _not_connected(case, row, handshake))
        )
        yield from _too_slow(case, rows)
        if client.false_start:
            yield from _false_start(case, rows)
    if case.parameters.arrivals:
        yield from _due_faults(case, case.parameters.arrivals, rows)
    if case.network is DISTANT:
        warm = [row for row in rows if row["phase"] == "warm"]
        yield from _poisson(case, warm)
        yield from _waiting(case, warm)


def _unmeasured(case: ClientCase, row: Sample) -> str | None:
    """Return a fault if a request's body or first byte came earlier than the link allows, or if a warm request's first
    byte came as late as if it were the last one."""
    trip, whole = case.network.round_trip_ns, _whole_ns(case)
    duration = row["end_ns"] - row["start_ns"]
    if duration < _MEASURED * whole:
        return f"{case.parameters.size} bytes arrived after {in_seconds(duration)}; the link needs {in_seconds(whole)}"
    if row["first_byte_ns"] is None:
        return None
    first_byte = row["first_byte_ns"] - row["start_ns"]
    if first_byte < _MEASURED * trip:
        return f"the first byte came after {in_seconds(first_byte)}; a round trip takes {in_seconds(trip)}"
    if row["phase"] == "warm" and first_byte > duration / 2:
        return f"the first byte came after {in_seconds(first_byte)} of {in_seconds(duration)}, as if it were the last"
    return None


def _handshake_ns(case: ClientCase, *, false_start: bool) -> int:
    p = case.parameters
    trips = handshake_round_trips(p.protocol, tls=p.tls, opening=p.workload.opening, false_start=false_start)
    return trips * case.network.round_trip_ns


def _not_connected(case: ClientCase, row: Sample, handshake: int) -> str | None:
    """Return a fault if a connection was ready earlier than its handshake allows, or so late that the response followed
    faster than the link allows."""
    if row["connected_ns"] is None:
        return None
    connected = row["connected_ns"] - row["start_ns"]
    if connected < _MEASURED * handshake:
        return f"connected after {in_seconds(connected)}; a handshake takes {in_seconds(handshake)}"
    first = row["first_byte_ns"]
    answered = (row["end_ns"] if first is None else first) - row["connected_ns"]
    needed = _whole_ns(case) if first is None else case.network.round_trip_ns
    if answered < _MEASURED * needed:
        what = "the last byte" if first is None else "the first byte"
        return f"{what} came {in_seconds(answered)} after the connection was ready; the link needs {in_seconds(needed)}"
    return None


def _false_start(case: ClientCase, rows: Sequence[Sample]) -> Iterator[str]:
    """Check that a declared False Start saves a round trip of TLS 1.2."""
    waiting, opened = _handshake_ns(case, false_start=False), [row for row in rows if row["connected_ns"] is not None]
    if not opened or waiting == _handshake_ns(case, false_start=True):
        return
    quickest = min((row["connected_ns"] or 0) - row["start_ns"] for row in opened)
    if quickest >= _MEASURED * waiting:
        yield f"connected after {in_seconds(quickest)}, as without the false_start that it declares"


def _too_slow(case: ClientCase, rows: Sequence[Sample]) -> Iterator[str]:
    quickest = min((row["end_ns"] - row["start_ns"] for row in rows), default=0)
    if quickest > SLOWEST * _whole_ns(case):
        yield f"no request took less than {in_seconds(quickest)}; the link needs {in_seconds(_whole_ns(case))}"


def _whole_ns(case: ClientCase) -> float:
    """Return the time in ns that the link needs from a request on a ready connection to its response's last byte."""
    network = case.network
    assert network.down is not None
    assert network.down.rate is not None
    return network.round_trip_ns + case.parameters.size * 8e9 / network.down.rate.mean_bps


def _poisson(case: ClientCase, rows: Sequence[Sample]) -> Iterator[str]:
    """Check that the requests of an open loop form a Poisson process."""
    rate = case.parameters.rate
    assert rate is not None
    starts = sorted(row["start_ns"] for row in rows)
    gaps = [later - earlier for earlier, later in pairwise(starts)]
    if len(gaps) < 2:
        return
    expected = len(gaps) / rate * 1e9
    span = starts[-1] - starts[0]
    if not SPAN_LIMITS[0] * expected <= span <= SPAN_LIMITS[1] * expected:
        wanted = f"at {rate:g} a second it is {in_seconds(expected)}"
        yield f"{len(starts)} requests started within {in_seconds(span)}; {wanted}"
    elif stdev(gaps) < LEAST_VARIATION * mean(gaps):
        yield "the gaps between requests are all alike, not exponential"


def _due_faults(case: ClientCase, arrivals: Arrivals, rows: Sequence[Sample]) -> Iterator[str]:
    """Check that requests start exactly when they were due, and use the connections that they were assigned to."""
    users = [row for row in rows if row["phase"] != "cold"]
    if arrivals.per == "all":
        due_ns = arrivals.due(SEED, len(users))
    else:
        dealt = arrivals.dealt(SEED, len(users), case.connections())
        due_ns = [at for at, _ in dealt]
        yield from _as_dealt(dealt, users)
    starts = sorted(row["start_ns"] for row in users)
    wrong = [n for n in range(len(users)) if starts[n] - starts[0] != due_ns[n] - due_ns[0]]
    if wrong:
        n, due = wrong[0], due_ns[wrong[0]] - due_ns[0]
        counted = in_seconds(starts[n] - starts[0])
        yield f"request {n} counts from {counted} after the first, and was due {in_seconds(due)} after it"


def _as_dealt(dealt: Sequence[tuple[int, int]], rows: Sequence[Sample]) -> Iterator[str]:
    """Check that requests use the connections that they were assigned to. The connections' numbers match, because cold
    requests have opened the connections in order."""
    rows_by_start = sorted((row["start_ns"], -1 if row["connection"] is None else row["connection"]) for row in rows)
    wrong = [
        (is_on, planned) for (_, is_on), (_, planned) in zip(rows_by_start, dealt, strict=True) if is_on != planned
    ]
    if wrong:
        on, planned = wrong[0]
        yield f"{len(wrong)} requests are on a wrong connection, the first on {on} instead of {planned}"


def _waiting(case: ClientCase, rows: Sequence[Sample]) -> Iterator[str]:
    """Check that an open loop does not wait for responses: nearly all requests must end within a few round trips after
    they were due, plus a handshake if cold requests have not opened the connections. `start_ns` alone only shows when a
    request was due."""
    p = case.parameters
    trips = MOST_TRIPS + (0 if p.cold else handshake_round_trips(p.protocol, tls=p.tls))
    limit = trips * case.network.round_trip_ns
    late = sum(row["end_ns"] - row["start_ns"] > limit for row in rows)
    if late > MOST_LATE * len(rows):
        yield f"{late} of {len(rows)} requests ended more than {in_seconds(limit)} after they were due: they waited"


def in_seconds(ns: float) -> str:
    return f"{ns / 1e9:.3f} s"
