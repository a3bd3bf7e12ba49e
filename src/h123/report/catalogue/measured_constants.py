"""Writes the sections of docs/catalogue.md with the measured constants of subjects. Their tables are on the site
only."""

from collections.abc import Callable, Iterator, Mapping

from h123.base.terminal.markdown import NOTHING, table
from h123.base.units import format_bytes, format_seconds
from h123.catalogue import (
    Reach,
    Subject,
    default_controller,
)
from h123.verification import (
    KERNEL_PROTOCOL,
    PROBE,
    STREAMS,
    WINDOWS,
    MoveResult,
    PublicRecord,
    VerifiedRole,
    path_cells,
    receive_windows,
)
from h123.verification.constants import (
    AT_ONCE,
    Constants,
    Datagrams,
    Flight,
    HandshakeSize,
    InFlight,
    LossResponse,
    SlowStart,
    Tail,
    words,
)

_ALIKE = 0.1
"""The difference between the shares of the window kept after losses above which the table shows their range."""
_CONSTANTS = """\
These constants come from packets, under the [virtual clock](virtual-clock.md), over a link that only delays packets: by
50 ms each way, or by 1 ms for the lost tail. `h123 list subjects NAME` shows why a value is missing.
[A separate page](constants.md) compares some of them with the stacks' source code.

* *First flight*: the packets (in brackets: full packets) and bytes that the server sends before the first
  acknowledgement can arrive. A percentage is the share of a round trip over which the server spreads them.
* *Growth*: in slow start, the ratio of a round trip's bytes to those of the round trip before.
* *Slow start ends*: the bytes of the first round trip that the next one barely exceeds. A *fixed limit* may be a
  receive window or a send buffer; *slower growth* may come from HyStart.
* *After a loss*: the share of the window that remains after one lost packet in steady state (the median of three
  transfers, with their range if they differ by more than 0.1). It is measured two round trips later: with a window of
  50 packets, a share of 0.7 has then grown to between 0.73 and 0.77, and a share of 0.5 to 0.54.
* *A lost tail*: the times in ms until the first and the second retransmission of lost packets at the end of a response.
* *Payloads*: bytes after the TCP or UDP header.
* *Handshake*: round trips, bytes up, bytes down.
* *Receive windows*: how much the server initially lets a client send on a stream and on the connection. TCP's own
  windows, the only ones over h1, are not shown.
* *Uploads in flight*: the most bytes in flight to the server in a round trip of 100 ms, in the first 10 MB and later. ≈
  marks a value that was still changing. An upload carries at most ten times as much per second."""
_RECEPTION = """\
These values come from the server's log.

* *Requests open at once*: how many simultaneous requests were open before any was answered. The client held further
  requests back.
* *Receive windows*: how far ahead of the received data the client lets the server send, at first and during a download
  of 20 MB with a round trip of 200 ms. On a path with a larger bandwidth-delay product, they limit the rate."""
_CLIENT_CONSTANTS = """\
The columns mean the same as for servers. First flight, growth and loss come from uploads to the `go` server.

* *Downloads in flight*: the most bytes in flight to the client in a round trip of 100 ms, as limited by the client's
  receive windows.
* *Acknowledges*: packets that the client sends per data packet in a download."""
_MOVES = """\
One second into a 5 MB download at 40 ms and 10 Mbit/s, the client's packets start to come from a different port or
address (RFC 9000, section 9). *Survived* means that the download finished on the same connection. The first time is how
long the server takes, after the first packet from the new port or address, to send a packet there. The second time runs
from the move until the next full packet reaches the client.

The result depends on the client. Here, the client is `go`, which has empty connection IDs; nginx follows only clients
that have given it a second ID. [results/migration.md](results/migration.md) covers other clients.
`h123 verify NAME --moves` measures these times, under the virtual clock."""

_KERNEL = f"Measured under the virtual clock, with the `{PROBE}` server over {KERNEL_PROTOCOL}."
_PATHS = """\
Each subject sends 4 MB (clients upload them) at 40 ms and 10 Mbit/s, on paths that change or drop packets. Subjects
with the same values share a row.

* *Sends*: the ECT codepoint, and the share of packets that carry it on a path that leaves ECN alone.
* *Reports ECN*: whether the subject's ECN counts let its peer keep using ECN.
* *ECN bleached*, *ECT swapped*, *all marked*, *ECT dropped*: how long the subject keeps using ECN on such a path.
* *A mark*: the share of the bytes in flight that remains a round trip after CoDel's first mark.
* *Payloads*: the first, the most common and the largest, in bytes, at an MTU of 1500.
* *MTU of 1280*: from the start, without ICMP. *Falls*: the MTU falls to 1280 after one second, with or without ICMP.
  The time runs until the next full packet passes; – means that all packets are small enough.

*Fails* marks senders that keep using ECN although ECN validation fails (RFC 9000, section 13.4.2), or
that cannot use a path with the MTU that QUIC assumes (section 14). `h123 verify NAME --paths` measures these values,
with ECN on for TCP (`tcp_ecn`). A subject is *verified* even if it fails here."""


_Rows = list[dict[str, str]]


def measured_constants(subjects: Mapping[str, Subject], records: Mapping[str, PublicRecord]) -> list[list[str]]:
    """Return the sections of the page, each as lines, without the tables that only the site has. A section with nothing
    to report is left out."""
    return [
        [f"## {title}", "", words, "", f"<!-- generated: {name} -->"]
        for name, (title, words, rows) in _SECTIONS.items()
        if rows(subjects, records)
    ]


def measured_tables(
    subjects: Mapping[str, Subject], records: Mapping[str, PublicRecord]
) -> Iterator[tuple[str, list[str]]]:
    """Yield the name and the lines of each table that the site inserts into the page."""
    for name, (_, _, rows) in _SECTIONS.items():
        yield name, list(table(rows(subjects, records)))


def _constants(subjects: Mapping[str, Subject], records: Mapping[str, PublicRecord]) -> _Rows:
    """Return the constants from servers' packets, with one row per server and protocol."""
    return [
        {
            "server": name,
            "protocol": constants.protocol,
            **_constants_row(constants),
            **_taking(constants, records[name]),
        }
        for name in subjects
        for constants in _measured(subjects[name], records.get(name))
        if constants.congestion == default_controller(subjects[name], constants.protocol)
    ]


def _client_constants(subjects: Mapping[str, Subject], records: Mapping[str, PublicRecord]) -> _Rows:
    """Return the constants from clients' packets, which carry uploads and acknowledge downloads."""
    return [
        {"client": name, "protocol": constants.protocol, **_constants_row(constants), **_receiving(constants)}
        for name in subjects
        for constants in _measured(subjects[name], records.get(name), "client")
        if constants.congestion == default_controller(subjects[name], constants.protocol)
    ]


def _reception(subjects: Mapping[str, Subject], records: Mapping[str, PublicRecord]) -> _Rows:
    """Return the limits that clients set for a server over QUIC, from the server's log."""
    rows = []
    for name, subject in subjects.items():
        record = records.get(name)
        results = record.record.of_role("client") if record and record.holds_for(subject) else []
        details = {r.check: r.detail for r in results if r.check in (STREAMS, WINDOWS) and r.verdict == "passed"}
        if details and subject.client:
            rows.append(
                {
                    "client": name,
                    "requests open at once": details.get(STREAMS) or NOTHING,
                    "receive windows": details.get(WINDOWS) or NOTHING,
                    "declared": _declared(subject.client.limits) or NOTHING,
                }
            )
    return rows


def _declared(limits: Reach) -> str:
    """Describe a client's limits: `at most 100 requests at once, windows of 1.31 MB`."""
    streams = [f"at most {most} requests at once" for most in limits.streams.values()]
    return ", ".join([*streams, *(f"windows of at most {format_bytes(most)}" for most in limits.windows.values())])


def _receiving(constants: Constants) -> dict[str, str]:
    """Return the columns about downloads."""
    return {
        "downloads in flight": _in_flight(constants.received) if constants.received else NOTHING,
        "acknowledges": f"{constants.acknowledgements:g}" if constants.acknowledgements is not None else NOTHING,
    }


def _moves(subjects: Mapping[str, Subject], records: Mapping[str, PublicRecord]) -> _Rows:
    """Return how servers react to clients that move, with a row for each server."""
    rows = []
    for name, subject in subjects.items():
        record = records.get(name)
        moves = {
            move.new: move for move in (record.record.moves if record and record.holds_for(subject) else None) or []
        }
        if moves:
            columns = {f"new {new}": _of_a_move(moves[new]) for new in ("port", "address") if new in moves}
            clocks = ", ".join(dict.fromkeys(move.clock for move in moves.values()))
            rows.append({"server": name, "QUIC stack": subject.stack, **columns, "clock": clocks})
    return rows


def _of_a_move(move: MoveResult) -> str:
    if move.unknown:
        return NOTHING
    if move.survived and move.clock == "wall":
        return "survived"
    if move.survived and move.answered is not None and move.flowed is not None:
        return f"survived: {format_seconds(move.answered)}, {format_seconds(move.flowed)}"
    return "not survived" if move.answered is not None else "not survived, nothing is sent there"


def _paths(subjects: Mapping[str, Subject], records: Mapping[str, PublicRecord]) -> _Rows:
    """Return how subjects use ECN and probe their paths' MTUs. Subjects with the same values share a row."""
    names = dict[tuple[tuple[str, str], ...], list[str]]()
    for name, subject in subjects.items():
        record = records.get(name)
        for behaviour in (record.record.paths if record and record.holds_for(subject) else None) or []:
            tcp = behaviour.protocol == KERNEL_PROTOCOL
            row = {"role": behaviour.role, "stack": "Linux's TCP" if tcp else subject.stack, **path_cells(behaviour)}
            names.setdefault(tuple(row.items()), []).append(name)
    return [
        {"subject": ", ".join(alike), **{name: cell or NOTHING for name, cell in row}} for row, alike in names.items()
    ]


def _kernel(subjects: Mapping[str, Subject], records: Mapping[str, PublicRecord]) -> _Rows:
    """Return the constants of the kernel's TCP under each controller, measured with the server that represents the
    kernel."""
    return [
        {"controller": constants.congestion, **_constants_row(constants)}
        for constants in (_measured(subjects[PROBE], records.get(PROBE)) if PROBE in subjects else [])
        if constants.protocol == KERNEL_PROTOCOL
    ]


_SECTIONS: dict[str, tuple[str, str, Callable[[Mapping[str, Subject], Mapping[str, PublicRecord]], _Rows]]] = {
    "server-constants": ("Constants of servers", _CONSTANTS, _constants),
    "reception": ("What clients let a server do over HTTP/3", _RECEPTION, _reception),
    "client-constants": ("Constants of clients", _CLIENT_CONSTANTS, _client_constants),
    "moves": ("When the client moves", _MOVES, _moves),
    "paths": ("ECN and the MTU of paths", _PATHS, _paths),
    "kernel": ("Constants of the kernel's TCP", _KERNEL, _kernel),
}
"""The title, the introduction and the rows of each section, by the name of its table."""


def _measured(subject: Subject, record: PublicRecord | None, role: VerifiedRole = "server") -> list[Constants]:
    there = record.record.constants if record and record.holds_for(subject) else None
    return [constants for constants in there or [] if constants.role == role]


def _constants_row(constants: Constants) -> dict[str, str]:
    flight, start, loss = constants.first_flight, constants.slow_start, constants.decrease
    return {
        "first flight": _flight(flight) if flight else NOTHING,
        "growth": f"x{start.growth:g}" if start else NOTHING,
        "slow start ends": _ending(start) if start else NOTHING,
        "after a loss": _kept_share_words(loss) if loss else NOTHING,
        "a lost tail": _tail(constants.tail_near) if constants.tail_near else NOTHING,
        "payloads": _payloads(constants.datagrams) if constants.datagrams else NOTHING,
        "handshake": _handshake(constants.handshake) if constants.handshake else NOTHING,
    }


def _taking(constants: Constants, record: PublicRecord) -> dict[str, str]:
    """Return the columns about uploads."""
    windows = receive_windows(record.record.results)
    return {
        "receive windows": windows.get(constants.protocol, NOTHING)
        .replace(" per stream", "")
        .replace(" per connection", ""),
        "uploads in flight": _in_flight(constants.received) if constants.received else NOTHING,
    }


def _kept_share_words(loss: LossResponse) -> str:
    least, most = min(loss.each, default=loss.keeps), max(loss.each, default=loss.keeps)
    apart = f" ({least:g} to {most:g})" if most - least > _ALIKE else ""
    return f"{loss.keeps:g}{apart}"


def _ending(start: SlowStart) -> str:
    if start.ends is None:
        return NOTHING
    why = "not known" if start.why.startswith("not ") else start.why.partition(",")[0]
    return f"{format_bytes(start.ends)}, {why}"


def _flight(measured: Flight) -> str:
    spread = f", {measured.spread:.0%}" if measured.spread >= AT_ONCE else ""
    return f"{measured.packets} ({measured.full}), {format_bytes(measured.bytes)}{spread}"


def _tail(measured: Tail) -> str:
    again = f", {measured.second_ms:.3g}" if measured.second_ms is not None else ""
    return f"{measured.first_ms:.3g}{again}"


def _payloads(measured: Datagrams) -> str:
    return words.datagrams(measured).replace(" B", "")


def _handshake(measured: HandshakeSize) -> str:
    sizes = (format_bytes(measured.bytes_up), format_bytes(measured.bytes_down))
    return ", ".join((f"{measured.round_trips:g}", *sizes))


def _in_flight(measured: InFlight) -> str:
    return f"{format_bytes(measured.early)}, {'' if measured.held else '≈ '}{format_bytes(measured.late)}"
