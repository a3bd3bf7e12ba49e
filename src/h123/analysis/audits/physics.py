"""Audits rates by physics. No transfer can be faster than its link."""

import math

from h123.analysis.audits.finding import ALL, Audit, Finding, at_most
from h123.analysis.audits.path import capacity_bits, direction, round_trip_floor_ns
from h123.base.units import figures, format_bytes, format_seconds
from h123.measures import Attempt

RATE_TOLERANCE = 1.02
TIME_TOLERANCE = 0.98


def goodput_above_link(attempt: Attempt) -> Finding | None:
    """Check that body bits are at most 1.02 times what the link carries (rate x time), in the busier direction.

    The time runs from the start of the first warm request to the end of the last one.
    """
    s = attempt.summary
    if s.warm_start_ns is None or s.warm_end_ns is None or s.warm_end_ns <= s.warm_start_ns:
        return None
    return _share(attempt, (s.warm_end_ns - s.warm_start_ns) * 1e-9, RATE_TOLERANCE, "bodies took")


def users_above_link(attempt: Attempt) -> Finding | None:
    """Check that body bits x users <= 1.02 x 2 users / (users + 1) x rate x the sum of the requests' times.

    This audit is for samples without start times. Each user of a closed loop has one request in flight until the user's
    last request has ended. In the most unequal case the link serves one user after the other: all users wait for the
    first one's request, all but one for the second, and so on. Then their times add up to (users + 1) / 2 times the run
    (Smith's rule, shortest first).
    """
    s, users = attempt.summary, attempt.parameters["users"]
    if s.warm_start_ns is not None or attempt.parameters["rate"] or not users or not s.warm_busy_ns:
        return None
    limit = RATE_TOLERANCE * 2 * users / (users + 1)
    return _share(attempt, s.warm_busy_ns / users * 1e-9, limit, f"{users} users at once would take")


def _share(attempt: Attempt, seconds: float, limit: float, detail: str) -> Finding | None:
    """Check that the body bits of all warm requests are at most `limit` times what the link carries in `seconds`, in
    the busier direction."""
    s, shares = attempt.summary, {}
    moved = {"up": s.warm_bytes_up, "down": s.warm_bytes_down}
    moved |= {name: size * s.warm_ok for name, size in _declared(attempt).items()}
    for name, size in moved.items():
        capacity = capacity_bits(direction(attempt.link, name), seconds)
        if capacity and size is not None:
            shares[name] = 8 * size / capacity
    if not shares:
        return None
    name = max(shares, key=lambda key: shares[key])
    return at_most(shares[name], limit, f"{detail} {shares[name]:.1%} of what the link can carry {name}")


def _declared(attempt: Attempt) -> dict[str, int]:
    """Return the body bytes of a request by direction, as the study declares them, for samples without bytes. If the
    method is unknown, assume the direction in which the link carries more."""
    s, body_bytes = attempt.summary, attempt.workload.body_bytes()
    if body_bytes is None or s.bytes_up_max is not None or s.bytes_down_max is not None:
        return {}
    carried = {name: capacity_bits(direction(attempt.link, name), 1.0) for name in ("up", "down")}
    freest = max(carried, key=lambda name: carried[name] or math.inf)
    senders = {"client": "up", "server": "down"}
    return {next((senders[sender] for sender in attempt.workload.senders()), freest): body_bytes}


def request_above_link(attempt: Attempt) -> Finding | None:
    """Check for each request that its body bits are at most 1.02 times rate x the request's time, in either
    direction."""
    s, shares = attempt.summary, {}
    quickest = {"up": (s.quickest_up_bytes, s.quickest_up_ns), "down": (s.quickest_down_bytes, s.quickest_down_ns)}
    quickest |= {name: (size, s.shortest_ns) for name, size in _declared(attempt).items()}
    for name, (size, time_ns) in quickest.items():
        if size is None or time_ns is None:
            continue
        if capacity := capacity_bits(direction(attempt.link, name), time_ns * 1e-9):
            shares[name] = 8 * size / capacity
    if not shares:
        return None
    name = max(shares, key=lambda key: shares[key])
    size, time_ns = quickest[name]
    detail = f"{format_bytes(size or 0)} {name} in {format_seconds((time_ns or 0) * 1e-9)}"
    return at_most(shares[name], RATE_TOLERANCE, f"{detail}: {shares[name]:.1%} of what the link can carry")


def requests_above_littles_law(attempt: Attempt) -> Finding | None:
    """Check that requests per second are at most requests in flight / shortest round trip (Little, Oper. Res. 9, 1961).

    The number in flight is at most the number of users (closed loop), or the measured mean (open loop): the sum of the
    warm requests' times divided by the time from the first one's start to the last one's end.
    """
    s, floor = attempt.summary, round_trip_floor_ns(attempt.link)
    if not floor or s.warm_start_ns is None or s.warm_end_ns is None or s.warm_end_ns <= s.warm_start_ns:
        return None
    span = s.warm_end_ns - s.warm_start_ns
    most = attempt.workload.most_in_flight()
    if not attempt.parameters["rate"] and most is None:
        return None
    flying = (s.warm_busy_ns or 0) / span if most is None else most
    rate, limit = s.warm_ok / span * 1e9, flying / (floor * TIME_TOLERANCE) * 1e9
    detail = (
        f"{rate:.1f} requests/s with {figures(flying)} in flight over a round trip of {format_seconds(floor * 1e-9)}"
    )
    return at_most(rate, limit, detail)


AUDITS = [
    Audit(
        "goodput-above-link",
        "No more bytes arrive than the link's rate allows.",
        "more bytes arrived than the link's rate allows: the link had no effect, or bytes or times are wrong. Do not "
        "use these trials; `h123 verify` tests client and server.",
        goodput_above_link,
        spoils=ALL,
    ),
    Audit(
        "users-above-link",
        "All users together move no more data than the link's rate allows. This is checked if only durations are "
        "known.",
        "this many simultaneous users, with requests as short as these, would move more data than the link can carry: "
        "the link had no effect, or users, sizes or times are wrong. Do not use these trials. Start times would allow "
        "an exact check.",
        users_above_link,
        spoils=ALL,
    ),
    Audit(
        "request-above-link",
        "No single request moves its body faster than the link's rate allows.",
        "a request moved its body faster than the link's rate allows: it did not cross the link, or its times are "
        "wrong. Do not use these trials; `h123 verify` tests the client.",
        request_above_link,
        spoils=ALL,
    ),
    Audit(
        "requests-above-littles-law",
        "No more requests per second are answered than the number in flight and the round trip allow (Little's law).",
        "more requests per second were answered than the number in flight and the round trip allow: some did not "
        "cross the link, for example because of a cache. Do not use these trials.",
        requests_above_littles_law,
        spoils=ALL,
    ),
]
