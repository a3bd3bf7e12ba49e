"""Audits times by physics. No response can arrive earlier than the link's round trips allow."""

from collections import Counter

from h123.analysis.audits.finding import ALL, COLD, UNENCRYPTED, Audit, Finding, at_least, none_of
from h123.analysis.audits.path import round_trip_floor_ns
from h123.base.transport import INITIAL_WINDOW, TCP_PAYLOAD, TCP_PAYLOAD_IPV6
from h123.base.units import format_seconds
from h123.catalogue import FULL, QUIC
from h123.measures import Attempt, Opening
from h123.study import handshake_round_trips, slow_start_round_trips

TOLERANCE = 0.98
_MORE_BYTES = 5_000
"""The most bytes of a server's first flight over TCP apart from the certificates: 1500 of other TLS messages, and room
in packets that are not full, which end a write."""
WAITED = "the server sent nothing of the response in the round trip of the request"


def handshake_below_round_trips(attempt: Attempt) -> Finding | None:
    """Check that the shortest handshake takes at least the protocol's round trips on the link, less 2 %."""
    trips = _handshake(attempt)
    return _round_trips_finding(attempt, attempt.summary.handshake_min_ns, trips, "handshake") if trips else None


def cold_below_round_trips(attempt: Attempt) -> Finding | None:
    """Check that the shortest cold request takes at least the handshake's round trips and one more, less 2 %. Expects
    only one round trip if the handshake carries early data, or may have done so (in an imported trial with resumed
    sessions)."""
    shortest, trips = attempt.summary.cold_shortest_ns, _handshake(attempt)
    if trips is None:
        return None
    if attempt.imported and any(kind.resumed for kind in attempt.tls):
        trips = 0  # the handshake may have carried early data
    return _round_trips_finding(attempt, shortest, trips + 1, "cold request")


def round_trips_odd(attempt: Attempt) -> Finding | None:
    """Check that every connection needed exactly its protocol's round trips before its first response, including the
    request's own.

    More are required if the certificates are longer than TCP's initial window. More are allowed for a known reason:
    lost packets, a Retry, QUIC's anti-amplification limit, refused early data, or a server that waited (for its
    certificate or with its response) or could not send enough at once. Round trips without a known reason fail only
    under the virtual clock, because under the wall clock other round trips happen while a server works. There is
    nothing to check for uploads, because the response follows the body.
    """
    handshake, extra = _handshake(attempt), beyond(attempt)
    if handshake is None or not extra:
        return None
    counts, expected, required = Counter(extra), handshake + 1, _certificate_round_trips(attempt)
    sentences = [
        f"{count} took {expected + more}" + (f" ({why})" * bool(why)) for (more, why), count in sorted(counts.items())
    ]
    least = required[0]
    odd = sum(
        count for (more, why), count in counts.items() if more < least or (more > 0 and not why and attempt.virtual)
    )
    due = " or ".join(str(expected + more) for more in required)
    return none_of(odd, f"of {len(attempt.openings)} connections {', '.join(sentences)}; {due} expected")


def beyond(attempt: Attempt) -> list[tuple[int, str]]:
    """Return, for each connection, the number of round trips before its first response that the protocol does not need,
    and their reason if known. Empty for uploads, because the response follows the body."""
    handshake, uploads = _handshake(attempt), attempt.workload.exchanges()[0].moved("up") > 0
    if handshake is None or uploads:
        return []
    refused = attempt.workload.early and any(not kind.early for kind in attempt.tls)
    required, p = _certificate_round_trips(attempt), attempt.parameters
    # Before the wait has passed, only a server that acknowledges at once answers a client's further packets.
    waited = p.get("certificate_wait") is not None and p["instant_ack"]
    return [
        (opening.round_trips - handshake - 1, _reason(opening, handshake + 1, required, refused=refused, waited=waited))
        for opening in attempt.openings
    ]


def _certificate_round_trips(attempt: Attempt) -> range:
    """Return how many more round trips a full handshake over TCP may take because the certificates are longer than the
    initial window. There are two numbers if the server's other messages decide."""
    p = attempt.parameters
    size = p.get("certificate")
    if size is None or p["protocol"] == QUIC or attempt.workload.sessions != FULL:
        return range(1)
    payload = p.get("max_datagram") or (TCP_PAYLOAD if p.get("address") == "ipv4" else TCP_PAYLOAD_IPV6)
    window = p.get("initial_window") or INITIAL_WINDOW
    least, most = (slow_start_round_trips(-(-flight // payload), window) for flight in (size, size + _MORE_BYTES))
    return range(least, most + 1)


def _reason(opening: Opening, expected: int, required: range, *, refused: bool, waited: bool) -> str:
    """Return the reason for the additional round trips, or an empty string if it is unknown. `required` are the numbers
    of additional round trips that the certificates may take."""
    sent_in = opening.request_round_trips or 0
    logged = expected <= sent_in  # otherwise its time is not the time of sending
    later = logged and sent_in - expected in required and sent_in < opening.round_trips
    waits = (sent_in if logged else opening.round_trips) - expected
    reasons = {
        "TCP's initial window: the certificates are longer than the server may send at once": waits > 0
        and waits in required,
        "the response had begun, and its first TLS record did not fit what the server sends at once": later
        and opening.early_part,
        WAITED: later and not opening.early_part,
        "packets were lost": opening.losses,
        "a Retry": opening.retried,
        "QUIC's anti-amplification limit: the certificates are longer than three times what had come": opening.limited,
        "early data was refused": refused,
        "the client sent more packets while the server waited for its certificate": waited,
    }
    return " and ".join(why for why, there in reasons.items() if there) if opening.round_trips > expected else ""


def request_below_round_trip(attempt: Attempt) -> Finding | None:
    """Check that the shortest request, cold or warm, takes at least one round trip on the link, less 2 %, even with
    0-RTT."""
    return _round_trips_finding(attempt, 0 if attempt.summary.instant else attempt.summary.shortest_ns, 1, "request")


def first_byte_below_round_trip(attempt: Attempt) -> Finding | None:
    """Check that the shortest time to first byte of a warm request is at least one round trip on the link, less 2 %."""
    return _round_trips_finding(attempt, attempt.summary.ttfb_min_ns, 1, "time to first byte")


def _round_trips_finding(attempt: Attempt, shortest: int | None, trips: int, what: str) -> Finding | None:
    floor = round_trip_floor_ns(attempt.link)
    if shortest is None or not floor:
        return None
    detail = f"shortest {what} {format_seconds(shortest * 1e-9)}, {trips} round {'trip' if trips == 1 else 'trips'} of "
    return at_least(shortest * 1e-9, trips * floor * TOLERANCE * 1e-9, detail + format_seconds(floor * 1e-9))


def _handshake(attempt: Attempt) -> int | None:
    """Return the number of round trips before the first request. If it is unknown whether an imported trial used TLS,
    assume that it did not."""
    protocol, versions = attempt.parameters["protocol"], attempt.tls_versions
    if protocol is None:
        return None
    tls: str | None = attempt.required_tls
    if attempt.imported and (not versions or UNENCRYPTED in versions):
        tls = None
    return handshake_round_trips(
        protocol,
        tls=tls,
        opening=attempt.workload.opening,
        false_start=attempt.false_start,
    )


AUDITS = [
    Audit(
        "handshake-below-round-trips",
        "A handshake takes at least the protocol's round trips: two over TCP with TLS 1.3, three with TLS 1.2 (two "
        "for clients that declare False Start), one less with TCP Fast Open, one over QUIC, and with early data none "
        "that a request waits for.",
        "a handshake took less time than the protocol's round trips: the connection was resumed, was not new, or did "
        "not cross the link. Cold times and handshakes of these trials are mislabelled.",
        handshake_below_round_trips,
        spoils=COLD,
    ),
    Audit(
        "cold-below-round-trips",
        "A cold request takes at least its handshake's round trips and one more.",
        "a cold request was answered before its handshake and a round trip could have ended: the session was resumed "
        "(0-RTT needs an earlier connection), the connection was not new, or nothing crossed the link. Cold times of "
        "these trials are mislabelled; if sessions were resumed, declare it in the schema (`resumed`).",
        cold_below_round_trips,
        spoils=COLD,
    ),
    Audit(
        "round-trips-odd",
        "A connection's packets make as many round trips as its protocol and its certificates require, or more for a "
        "known reason: lost packets, a Retry, QUIC's anti-amplification limit (long certificates), refused early data, "
        "a server that waits for its certificate or responds later.",
        "connections took a different number of round trips than their protocol requires, and lost packets, a Retry, "
        "QUIC's anti-amplification limit or a server that waits or responds later do not explain this. Possible "
        "reasons that h123 does not check: a key exchange that the server does not accept (HelloRetryRequest), an "
        "older TLS version, or a client that does not record when it sent its request; `h123 show` draws the packets.",
        round_trips_odd,
    ),
    Audit(
        "request-below-round-trip",
        "No request ends before a round trip has passed, resumed or not.",
        "a request ended before a round trip had passed: it did not cross the link, or its times are wrong or in a "
        "different unit. Do not use these trials; `h123 verify` tests the client.",
        request_below_round_trip,
        spoils=ALL,
    ),
    Audit(
        "first-byte-below-round-trip",
        "No response begins before a round trip has passed.",
        "a response began before a round trip had passed: the client measures its times at the wrong point, or the "
        "response did not cross the link. Do not use these trials; `h123 verify` tests the client.",
        first_byte_below_round_trip,
        spoils=ALL,
    ),
]
