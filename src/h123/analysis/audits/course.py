"""Audits how an attempt ran: whether the load continued throughout the run, and whether each request has exactly one
row."""

import math

from h123.analysis.audits.finding import ALL, Audit, Finding, at_most
from h123.base.units import format_seconds
from h123.measures import Attempt

INSTANT_SHARE = 0.01
REPEATED_SHARE = 0.01
"""The tolerated share of rows that have the same times as another row. Some requests really do begin and end
together."""
SHORTEST_STILL_NS = 2_000_000_000
"""The shortest pause in ns that can count as a stall. Retransmitting a packet that was lost twice takes less time."""
STILL = 10
"""The multiple of the usual time up to which a pause does not count as a stall (see `loop_still`)."""
STILL_SHARE = 0.01
"""The share of the run that a stall must cover to affect a 99th percentile."""
CHANCE = 1e-6
"""The probability that requests with random starts leave a longer gap than `loop_still` accepts."""
RUN_TOLERANCE = 1.02


def times_zero(attempt: Attempt) -> Finding | None:
    """Check that at most 1 % of answered requests took no time at all."""
    s = attempt.summary
    answered = s.rows - s.errors - s.refused - s.abandoned
    if not answered:
        return None
    share = s.instant / answered
    return at_most(share, INSTANT_SHARE, f"{s.instant} of {answered} requests took no time at all")


def times_beyond_run(attempt: Attempt) -> Finding | None:
    """Check that the time from the start of the first warm request to the end of the last one is at most 1.02 times the
    duration of the client's run."""
    s, ran = attempt.summary, attempt.report.phases_ns.get("main")
    if not ran or s.warm_start_ns is None or s.warm_end_ns is None:
        return None
    span = s.warm_end_ns - s.warm_start_ns
    detail = f"requests over {format_seconds(span * 1e-9)}, the client ran for {format_seconds(ran * 1e-9)}"
    return at_most(span / ran, RUN_TOLERANCE, detail)


def rows_repeated(attempt: Attempt) -> Finding | None:
    """Check that at most 1 % of rows repeat another request's times."""
    repeats, rows = attempt.timeline.repeats, attempt.summary.warm
    if repeats is None or not rows:
        return None
    return at_most(repeats / rows, REPEATED_SHARE, f"{repeats} of {rows} rows repeat another request's times")


def users_exceeded(attempt: Attempt) -> Finding | None:
    """Check that no more requests are in progress at once than the users of a closed loop can have."""
    flying, users, most = attempt.timeline.in_flight, attempt.parameters["users"], attempt.workload.most_in_flight()
    if flying is None or not most:
        return None
    return at_most(flying, most, f"{flying} requests in flight at once by {users} users")


def loop_still(attempt: Attempt) -> Finding | None:
    """Check that the load never paused for long.

    In a closed loop, the longest time in which no request ends must be at most 2 s, 1 % of the run, or 10 times the
    usual time, whichever is longest. The usual time is the median time of a request or the median time between the ends
    of two requests, whichever is longer, plus the longest think time. In an open loop, no gap between starts may be so
    long that chance would produce it only once in a million runs.
    """
    s, course, rate = attempt.summary, attempt.timeline, attempt.parameters["rate"]
    if s.warm_start_ns is None or s.warm_end_ns is None:
        return None
    if rate:
        if course.gap_ns is None:
            return None
        most = math.log(max(s.warm, 2) / CHANCE) / rate
        return at_most(course.gap_ns * 1e-9, most, f"no request began for {format_seconds(course.gap_ns * 1e-9)}")
    if course.still_ns is None or s.latency_ns is None or not math.isfinite(s.latency_ns[0]):
        return None
    usual = max(s.latency_ns[0], course.pace_ns or 0.0) + attempt.workload.longest_pause_ns()
    most = max(SHORTEST_STILL_NS, STILL * usual, STILL_SHARE * (s.warm_end_ns - s.warm_start_ns)) * 1e-9
    still = course.still_ns * 1e-9
    return at_most(still, most, f"no request ended for {format_seconds(still)} (usual: {format_seconds(usual * 1e-9)})")


AUDITS = [
    Audit(
        "times-zero",
        "Requests take time: at most one in a hundred takes none at all.",
        "requests took no time at all: the tool's clock is too coarse for them, or they were never sent. Their times "
        "mean nothing. Use a tool that records finer times.",
        times_zero,
        spoils=ALL,
    ),
    Audit(
        "times-beyond-run",
        "The requests' times lie within the time that the client ran.",
        "requests cover a longer time than the client ran: their times are in a different unit, or invented. Do not "
        "use these trials; `h123 verify` tests the client.",
        times_beyond_run,
        spoils=ALL,
    ),
    Audit(
        "rows-repeated",
        "Each row is a separate request.",
        "rows occur more than once: a file was assembled incorrectly, so requests count twice. Do not use these "
        "trials; make the file again.",
        rows_repeated,
        spoils=ALL,
    ),
    Audit(
        "users-exceeded",
        "No more requests are in flight at once than there are users (closed loop).",
        "more requests were in flight at once than there are users: the load was not the requested one, or times "
        "are wrong or in a different unit. Do not compare these trials; if `users` is wrong in the schema, correct it.",
        users_exceeded,
        spoils=ALL,
    ),
    Audit(
        "loop-still",
        "The load never paused: no requests were omitted while the server, the link or the client stalled.",
        "everything stalled for a while. Requests that were due in that time were never sent, so medians and "
        "percentiles barely show the pause (coordinated omission). Find the cause, and measure with `rate` and a "
        "client that measures each request from when it was due.",
        loop_still,
    ),
]
