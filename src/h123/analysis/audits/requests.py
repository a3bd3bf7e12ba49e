"""Audits the requests. All must be present, and their responses must be as the study requires."""

from collections.abc import Iterator

from h123.analysis.audits.finding import ALL, COLD, Audit, Finding, at_least, none_of
from h123.catalogue import FULL, USUAL_SHARE
from h123.measures import Attempt, Bodies, events_of
from h123.study import METRICS
from h123.study.workload import LEAVING, Exchange

_TICK_NS = 1_000_000
_OPENED_FAST = "TcpExt.TCPFastOpenActive"


def times_disordered(attempt: Attempt) -> Finding | None:
    """Check the order of each row's times: start <= connected <= sent <= end and start <= first byte <= end."""
    return none_of(attempt.summary.disordered, f"{attempt.summary.disordered} of {attempt.summary.rows} rows")


def size_wrong(attempt: Attempt) -> Finding | None:
    """Check that the body of every successful request has the requested size: as received (GET) or sent (POST)."""
    exchanges = attempt.workload.exchanges()
    wrong = [
        finding
        for bodies in attempt.summary.bodies
        if bodies.resource < len(exchanges)
        for finding in _sizes(bodies, exchanges[bodies.resource])
    ]
    return min(wrong, key=lambda finding: finding.passed, default=None)


def _sizes(bodies: Bodies, exchange: Exchange) -> Iterator[Finding]:
    for (low, high), size in ((bodies.up, exchange.up), (bodies.down, exchange.down)):
        if low is not None and high is not None and size is not None:
            furthest = low if abs(low - size) > abs(high - size) else high
            yield Finding(low == high == size, furthest, size, f"bodies of {low} to {high} bytes, {size} requested")


def status_wrong(attempt: Attempt) -> Finding | None:
    """Check that every response has the requested status (200 unless the workload sets a different one)."""
    return none_of(attempt.summary.refused, f"{attempt.summary.refused} of {attempt.summary.rows} requests")


def requests_failed(attempt: Attempt) -> Finding | None:
    """Check that no request ended with an error. Failed requests count as slower than any successful one."""
    s = attempt.summary
    example = f", such as {s.first_error!r}" if s.first_error else ""
    return none_of(s.errors, f"{s.errors} of {s.rows} requests{example}")


def requests_miscounted(attempt: Attempt) -> Finding | None:
    """Check that each phase (warm, abandoned, warm-up and cold requests) has as many rows as the workload requires."""
    s, expected = attempt.summary, attempt.workload.rows()
    if expected is None:
        return None
    counts = {"warm": s.warm, LEAVING: s.leaving, "warmup": s.warmup, "cold": s.cold}
    detail = ", ".join(
        f"{counts[phase]} of {expected[phase]} {phase}" for phase in expected if expected[phase] or counts[phase]
    )
    return Finding(counts == expected, sum(counts.values()), sum(expected.values()), detail)


def protocol_wrong(attempt: Attempt) -> Finding | None:
    """Check that every request without an error used the requested protocol, or the one that the client may fall back
    to."""
    low, high = attempt.summary.protocol_min, attempt.summary.protocol_max
    if low is None or high is None:
        return None
    protocols = attempt.workload.protocols()
    detail = f"{' and '.join(dict.fromkeys([low, high]))}, {' or '.join(protocols)} requested"
    return Finding({low, high} <= {*protocols}, None, None, detail)


def tls_wrong(attempt: Attempt) -> Finding | None:
    """Check that every connection has the requested TLS version and, if the study asks for an unusual one, the
    requested key exchange, as the client recorded them. There is nothing to check if no request was answered, or if no
    cold request completed its handshake: then no version is recorded, and no time depends on the version."""
    s, versions = attempt.summary, [str(kind.version) for kind in attempt.tls]
    none_began = s.cold and not s.cold_ok and s.handshake_min_ns is None
    if attempt.imported or s.protocol_min is None or (none_began and not versions):
        return None
    detail = f"TLS {', '.join(dict.fromkeys(versions))}" if versions else "the client recorded no TLS version"
    right, share = set(versions) == {attempt.required_tls}, attempt.parameters.get("key_share", USUAL_SHARE)
    if share != USUAL_SHARE:
        shares = {kind.key_exchange for kind in attempt.tls}
        right, detail = right and shares == {share}, f"{detail} with {', '.join(map(str, shares))}"
    return Finding(bool(versions) and right, None, None, detail)


def sessions_wrong(attempt: Attempt) -> Finding | None:
    """Check the connections that the client reports. If the study asks for resumed sessions or early data, every
    connection must have used them; otherwise, no connection may have used them.

    The kernel handles TCP Fast Open: the client's host counts all connections that used it, except those whose first
    packet the link lost. If the study asks for full handshakes, only failures are reported: most clients do not report
    whether a session was resumed, so their silence proves nothing.
    """
    sessions, count = attempt.workload.sessions, {"resumed": 0, "early": 0}
    if attempt.imported or not attempt.tls:
        return None
    for kind in attempt.tls:
        count["resumed"] += kind.connections * kind.resumed
        count["early"] += kind.connections * kind.early
    every = sum(kind.connections for kind in attempt.tls)
    expected = {"resumed": every * (sessions != FULL), "early": every * (attempt.workload.early)}
    if sessions == FULL and count == expected:
        return None
    detail = f"of {every} connections {count['resumed']} resumed a session, {count['early']} had early data accepted"
    opened, least = _opened_fast(attempt), 0
    if attempt.workload.opening.tcp:
        least = every - sum(way.lost for link in attempt.report.links[:1] for way in link.counted().values())
        detail += f", {opened} had TCP Fast Open"
    return Finding(count == expected and opened >= least, None, None, f"{detail}; requested: {sessions}")


def _opened_fast(attempt: Attempt) -> int:
    """Return the number of connections in which the server's kernel accepted data in the first packet."""
    return sum(host.counters.grown(_OPENED_FAST) for host in attempt.report.hosts if host.name == "client")


def tls_impossible(attempt: Attempt) -> Finding | None:
    """Check that HTTP/3 always uses TLS 1.3, as QUIC requires (RFC 9001, section 4.2)."""
    versions = attempt.tls_versions
    if attempt.parameters["protocol"] != "h3" or not versions:
        return None
    return Finding(versions == {"1.3"}, None, None, f"HTTP/3 with TLS {' and '.join(sorted(versions))}")


def loaded_early(attempt: Attempt) -> Finding | None:
    """Check that no page fired DOMContentLoaded or load before its whole document had arrived, with a tolerance of a
    millisecond, because some browsers round."""
    events = [
        (event.visit.document_ns, at)
        for event in events_of(attempt.summary.visits, attempt.facts)
        for at in (event.dom_content_loaded, event.load)
        if at is not None
    ]
    ahead = [document - at for document, at in events if document is not None]
    if not ahead:
        return None
    early = sum(ns > _TICK_NS for ns in ahead)
    return none_of(early, f"{early} of {len(ahead)} page events came before the document's last byte")


def request_as_trial(attempt: Attempt) -> Finding | None:
    """Check that an imported trial has more than one request, unless the schema allows a single one. Does not apply to
    h123's own trials, because each has its own server and client."""
    if not attempt.imported or attempt.parameters["users"] == attempt.parameters["requests"] == 1:
        return None
    return at_least(attempt.summary.rows, 2, f"{attempt.summary.rows} requests")


AUDITS = [
    Audit(
        "times-disordered",
        "Each request's times are in order: for example, its first byte is not later than its last.",
        "the times of requests are out of order: the client's clock or its bookkeeping is wrong. Do not use these "
        "trials; `h123 verify` tests the client.",
        times_disordered,
        spoils=ALL,
    ),
    Audit(
        "loaded-early",
        "No page loads before its document has arrived.",
        "browsers reported that pages had loaded before their documents arrived: the two times come from different "
        "clocks, or from different visits. Do not use these times.",
        loaded_early,
        spoils=frozenset(name for name, metric in METRICS.items() if metric.needs.facts),
    ),
    Audit(
        "size-wrong",
        "Each body has the requested size.",
        "bodies did not have the requested size: they were cut or padded, so times and goodput are those of a "
        "different workload. Do not compare these trials.",
        size_wrong,
        spoils=ALL,
    ),
    Audit(
        "status-wrong",
        "Each response has the requested status: 200, unless the workload states a different one.",
        "responses did not have the requested status: errors were measured, which may be faster than real responses. "
        "Do not compare these trials; the server's log in their folders may show the reason.",
        status_wrong,
        spoils=ALL,
    ),
    Audit(
        "requests-failed",
        "No request ended with an error.",
        "requests ended with an error. They count as slower than all others, so the verdicts take them into account. "
        "If one level fails more often than the other, their times are not judged. The logs in the trials' folders "
        "may show the reason.",
        requests_failed,
    ),
    Audit(
        "requests-miscounted",
        "There are as many requests as the workload requires.",
        "the records have more or fewer requests than the workload requires: some were lost, or a different workload "
        "ran. Do not compare these trials; `h123 verify` tests the client.",
        requests_miscounted,
        spoils=ALL,
    ),
    Audit(
        "protocol-wrong",
        "The negotiated protocol is the requested one.",
        "the negotiated protocol was not the requested one, so something else was measured. Do not compare these "
        "trials.",
        protocol_wrong,
        spoils=ALL,
    ),
    Audit(
        "tls-wrong",
        "All connections use the TLS version that the study requires: 1.3, unless it states a different one.",
        "connections did not use the required TLS version, or the version is unknown: TLS 1.2 needs one more round "
        "trip than 1.3, so handshakes and cold times of these trials cannot be compared with others.",
        tls_wrong,
        spoils=COLD,
    ),
    Audit(
        "sessions-wrong",
        "Connections resumed sessions, and servers accepted early data, if the study requires it, and only then.",
        "handshakes differ from what the study requires: a server gave no session or refused early data, or a kernel "
        "lacks TCP Fast Open. So requests labelled resumed may have had a full handshake, and those labelled early or "
        "fast-open may have waited for it. Do not use cold times of these trials; `h123 verify` tests server and "
        "client, and the server may limit early data.",
        sessions_wrong,
        spoils=COLD,
    ),
    Audit(
        "tls-impossible",
        "HTTP/3 uses TLS 1.3, as far as the version is known.",
        "requests are labelled HTTP/3 with a TLS version other than 1.3, or without TLS, which is impossible: one of "
        "the two labels is wrong. Do not use these trials; take both labels from what the client negotiated.",
        tls_impossible,
        spoils=ALL,
    ),
    Audit(
        "request-as-trial",
        "An imported trial is a run of several requests.",
        "there is only one request, which may be a row of a longer run. Requests of one run depend on each other: if "
        "each counts as a trial, the analysis finds differences that do not exist. Use `block` and `run` in the "
        "schema to name whole runs that were made at different times. If each row is a separate transfer, made in "
        "turn, declare it with `rows: runs`.",
        request_as_trial,
        spoils=ALL,
        remedy="add `rows: runs` to the schema if each row is a separate transfer, made in turn",
    ),
]
