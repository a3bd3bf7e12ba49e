"""docs/catalogue.md: every subject, what was seen of it, how to install it, and whose work it is."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from h123.base.files.durable import write_atomically
from h123.base.paths import project_root
from h123.base.terminal.markdown import NOTHING, table
from h123.base.units import format_bytes, format_seconds, format_span
from h123.catalogue import (
    Client,
    Limits,
    Reach,
    Rejected,
    Subject,
    catalogue,
    default_controller,
    rejected,
    subject_names,
)
from h123.verification import (
    KERNEL_PROTOCOL,
    PROBE,
    STREAMS,
    WINDOWS,
    Moved,
    PublicRecord,
    Result,
    Verdict,
    VerifiedRole,
    public_records,
    receive_windows,
)
from h123.verification.constants import Constants, Decrease, SlowStart, words

_ALIKE = 0.1
"""Shares of the window: losses that leave so much more or less than others are told."""
_FEATURES = {"resumption": "resumption", "0-RTT": "zero_rtt", "qlog": "qlog"}
"""What the server's checks are called, and where the manifest declares it."""
_SHORT: dict[Verdict, str] = {"failed": "failed", "unsupported": "not asked"}
_HEAD = """\
# The catalogue

Written by `h123 publish` from the subjects' manifests and from [verified/](verified), the records of `h123 verify`; not
to be edited. `h123 install NAME` installs a subject, `h123 verify NAME` proves on your machine what is said here, and
`h123 list subjects NAME` tells all that your machine knows of it.

A subject is *verified* if all that it declares was asked of it and came out as
[contracts/verifications.md](contracts/verifications.md) wants it: over each protocol bodies of 0 B to 10 MB with
their hashes or counts, many requests at a time and one after another, the protocol negotiated, errors and timeouts as
they are, and every feature and limit that stands in its row. *At most n at once*: requests of a connection; other
servers take 100 or more. *Idle for at most*: after so long without a request it ends a connection; others wait for a
minute or more."""

_CONSTANTS = """\
From packets, under the virtual clock, over a link that only delays: 50 ms each way; 1 ms each way for the lost tail.
*First flight*: what is sent before an acknowledgement of it can have come back. *Growth*: of the bytes of a round trip
over those of the last one in slow start. *A loss leaves*: of the window, if one packet is lost in steady state; the
median of three transfers that lose different ones, and from which to which where they are more than a tenth apart. It
is seen when the window has grown again for two round trips: of 50 packets, 0.7 is 0.73 to 0.77 by then, 0.5 is 0.54.
[constants.md](constants.md) has what the stacks' own sources say of these three. *Payloads*: what follows TCP's or
UDP's header. *Receive windows*: what the server lets a client send first, as it says; TCP's own, which hold h1 back
too, are not announced in one number. *Uploads under way*: the most that the sender had in flight towards the server in
a round trip of 100 ms, in the first 10 MB and after them; by it an upload is at most ten times as many bytes a second
there. `h123 list subjects NAME` shows more, and why something is missing."""


_RECEPTION = """\
As the server's log has it. *Requests open at once*: of as many as were asked for together, while none was answered;
others waited at the client. *Receive windows*: how far beyond what has arrived the client lets the server send, at
first and in the course of a download of 20 MB, with round trips of 200 ms: over a path that holds more, they are the
limit."""

_CLIENT_CONSTANTS = """\
The same of clients: first flight, growth and losses of their uploads, to the server go. *Downloads under way*: the most
that the server had in flight towards the client in a round trip of 100 ms, which is what its receive windows let it.
*Acknowledges*: packets that it sends for each one of data in a download."""

_MOVES = """\
A download of 5 MB over 40 ms and 10 Mbit/s whose client, after a second, is seen from another port (as when a NAT has
forgotten it) or from another address (RFC 9000, section 9). *Survived*: it went on, on the same connection, and came
whole. *Answers*: from the first packet that came from the new place to the first one sent there. *Flows*: from the move
to the next full packet that came to the client; both under the virtual clock, where the machine has no part in them.
It takes two: the client is `go`, whose own connection ids have no length, and nginx goes on only with a client that has
given it another one. [results/migration.md](results/migration.md) has other clients. Nothing here is declared, so none
of it makes a verification fail. `h123 verify NAME --moves` sees it again."""


def write_catalogue() -> Path:
    """Write the project's page from its committed files; returns its path. Raises UserError where one is wrong."""
    path = project_root() / "docs" / "catalogue.md"
    known = catalogue()
    every = {name: known[name] for name in subject_names()}  # of a subject whose manifest is wrong, no page without it
    write_atomically(path, catalogue_page(every, public_records(), rejected()))
    return path


def catalogue_page(
    subjects: Mapping[str, Subject], known: Mapping[str, PublicRecord], missing: Sequence[Rejected]
) -> str:
    """The whole page, in Markdown."""
    parts = [
        [_HEAD],
        _stacks(subjects, known),
        _role("Servers", "server", subjects, known, _server_row),
        _role("Clients", "client", subjects, known, _client_row),
        _constants(subjects, known),
        _reception(subjects, known),
        _client_constants(subjects, known),
        _moves(subjects, known),
        _kernel(subjects, known),
        _notes(subjects),
        _shortcomings(subjects, known),
        _missing(missing),
        _installing(subjects, known),
        _licences(subjects),
    ]
    return "\n\n".join("\n".join(part) for part in parts if part) + "\n"


def _stacks(subjects: Mapping[str, Subject], known: Mapping[str, PublicRecord]) -> list[str]:
    """The distinct QUIC stacks whose server over HTTP/3 is verified."""
    stacks = dict.fromkeys(
        subject.stack
        for name, subject in subjects.items()
        if subject.server and "h3" in subject.server.protocols and _passed(subject, known.get(name), "server")
    )
    if not stacks:
        return []
    serve = "stack serves" if len(stacks) == 1 else "stacks serve"
    return [f"{len(stacks)} QUIC {serve} HTTP/3 here, verified: {', '.join(sorted(stacks, key=str.lower))}."]


def _role(
    title: str,
    role: VerifiedRole,
    subjects: Mapping[str, Subject],
    known: Mapping[str, PublicRecord],
    row: Callable[[Subject, list[Result]], dict[str, str]],
) -> list[str]:
    rows = []
    for name, subject in subjects.items():
        if getattr(subject, role):
            told = known.get(name)
            results = told.record.of_role(role) if told and told.holds_for(subject) else []
            rows.append(
                {
                    "subject": f"[{name}](../subjects/{name})",
                    "QUIC stack": subject.stack if subject.stack != "none" else NOTHING,
                    "version": subject.version,
                    **row(subject, results),
                    "clocks": ", ".join(dict.fromkeys(r.clock for r in results if r.verdict == "passed")) or NOTHING,
                    "verified": _verified(subject, told, role),
                }
            )
    return [f"## {title}", "", *table(rows)]


def _server_row(subject: Subject, results: list[Result]) -> dict[str, str]:
    assert subject.server is not None
    return {
        "protocols": " ".join(_limited(protocol, subject.server.limits) for protocol in subject.server.protocols),
        "proved": "; ".join(_proved(subject, results)) or NOTHING,
        "congestion control over h3": _controllers(results),
        "TLS": _tls(results),
    }


def _limited(protocol: str, limits: Limits) -> str:
    told = []
    if protocol in limits.streams:
        told.append(f"at most {limits.streams[protocol]} at once")
    if protocol in limits.idle:
        told.append(f"idle for at most {format_seconds(limits.idle[protocol] / 1e9)}")
    return f"{protocol} ({', '.join(told)})" if told else protocol


def _crowded(protocol: str, client: Client) -> str:
    most = client.at_once.get(protocol)
    return f"{protocol} (at most {most} at once)" if most else protocol


def _client_row(subject: Subject, results: list[Result]) -> dict[str, str]:
    client = subject.client
    assert client is not None
    able = {
        "first byte": client.ttfb,
        "open loop": client.open_loop,
        "cold requests": client.cold,
        "its program's start and end": client.process,
    }
    return {
        "protocols": " ".join(_crowded(protocol, client) for protocol in client.protocols),
        "methods": " ".join(client.methods),
        "workloads": ", ".join([*client.kinds, *_further(client)]),
        "connections": ", ".join(client.connections),
        "measures": ", ".join(name for name, yes in able.items() if yes) or NOTHING,
        "TLS": _tls(results),
    }


_SESSIONS = {"resumed": "resumed sessions", "fast-open": "TCP Fast Open", "early": "early data"}


def _further(client: Client) -> Iterator[str]:
    """`headers`, `resumed sessions h1 h2 h3`, `TCP Fast Open h1 h2`, `fallback`, `repeat visits`."""
    if client.headers:
        yield "headers"
    for sessions, protocols in client.sessions.items():
        yield f"{_SESSIONS[sessions]} {' '.join(protocols)}"
    if client.false_start:
        yield "false start with TLS 1.2"
    if client.fallback:
        yield "fallback from h3 to h2"
    if client.remembers:
        yield "repeat visits, HTTP/3 found"


def _proved(subject: Subject, results: Sequence[Result]) -> Iterator[str]:
    """Features that are declared and came out: `resumption h1 h2 h3`."""
    for check, field in _FEATURES.items():
        passed = {r.protocol for r in results if r.check == check and r.verdict == "passed"}
        if protocols := [p for p in getattr(subject.features, field) if p in passed]:
            yield f"{check} {' '.join(protocols)}"


def _controllers(results: Sequence[Result]) -> str:
    """Those that were seen at work."""
    told = []
    for result in results:
        what, _, name = result.check.partition(" ")
        if what == "congestion" and result.protocol == "h3" and result.verdict == "passed":
            told.append(name)
    return ", ".join(dict.fromkeys(told)) or NOTHING


def _tls(results: Sequence[Result]) -> str:
    told = dict.fromkeys(r.detail for r in results if r.check == "TLS" and r.verdict == "passed")
    return "; ".join(told) or NOTHING


def _verified(subject: Subject, told: PublicRecord | None, role: VerifiedRole) -> str:
    if told is None or not (results := told.record.of_role(role)):
        return "no"
    if not told.holds_for(subject):
        return f"changed since {told.record.time[:10]}"
    counts = Counter(result.verdict for result in results)
    passed, total = counts["passed"], len(results)
    shares = [f"all {total}" if passed == total else f"{passed} of {total}"]
    shares += [f"{counts[verdict]} {words}" for verdict, words in _SHORT.items() if counts[verdict]]
    return f"{told.record.time[:10]}: {', '.join(shares)}"


def _passed(subject: Subject, told: PublicRecord | None, role: VerifiedRole) -> bool:
    results = told.record.of_role(role) if told and told.holds_for(subject) else []
    return bool(results) and all(result.verdict != "failed" for result in results)


def _constants(subjects: Mapping[str, Subject], known: Mapping[str, PublicRecord]) -> list[str]:
    """What servers' packets show, a line each and protocol."""
    rows = [
        {"server": name, "protocol": one.protocol, **_constants_row(one), **_taking(one, known[name])}
        for name in subjects
        for one in _measured(subjects[name], known.get(name))
        if one.congestion == default_controller(subjects[name], one.protocol)
    ]
    return ["## Constants of servers", "", _CONSTANTS, "", *table(rows)] if rows else []


def _client_constants(subjects: Mapping[str, Subject], known: Mapping[str, PublicRecord]) -> list[str]:
    """The same of clients, whose uploads they send and whose downloads they acknowledge."""
    rows = [
        {"client": name, "protocol": one.protocol, **_constants_row(one), **_receiving(one)}
        for name in subjects
        for one in _measured(subjects[name], known.get(name), "client")
        if one.congestion == default_controller(subjects[name], one.protocol)
    ]
    return ["## Constants of clients", "", _CLIENT_CONSTANTS, "", *table(rows)] if rows else []


def _reception(subjects: Mapping[str, Subject], known: Mapping[str, PublicRecord]) -> list[str]:
    """What clients let a server do over QUIC, as the server logged it."""
    rows = []
    for name, subject in subjects.items():
        told = known.get(name)
        results = told.record.of_role("client") if told and told.holds_for(subject) else []
        found = {r.check: r.detail for r in results if r.check in (STREAMS, WINDOWS) and r.verdict == "passed"}
        if found and subject.client:
            rows.append(
                {
                    "client": name,
                    "requests open at once": found.get(STREAMS) or NOTHING,
                    "receive windows": found.get(WINDOWS) or NOTHING,
                    "declared": _declared(subject.client.limits) or NOTHING,
                }
            )
    return ["## What clients let a server do over HTTP/3", "", _RECEPTION, "", *table(rows)] if rows else []


def _declared(limits: Reach) -> str:
    """`at most 100 requests at once, windows of 1.31 MB`."""
    streams = [f"at most {most} requests at once" for most in limits.streams.values()]
    return ", ".join([*streams, *(f"windows of at most {format_bytes(most)}" for most in limits.windows.values())])


def _receiving(one: Constants) -> dict[str, str]:
    """Of downloads."""
    return {
        "downloads under way": words.in_flight(one.received) if one.received else NOTHING,
        "acknowledges": words.acknowledgements(one.acknowledgements) if one.acknowledgements is not None else NOTHING,
    }


def _moves(subjects: Mapping[str, Subject], known: Mapping[str, PublicRecord]) -> list[str]:
    """What servers make of clients that move, a line each."""
    rows = []
    for name, subject in subjects.items():
        told = known.get(name)
        seen = {one.new: one for one in (told.record.moves if told and told.holds_for(subject) else None) or []}
        if seen:
            columns = {f"new {new}": _of_a_move(seen[new]) for new in ("port", "address") if new in seen}
            clocks = ", ".join(dict.fromkeys(one.clock for one in seen.values()))
            rows.append({"server": name, "QUIC stack": subject.stack, **columns, "clock": clocks})
    return ["## When the client moves", "", _MOVES, "", *table(rows)] if rows else []


def _of_a_move(one: Moved) -> str:
    if one.untold:
        return NOTHING
    if one.survived and one.clock == "wall":
        return "survived"
    if one.survived and one.answered is not None and one.flowed is not None:
        return f"survived: answers after {format_seconds(one.answered)}, flows after {format_seconds(one.flowed)}"
    return "not survived" if one.answered is not None else "not survived, nothing is sent there"


def _kernel(subjects: Mapping[str, Subject], known: Mapping[str, PublicRecord]) -> list[str]:
    """What those of the kernel's TCP show under each controller, with the server that is asked for them."""
    rows = [
        {"controller": one.congestion, **_constants_row(one)}
        for one in (_measured(subjects[PROBE], known.get(PROBE)) if PROBE in subjects else [])
        if one.protocol == KERNEL_PROTOCOL
    ]
    where = f"Of Linux as the virtual clock has it, with the server {PROBE} over {KERNEL_PROTOCOL}."
    return ["## Constants of the kernel's TCP", "", where, "", *table(rows)] if rows else []


def _measured(subject: Subject, told: PublicRecord | None, role: VerifiedRole = "server") -> list[Constants]:
    there = told.record.constants if told and told.holds_for(subject) else None
    return [one for one in there or [] if one.role == role]


def _constants_row(one: Constants) -> dict[str, str]:
    flight, start, loss = one.first_flight, one.slow_start, one.decrease
    return {
        "first flight": words.first_flight(flight) if flight else NOTHING,
        "growth": f"x{start.growth:g}" if start else NOTHING,
        "slow start ends": _ending(start) if start else NOTHING,
        "a loss leaves": _kept(loss) if loss else NOTHING,
        "a lost tail is sent again": words.tail(one.tail_near) if one.tail_near else NOTHING,
        "payloads": words.datagrams(one.datagrams) if one.datagrams else NOTHING,
        "handshake": words.handshake(one.handshake) if one.handshake else NOTHING,
    }


def _taking(one: Constants, told: PublicRecord) -> dict[str, str]:
    """Of uploads."""
    windows = receive_windows(told.record.results)
    return {
        "receive windows": windows.get(one.protocol, NOTHING),
        "uploads under way": words.in_flight(one.received) if one.received else NOTHING,
    }


def _kept(loss: Decrease) -> str:
    least, most = min(loss.each, default=loss.keeps), max(loss.each, default=loss.keeps)
    apart = f" ({least:g} to {most:g})" if most - least > _ALIKE else ""
    return f"{loss.keeps:g}{apart}"


def _ending(start: SlowStart) -> str:
    return f"{format_bytes(start.ends)}, {start.why}" if start.ends is not None else NOTHING


def _notes(subjects: Mapping[str, Subject]) -> list[str]:
    lines = [
        f"* **{name}** ({subject.title}, {subject.language}): {subject.note}"
        for name, subject in subjects.items()
        if subject.note
    ]
    return ["## Worth knowing", "", *lines] if lines else []


def _shortcomings(subjects: Mapping[str, Subject], known: Mapping[str, PublicRecord]) -> list[str]:
    """What failed, and what could not be asked, in the words of the verification."""
    rows = []
    for name, subject in subjects.items():
        told = known.get(name)
        if told is None or not told.holds_for(subject):
            continue
        for result in told.record.results:
            if result.verdict != "passed":
                where = f"{result.role}, {result.protocol}" + (", virtual clock" if result.clock == "virtual" else "")
                rows.append(
                    {
                        "subject": name,
                        "as": where,
                        "check": result.check,
                        "came out": result.verdict,
                        "why": result.detail,
                    }
                )
    return ["## What did not come out", "", *table(rows)] if rows else []


def _missing(missing: Sequence[Rejected]) -> list[str]:
    rows = [
        {"name": one.name, "QUIC stack": one.stack, "what was tried": one.what, "why it is not here": one.why}
        for one in missing
    ]
    return ["## Tried, not in the catalogue", "", *table(rows)] if rows else []


def _installing(subjects: Mapping[str, Subject], known: Mapping[str, PublicRecord]) -> list[str]:
    rows = []
    for name, subject in subjects.items():
        told = known.get(name)
        rows.append(
            {
                "command": "part of h123" if subject.install.embedded else f"`h123 install {name}`{_with(subject)}",
                "needs": subject.install.needs_help or NOTHING,
                "size": format_bytes(told.bytes) if told and told.bytes else NOTHING,
                "time": format_span(told.seconds) if told and told.seconds is not None else NOTHING,
            }
        )
    machines = dict.fromkeys(_machine(told) for told in known.values())
    words = "Times (of a build whose packages were perhaps at hand already) and verifications are from"
    where = [f"{words} {'; '.join(machines)}."] if machines else []
    return ["## Installing", "", *where, *([""] if where else []), *table(rows)]


def _with(subject: Subject) -> str:
    return f", one with {subject.install.part_of}" if subject.install.part_of else ""


def _machine(told: PublicRecord) -> str:
    machine = told.record.machine
    system = f"{machine.get('distribution')}, Linux {machine.get('kernel')}"
    return f"{machine.get('cpus_usable')} processors ({machine.get('cpu')}), {system}"


def _licences(subjects: Mapping[str, Subject]) -> list[str]:
    lines = ["## Licences", "", "Of what the installations contain that is not h123's own.", ""]
    rows = []
    for name, subject in subjects.items():
        parts = ", ".join(f"{part.name} {part.version} ({part.licence})" for part in subject.parts)
        also = "; ".join(
            filter(None, [parts or f"{subject.title} {subject.version} ({subject.licence})", subject.parts_note])
        )
        rows.append({"subject": name, "licence": subject.licence, "parts": also})
    return [*lines, *table(rows)]
