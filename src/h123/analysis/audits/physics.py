"""Audits against physics: nothing is quicker than its link."""

from h123.analysis.audits.finding import ALL, COLD, Audit, Finding, at_least, at_most
from h123.analysis.audits.path import capacity_bits, direction, round_trip_floor_ns
from h123.results import Attempt
from h123.units import format_bytes, format_seconds

RATE_TOLERANCE = 1.02
TIME_TOLERANCE = 0.98

ROUND_TRIPS = {"h1": 2, "h2": 2, "h3": 1}
"""Before the first request: TCP's and TLS 1.3's handshakes (RFC 9293, RFC 8446), or QUIC's, both in one (RFC 9000)."""


def goodput_above_link(attempt: Attempt) -> Finding | None:
    """Body bits / (rate x time), the higher of both directions, at most 1.02.

    Time is from the first warm request's start to the last one's end.
    """
    s = attempt.summary
    if s.warm_start_ns is None or s.warm_end_ns is None or s.warm_end_ns <= s.warm_start_ns:
        return None
    seconds = (s.warm_end_ns - s.warm_start_ns) * 1e-9
    shares = {}
    for name, size in (("up", s.warm_bytes_up), ("down", s.warm_bytes_down)):
        capacity = capacity_bits(direction(attempt.link, name), seconds)
        if capacity and size is not None:
            shares[name] = 8 * size / capacity
    if not shares:
        return None
    name = max(shares, key=lambda key: shares[key])
    return at_most(shares[name], RATE_TOLERANCE, f"bodies took {shares[name]:.1%} of what the link can carry {name}")


def request_above_link(attempt: Attempt) -> Finding | None:
    """Body bits of the request that moved most a second / (rate x its own time), either direction, at most 1.02."""
    s, shares = attempt.summary, {}
    quickest = {"up": (s.quickest_up_bytes, s.quickest_up_ns), "down": (s.quickest_down_bytes, s.quickest_down_ns)}
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
    """Requests a second <= requests in flight / shortest round trip (Little, Oper. Res. 9, 1961).

    In flight are at most as many as there are users (closed loop), or as many as were measured: the sum of the warm
    requests' times / the time of all (open loop).
    """
    s, floor = attempt.summary, round_trip_floor_ns(attempt.link)
    if not floor or s.warm_start_ns is None or s.warm_end_ns is None or s.warm_end_ns <= s.warm_start_ns:
        return None
    span = s.warm_end_ns - s.warm_start_ns
    if not attempt.parameters["rate"] and attempt.parameters["users"] is None:
        return None
    flying = (s.warm_busy_ns or 0) / span if attempt.parameters["rate"] else attempt.parameters["users"]
    rate, limit = s.warm_ok / span * 1e9, flying / (floor * TIME_TOLERANCE) * 1e9
    detail = f"{rate:.1f} requests/s with {flying:.3g} in flight over a round trip of {format_seconds(floor * 1e-9)}"
    return at_most(rate, limit, detail)


def handshake_below_round_trips(attempt: Attempt) -> Finding | None:
    """Shortest handshake >= round trips of the protocol x shortest round trip of the link, less 2 %."""
    shortest, trips = attempt.summary.handshake_min_ns, ROUND_TRIPS.get(attempt.parameters["protocol"])
    floor = round_trip_floor_ns(attempt.link)
    if shortest is None or trips is None or not floor:
        return None
    detail = f"shortest handshake {format_seconds(shortest * 1e-9)}, {trips} round trip(s) of "
    return at_least(shortest * 1e-9, trips * floor * TIME_TOLERANCE * 1e-9, detail + format_seconds(floor * 1e-9))


def first_byte_below_round_trip(attempt: Attempt) -> Finding | None:
    """Shortest time to first byte of a warm request >= shortest round trip of the link, less 2 %."""
    shortest, floor = attempt.summary.ttfb_min_ns, round_trip_floor_ns(attempt.link)
    if shortest is None or not floor:
        return None
    detail = f"shortest {format_seconds(shortest * 1e-9)}, round trip {format_seconds(floor * 1e-9)}"
    return at_least(shortest * 1e-9, floor * TIME_TOLERANCE * 1e-9, detail)


AUDITS = [
    Audit(
        "goodput-above-link",
        "No more bytes arrive than the link's rate lets through.",
        "more bytes arrived than the link's rate lets through: the link was not in force, or bytes or times are wrong. "
        "Do not use these trials; `h123 verify` tests client and server.",
        goodput_above_link,
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
        "No more requests a second than those under way and the round trip allow (Little's law).",
        "more requests a second were answered than those under way and the round trip allow: some did not cross the "
        "link, such as by a cache. Do not use these trials.",
        requests_above_littles_law,
        spoils=ALL,
    ),
    Audit(
        "handshake-below-round-trips",
        "A handshake takes the protocol's round trips: two over TCP with TLS 1.3, one over QUIC.",
        "a handshake took less than the protocol's round trips: the connection was resumed, was not new, or did not "
        "cross the link. Cold times and handshakes of these trials are not what they are called.",
        handshake_below_round_trips,
        spoils=COLD,
    ),
    Audit(
        "first-byte-below-round-trip",
        "No answer begins before a round trip is over.",
        "an answer began before a round trip was over: the client takes its times at the wrong place, or the answer "
        "did not cross the link. Do not use these trials; `h123 verify` tests the client.",
        first_byte_below_round_trip,
        spoils=ALL,
    ),
]
