"""Checks how a client has carried out a case: compares its samples and facts with the case, and with what the hosts,
the link and the server observed.

Every function returns faults in words. A field that a client leaves empty is unknown, not wrong, unless its manifest
says that it knows the value.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from h123.catalogue import FULL, Client
from h123.store import Sample
from h123.study.workload import ABANDONED, LEAVING, Retry
from h123.verification.client_cases import ClientCase
from h123.verification.clients.connection_checks import connections
from h123.verification.clients.timing import in_seconds, times, times_over_the_link
from h123.verification.clients.witness import Witness
from h123.verification.controller import behaviour
from h123.verification.trial import SEED

ALPN = {"h1": ("http/1.1", ""), "h2": ("h2",), "h3": ("h3",)}
"""The protocols' names in TLS. HTTP/1.1 needs no name."""
_CODED = 0.6
"""The smallest share of its size to which HPACK and QPACK can compress a string that they have not seen: the shortest
Huffman codes have 5 bits (RFC 7541, appendix B)."""
LATE_NS = 1_500_000_000
"""The largest delay, in ns, with which a client may notice a timeout."""
LAST_NS = 100_000_000
"""The time in ns before the end of a client's last request within which it may cancel a request by closing the
connection."""
LATE_TRY_NS = 300_000_000
"""The largest delay, in ns, with which a client may retry a request."""
TRY_SHARE = (0.1, 0.8)
"""The smallest and the largest share of a large response that may arrive for an abandoned attempt."""


def faults_of(case: ClientCase, client: Client, rows: Sequence[Sample], facts: Any, witness: Witness) -> list[str]:
    """Return the faults in the client's samples and facts."""
    faults = [*unanswered(case, rows), *times(rows, witness.window)]
    if case.expected == "answers":
        faults += [*_first_bytes(client, rows), *connections(case, rows), *_facts(case, rows, facts)]
        faults += _process(client, rows, facts, witness)
        faults += _delay(rows, facts)
        faults += [
            *_opened(case, client, rows, witness),
            *times_over_the_link(case, client, rows),
            *_in_turn(case, rows),
            *_paused(case, rows),
            *_apart(case, rows),
        ]
        faults += _sessions(case, facts, witness)
        faults += _abandoned(case, rows, witness)
        faults += _retried(case, rows, witness)
        if case.controller:
            faults += _controller(case, witness)
    return faults


def unanswered(case: ClientCase, rows: Sequence[Sample]) -> list[str]:
    """Return the faults in the outcomes of requests alone: their number, statuses, errors, bytes and protocols."""
    return [*_counts(case, rows), *_outcomes(case, rows)]


def _counts(case: ClientCase, rows: Sequence[Sample]) -> Iterator[str]:
    p = case.parameters
    expected = p.workload.rows() or {}
    counts = Counter(row["phase"] for row in rows)
    for phase, count in expected.items():
        if counts[phase] != count:
            yield f"{counts[phase]} rows of phase {phase} instead of {count}"
    if strangers := sorted({row["user"] for row in rows} - set(range(p.users))):
        yield f"user {strangers[0]}, of {p.users} users counted from 0"
    elif not p.workload.open_loop:
        each = Counter((_among(row), row["user"]) for row in rows if row["phase"] != "cold")
        if uneven := sorted({user for (_, user), n in each.items() if n != each[(_, 0)]}):
            yield f"user {uneven[0]} does not have as many rows as user 0"


def _among(row: Sample) -> str:
    """Return the phase of a user's request. For requests that the client must abandon, this is the warm phase."""
    return "warm" if row["phase"] == LEAVING else row["phase"]


def _in_turn(case: ClientCase, rows: Sequence[Sample]) -> Iterator[str]:
    """Check that each user makes the requests in order, and that cold requests are for the first resource."""
    work = case.parameters.workload
    of_user = defaultdict(list)
    # The requests that one resource of a page causes are due at the same moment.
    for row in sorted(rows, key=lambda row: (row["start_ns"], row["resource"] or 0)):
        if row["phase"] == "cold" and row["resource"]:
            yield "a cold request is not for the workload's first resource"
        elif row["phase"] != "cold":
            of_user[row["user"]].append(row["resource"] or 0)
    for user, asked_for in sorted(of_user.items()) if not work.open_loop else ():
        turns = [work.resource(user * work.each() + n, SEED) for n in range(len(asked_for))]
        if asked_for != turns:
            yield f"user {user} asked for resources {asked_for[:8]}, not {turns[:8]}"


def _paused(case: ClientCase, rows: Sequence[Sample]) -> Iterator[str]:
    """Check that the pause between a user's visits is long enough."""
    pause, starts, ends = case.parameters.pause, dict[tuple[int, int], int](), dict[tuple[int, int], int]()
    for row in rows if pause else ():
        visit = row["user"], row["group"] or 0
        starts[visit] = min(row["start_ns"], starts.get(visit, row["start_ns"]))
        ends[visit] = max(row["end_ns"], ends.get(visit, 0))
    for (user, n), start in sorted(starts.items()):
        if n and (rested := start - ends.get((user, n - 1), 0)) < pause:
            yield f"user {user} rested {in_seconds(rested)} instead of {in_seconds(pause)} before visit {n}"
            return


def _apart(case: ClientCase, rows: Sequence[Sample]) -> Iterator[str]:
    """Check that each connection carries requests to a single host."""
    work, of = case.parameters.workload, defaultdict[int, set[str | None]](set)
    for row in rows if work.hosts() else ():
        if row["connection"] is not None:
            of[row["connection"]].add(work.host(row["resource"] or 0))
    if joined := sorted(connection for connection, hosts in of.items() if len(hosts) > 1):
        yield f"connection {joined[0]} has requests of {len(of[joined[0]])} hosts"


def headers_sent(case: ClientCase, rows: Sequence[Sample], bytes_up: int | None) -> Iterator[str]:
    """Yield a fault if too few bytes crossed the link for the headers that change with each request, allowing for
    Huffman coding."""
    least = round(_CODED * case.parameters.workload.fresh_bytes() * len(rows))
    if least and bytes_up is not None and bytes_up < least:
        yield f"{bytes_up} bytes went up in {len(rows)} requests, whose headers alone need at least {least}"


def _outcomes(case: ClientCase, rows: Sequence[Sample]) -> Iterator[str]:
    checks: dict[str, Callable[[ClientCase, Sample], str | None]] = {
        "answers": _answered,
        "wrong bytes": _seen_through,
        "not found": _not_found,
        "refused": _refused,
        "timeout": _timed_out,
        "anything": lambda *_: None,
    }
    yield from _first_of_each(checks[case.expected](case, row) for row in rows)


def _answered(case: ClientCase, row: Sample) -> str | None:
    if row["phase"] == LEAVING:
        return _abandonment_fault(case, row)
    exchange = case.parameters.workload.exchanges()[row["resource"] or 0]
    if row["error"] or row["status"] != exchange.status:
        return f"a request ended with status {row['status']}, error {row['error']!r}"
    if row["protocol"] not in (carriers := case.carriers(row["resource"])):
        what = "of a document " * bool(case.document and not row["resource"])
        return f"protocol {row['protocol']!r} {what}instead of {' or '.join(map(repr, carriers))}"
    up, down = exchange.up or 0, exchange.down
    if down is None:  # an upload's response is its size as text; other responses may have any size
        down = len(str(up)) if up else row["bytes_down"]
    if (row["bytes_up"], row["bytes_down"]) != (up, down):
        return f"{row['bytes_up']} bytes up and {row['bytes_down']} down instead of {up} and {down}"
    return None


def _abandonment_fault(case: ClientCase, row: Sample) -> str | None:
    """Return a fault unless the request was abandoned in time, while its body was arriving."""
    assert case.parameters.abandon
    duration, allowed = row["end_ns"] - row["start_ns"], case.parameters.abandon.after
    if row["error"] != ABANDONED or row["bytes_down"] >= case.parameters.size:
        outcome = f"status {row['status']}, error {row['error']!r}, {row['bytes_down']} bytes down"
        return f"a request that should have been abandoned ended with {outcome}"
    if not 0.9 * allowed <= duration <= allowed + LATE_NS:
        return f"a request was abandoned after {in_seconds(duration)} instead of {in_seconds(allowed)}"
    return None


def _seen_through(case: ClientCase, row: Sample) -> str | None:
    """Return a fault unless the client noticed the wrong bytes of an otherwise complete response."""
    whole = case.parameters.size
    if (row["error"], row["status"], row["bytes_down"]) == ("wrong-bytes", 200, whole):
        return None
    outcome = f"status {row['status']}, error {row['error']!r}, {row['bytes_down']} bytes down"
    return f"{outcome} instead of status 200, error 'wrong-bytes', {whole} bytes"


def _not_found(_: ClientCase, row: Sample) -> str | None:
    return None if row["status"] == 404 else f"status {row['status']}, error {row['error']!r} instead of status 404"


def _refused(case: ClientCase, row: Sample) -> str | None:
    # To a client, a closed UDP port may look like silence.
    usual = {"refused", "timeout"} if case.parameters.protocol == "h3" else {"refused"}
    if row["error"] in usual and row["status"] == 0 and row["bytes_down"] == 0:
        return None
    return f"status {row['status']}, error {row['error']!r}, {row['bytes_down']} bytes down instead of error 'refused'"


def _timed_out(case: ClientCase, row: Sample) -> str | None:
    if row["error"] != "timeout":
        return f"status {row['status']}, error {row['error']!r} instead of error 'timeout'"
    duration, allowed = row["end_ns"] - row["start_ns"], case.parameters.timeout
    if not 0.9 * allowed <= duration <= allowed + LATE_NS:
        return f"a request with a timeout of {in_seconds(allowed)} ended after {in_seconds(duration)}"
    return None


def _first_bytes(client: Client, rows: Sequence[Sample]) -> Iterator[str]:
    whole = [row for row in rows if row["error"] != ABANDONED]
    count = sum(row["first_byte_ns"] is not None for row in whole)
    if client.ttfb and count < len(whole):
        yield f"first_byte_ns is declared (ttfb), but empty in {len(whole) - count} of {len(whole)} rows"
    if not client.ttfb and count:
        yield f"first_byte_ns is not declared (ttfb), but written in {count} of {len(whole)} rows"
    if any(row["connected_ns"] is None for row in rows if row["phase"] == "cold"):
        yield "connected_ns is empty in a cold row"


def _facts(case: ClientCase, rows: Sequence[Sample], facts: Any) -> Iterator[str]:
    if not isinstance(facts, dict) or facts.get("h123") != "client/1" or not isinstance(facts.get("tls"), list):
        yield "client.json is missing, or is not of the format client/1"
        return
    if not all(isinstance(tls, dict) and isinstance(tls.get("connections", 0), int) for tls in facts["tls"]):
        yield "client.json: each element of tls must be an object whose `connections` is a whole number"
        return
    resources = dict.fromkeys(row["resource"] for row in rows) or [None]
    names = [name for resource in resources for protocol in case.carriers(resource) for name in ALPN[protocol]]
    for tls in facts["tls"]:
        if tls.get("version") != case.parameters.tls:
            yield f"client.json: TLS version {tls.get('version')!r} instead of {case.parameters.tls!r}"
        if tls.get("alpn") not in (None, *names):
            yield f"client.json: ALPN {tls.get('alpn')!r} instead of {names[0]!r}"
    used = {row["connection"] for row in rows}
    count = sum(tls.get("connections", 0) for tls in facts["tls"])
    if facts["tls"] and None not in used and count < len(used):
        yield f"client.json has {count} TLS connections, the samples of {len(used)}"


def _delay(rows: Sequence[Sample], facts: Any) -> Iterator[str]:
    """Check that the client's own delays, as it reports them, are plausible: no longer than its longest request."""
    delays = facts.get("delay") if isinstance(facts, dict) else None
    took = [row["end_ns"] - row["start_ns"] for row in rows if row["phase"] == "warm"]
    if delays is None or not took:
        return
    for part, of in delays.items():
        if not 0 <= of["p50"] <= of["p99"] <= of["max"] <= max(took):
            yield f"client.json: {part} of the delay is {of}, and the longest request took {max(took)} ns"


def _process(client: Client, rows: Sequence[Sample], facts: Any, witness: Witness) -> Iterator[str]:
    """Check that the program started before all of its requests and ended after them, within the trial."""
    process = facts.get("process") if isinstance(facts, dict) else None
    if client.process != (process is not None):
        yield f"process is {'' if client.process else 'not '}declared, and client.json has {process}"
    elif process is not None:
        requests = [row["start_ns"] for row in rows] + [row["end_ns"] for row in rows]
        in_order = [
            witness.window[0],
            process["began_ns"],
            min(requests),
            max(requests),
            process["ended_ns"],
            witness.window[1],
        ]
        if in_order != sorted(in_order):
            yield f"client.json has a process that did not run around its requests: {process}"


def _opened(case: ClientCase, client: Client, rows: Sequence[Sample], witness: Witness) -> Iterator[str]:
    """Check that the server saw as many connections as requested, or more if the client declares that it reopens
    them."""
    p, most = case.parameters, case.connections()
    least = most if p.cold else min(most, p.users)
    if p.workload.open_loop:  # free connections are used first
        least = 1
    if p.workload.documents():  # a browser does so too; each visit uses at least one
        least = p.users * (p.requests + p.warmup if p.cold else 1)
    if p.protocol == "h1":  # wrk connects once before, to see whether a server listens
        most = max(most + 1, len(rows) if client.reopens else 0)
    most += p.workload.connections_again()
    uncounted = p.workload.connections_uncounted()
    least, most = least + uncounted, most + uncounted
    if witness.connections is None:
        if p.users > 1 and any(row["connection"] is None for row in rows):
            yield "nothing shows how many connections the client opened"
    elif not least <= witness.connections <= most:
        extra = " and one that earns a session" * uncounted
        yield f"{witness.connections} connections reached the server instead of {case.connections()}{extra}"


def _sessions(case: ClientCase, facts: Any, witness: Witness) -> Iterator[str]:
    """Check that every connection except the one that obtains the session resumes it as requested, according to both
    client.json and the witness."""
    p = case.parameters
    if p.sessions == FULL:
        return
    kinds = facts["tls"] if isinstance(facts, dict) else []
    for what in ("resumed", "early")[: 1 + p.workload.early]:
        if not kinds or not all(isinstance(tls, dict) and tls.get(what) is True for tls in kinds):
            yield f"client.json does not say of all connections that they were {what}"
    if witness.handshakes is None:
        yield "nothing shows whether it resumed sessions"
        return
    others = sorted(witness.handshakes)[1:]
    if full := sum(not other.resumed for other in others):
        yield f"{full} of {len(others)} connections that should resume a session made a full handshake"
    elif p.workload.opening.tcp and (plain := sum(not other.fast_open for other in others)):
        yield f"{plain} of {len(others)} connections began with a TCP packet without TLS data"
    elif p.workload.early and (late := sum(not other.early for other in others)):
        yield f"the server got no early data on {late} of {len(others)} connections"


def _abandoned(case: ClientCase, rows: Sequence[Sample], witness: Witness) -> Iterator[str]:
    """Check that the server learned which requests were abandoned and stopped sending. Over HTTP/1.1 the client must
    close the connection, over other protocols only the stream."""
    abandoned = [row for row in rows if row["error"] == ABANDONED]
    if not abandoned:
        return
    if case.parameters.protocol == "h1":
        last = {row["connection"]: row["end_ns"] for row in abandoned}
        if again := sum(row["start_ns"] >= last.get(row["connection"], row["start_ns"] + 1) for row in rows):
            yield f"{again} requests used a connection on which one had been abandoned"
    latest_ns = max(row["end_ns"] for row in rows) - LAST_NS
    cancelled = sum(row["end_ns"] < latest_ns for row in abandoned)
    if witness.given_up is not None and witness.given_up < cancelled:
        yield f"the server learned that {witness.given_up} of {cancelled} requests were abandoned"
    size = case.parameters.size
    whole, most = (len(rows) - len(abandoned)) * size, (len(rows) - len(abandoned) / 2) * size
    if witness.bytes_down is None:
        yield "nothing shows whether the server stopped sending"
    elif witness.bytes_down > most:
        came = f"{witness.bytes_down} bytes came down instead of {whole}"
        yield f"{came}: the server did not stop sending"


def _retried(case: ClientCase, rows: Sequence[Sample], witness: Witness) -> Iterator[str]:
    """Check that requests were retried as often as their durations imply, and that each try was observed: over HTTP/1.1
    as a new connection, over HTTP/3 as a stream, and over all protocols by the bytes that arrived for abandoned
    tries."""
    retry = case.parameters.retry
    if retry is None:
        return
    yield from _first_of_each(_retry_fault(retry, row) for row in rows)
    tries = sum(row.get("tries", 1) for row in rows)
    again = tries - len(rows)
    opened = case.connections() + (again if case.parameters.protocol == "h1" else 0)
    if witness.connections is not None and witness.connections < opened:
        yield f"the server saw {witness.connections} connections, and {again} tries were abandoned, each with its own"
    if witness.requests is not None and witness.requests != tries:
        yield f"the server saw {witness.requests} requests, but the rows contain {tries} tries"
    if witness.given_up is not None and witness.given_up < again:
        yield f"the server learned that {witness.given_up} of {again} tries were abandoned"
    yield from _carried(case, rows, witness)


def _retry_fault(retry: Retry, row: Sample) -> str | None:
    tries, took = row.get("tries", 1), row["end_ns"] - row["start_ns"]
    if row["phase"] == "cold":
        return None if tries == 1 else f"a cold request has `tries` {tries} instead of 1"
    least, most = (1 + min(retry.at_most, max(ns, 0) // retry.after) for ns in (took - LATE_TRY_NS, took))
    if not least <= tries <= most:
        return f"a request that took {in_seconds(took)} has `tries` {tries} instead of {most}"
    sent_ns, due = row["sent_ns"], row["start_ns"] + (tries - 1) * retry.after
    if sent_ns is not None and sent_ns < due:
        return f"the last try of a request was made {in_seconds(due - sent_ns)} too early"
    return None


def _carried(case: ClientCase, rows: Sequence[Sample], witness: Witness) -> Iterator[str]:
    """Check that the link carried more bytes than the requests' last tries received, but fewer than if every try had
    received its whole response."""
    if witness.bytes_down is None:
        yield "nothing shows what became of the abandoned attempts"
        return
    size = max(exchange.moved("down") for exchange in case.parameters.workload.exchanges())
    again = sum(row.get("tries", 1) - 1 for row in rows if row["bytes_down"] == size)
    whole = sum(row["bytes_down"] for row in rows)
    least, most = (round(whole + share * size * again) for share in TRY_SHARE)
    if not least <= witness.bytes_down <= most:
        came = f"{witness.bytes_down} bytes came down, {whole} of them in responses"
        yield f"{came}; with {again} abandoned tries, expected {least} to {most}"


def _controller(case: ClientCase, witness: Witness) -> Iterator[str]:
    if not witness.arrivals:
        yield "nothing shows its congestion controller"
        return
    like, declared = behaviour(witness.arrivals), case.controller
    if like.controller != declared:
        yield f"behaves like {like.controller or 'none that is known'}, not {declared}: {like}"


def _first_of_each(faults: Iterable[str | None]) -> Iterator[str]:
    """Yield each distinct fault once."""
    yield from dict.fromkeys(fault for fault in faults if fault)
