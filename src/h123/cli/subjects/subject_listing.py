"""Prints the catalogue in the terminal: all subjects in a table of 80 columns, or a few subjects in full."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal

from rich.console import Console, OverflowMethod
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from h123.base.terminal.console import with_commands, write
from h123.base.transport import SETTINGS
from h123.base.units import format_bytes, format_seconds, format_span
from h123.catalogue import (
    OPENINGS,
    PROTOCOLS,
    Subject,
    catalogue,
    controllers,
    damage,
    installation,
    settable,
)
from h123.cli.subjects.selection import subjects_by_name
from h123.verification import (
    PublicRecord,
    Record,
    Result,
    best_proof,
    describe,
    moved_words,
    path_words,
    public_record,
    public_records,
    receive_windows,
    roles_of,
    tally,
)
from h123.verification.constants import Constants, described
from h123.verification.profile import summary
from h123.virtual import NAME, installed_kernel

_NOTHING = "-"
_WIDE_COLUMNS = 110
_COLUMNS = {
    "name": True,
    "QUIC stack": True,
    "language": False,
    "version": False,
    "server": True,
    "client": True,
    "v": True,
    "size": True,
    "verified": True,
}
"""The columns, and whether each is shown on a console narrower than _WIDE_COLUMNS."""
_MARKS = """\
server, client: 1, 2, 3 for HTTP/1.1, HTTP/2, HTTP/3; then, over at least one:
  r resumes TLS sessions, 0 accepts 0-RTT too; q writes qlog files;
  c lets you choose the congestion controller; t reports the time to first byte;
  o sends at a given rate (open loop); d makes cold requests on new connections;
  k knows more kinds of workload than `requests`; h sends request headers
v: also runs under the virtual clock.
size: on disk; - means not installed; broken: files are missing, so it will be
  built again when it is needed, or by `h123 install`.
verified: when it last passed `h123 verify` on this machine;
  upstream: not yet here, but by this project with the same files;
  changed: its files have changed since; *: some checks could not run."""
_WIDER = f"\nA terminal of {_WIDE_COLUMNS} columns shows language and version too."
_MORE = "`h123 list subjects NAME` shows everything about one."


def print_subjects(console: Console) -> None:
    """Print all subjects of the catalogue, and the virtual clock's kernel."""
    wide, records = console.width >= _WIDE_COLUMNS, public_records()
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for column, narrow in _COLUMNS.items():
        if narrow or wide:
            justify: Literal["left", "right"] = "right" if column == "size" else "left"
            overflow: OverflowMethod = "ellipsis" if column == "QUIC stack" else "fold"
            table.add_column(column, overflow=overflow, no_wrap=True, justify=justify)
    for subject in catalogue().values():
        cells = zip(_COLUMNS.values(), _row(subject, records.get(subject.name)), strict=True)
        table.add_row(*(cell for narrow, cell in cells if narrow or wide))
    console.print(table)
    kernel = installed_kernel()
    there = f"{kernel.source.package} {kernel.source.version}" if kernel else f"not installed (`h123 install {NAME}`)"
    write(console, f"\n{NAME}, for --clock virtual: {there}")
    write(console, _MARKS if wide else _MARKS + _WIDER, style="dim")
    write(console, _MORE, style="dim")


def subject_rows(names: Sequence[str]) -> Iterator[Mapping[str, object]]:
    """Yield the manifests of the named subjects (or of all), and whether each is installed."""
    for subject in subjects_by_name(names) if names else catalogue().values():
        state = installation(subject)
        yield {**subject.model_dump(mode="json"), "installed_bytes": state.bytes if state else None}


def print_subject(subject: Subject, console: Console) -> None:
    console.print(Text(subject.name, style="bold").append(f": {subject.title} {subject.version}", style="not bold"))
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for name, text in _facts(subject):
        table.add_row(name, with_commands(text))
    console.print(Padding(table, (0, 0, 1, 2)))


def _verified(subject: Subject, upstream: PublicRecord | None) -> tuple[str, str]:
    """Return the state of the subject's verification for the table, such as its date, and the colour of the text."""
    proof = best_proof(subject, upstream)
    if proof is None:
        return _NOTHING, "dim"
    if not proof.holds:
        return "changed", "yellow"
    return _outcome(subject, proof.record, "upstream" if proof.upstream else proof.record.time[:10])


def _outcome(subject: Subject, record: Record, well: str) -> tuple[str, str]:
    counts = Counter(result.verdict for result in record.results)
    if counts["failed"]:
        return f"{counts['failed']} failed", "red"
    roles = {result.role for result in record.results}
    if roles != set(roles_of(subject)):
        return f"{' '.join(roles)} only", "yellow"
    return f"{well}{'*' if counts['unsupported'] else ''}", "green"


def _row(subject: Subject, upstream: PublicRecord | None) -> Iterator[str | Text]:
    state = installation(subject)
    yield subject.name
    yield subject.stack if subject.stack != "none" else _NOTHING
    yield _short(subject.language)
    yield subject.version
    yield _as_a_server(subject)
    yield _as_a_client(subject)
    yield "v" if "virtual" in subject.features.clocks else ""
    yield format_bytes(state.bytes) if state else "broken" if damage(subject) else _NOTHING
    verified, colour = _verified(subject, upstream)
    yield Text(verified, style=colour)


def _short(language: str) -> str:
    """Return a short form of a language for a table: `C++/JS` for `C++ and JavaScript, driven by Python`."""
    own = language.partition(", driven by")[0]
    return own.replace(" and ", "/").replace(", ", "/").replace("JavaScript", "JS")


def _as_a_server(subject: Subject) -> str:
    if subject.server is None:
        return "backend" if subject.backend else _NOTHING
    features = subject.features
    resumes = "0" if features.zero_rtt else "r" if features.resumption else ""
    chooses = any(len(controllers(subject, protocol) or []) > 1 for protocol in subject.server.protocols)
    return _marked(subject.server.protocols, [resumes, "q" * bool(features.qlog), "c" * chooses])


def _as_a_client(subject: Subject) -> str:
    client = subject.client
    if client is None:
        return _NOTHING
    marks = {"t": client.ttfb, "o": client.open_loop, "d": client.cold, "k": len(client.kinds) > 1, "h": client.headers}
    return _marked(client.protocols, [mark for mark, able in marks.items() if able])


def _marked(protocols: Sequence[str], marks: Iterable[str]) -> str:
    """Return protocols as digits, followed by the marks that _MARKS explains: `12 r`."""
    return f"{''.join(protocols).replace('h', ''):3} {''.join(marks)}"


def _facts(subject: Subject) -> Iterator[tuple[str, str]]:
    yield "", f"{subject.language}, {subject.licence}, {subject.home}"
    if subject.note:
        yield "note", subject.note
    yield "QUIC stack", subject.stack
    yield from _server_facts(subject)
    yield from _client_facts(subject)
    if subject.backend:
        yield "backend", f"of {_joined(subject.backend.stores)}"
    yield "clocks", _joined(subject.features.clocks)
    if subject.parts:
        yield "parts", ", ".join(f"{part.name} {part.version} ({part.licence})" for part in subject.parts)
    if subject.parts_note:
        yield "", subject.parts_note
    yield "installed", _installed(subject)
    yield from _verification_facts(subject)


def _server_facts(subject: Subject) -> Iterator[tuple[str, str]]:
    if subject.server is None:
        return
    yield "server", f"{_joined(subject.server.protocols)}; {_joined(subject.server.methods)}"
    features = subject.features
    abilities: dict[str, Sequence[str]] = {
        "resumption": features.resumption,
        "0-RTT": features.zero_rtt,
        "qlog": features.qlog,
    }
    for name, protocols in abilities.items():
        yield f"  {name}", _joined(protocols)
    for protocol, most in subject.server.limits.streams.items():
        yield "  limit", f"{protocol}: {most} requests at once on a connection"
    for protocol, longest in subject.server.limits.idle.items():
        yield "  limit", f"{protocol}: ends a connection that is idle for {format_seconds(longest / 1e9)}"
    yield from _settings(subject, "server")
    yield "  congestion", "; ".join(congestion(subject)) or _NOTHING


def congestion(subject: Subject) -> list[str]:
    """Return the congestion controllers by protocol: `h3: cubic reno`."""
    return [
        f"{protocol}: {_joined(controllers(subject, protocol) or ['kernel'])}"
        for protocol in subject.features.congestion
    ]


def _settings(subject: Subject, role: str) -> Iterator[tuple[str, str]]:
    for name, roles in settable(subject).items():
        over = _joined(getattr(subject.features, name))
        yield f"  {SETTINGS[name].title}", f"{over}: can be chosen" if role in roles else _NOTHING


def _client_facts(subject: Subject) -> Iterator[tuple[str, str]]:
    client = subject.client
    if client is None:
        return
    yield "client", f"{_joined(client.protocols)}; {_joined(client.methods)}"
    yield "  workloads", _joined(client.kinds)
    yield "  connections", _joined(client.connections)
    abilities = {
        "request headers": client.headers,
        "first byte": client.ttfb,
        "open loop": client.open_loop,
        "cold requests": client.cold,
    }
    for name, able in abilities.items():
        yield f"  {name}", "yes" if able else "no"
    for way, row in OPENINGS.items():
        yield f"  {row.title}", _joined(client.sessions.get(way, []))
    yield "  fallback", "from h3 to h2" if client.fallback else _NOTHING
    yield "  visits", "first and repeat, discovers HTTP/3" if client.remembers else _NOTHING
    if client.false_start:
        yield "  false start", "TLS 1.2: does not wait for the end of the handshake"
    if client.process:
        yield "  program", "starts a separate program for the requests, and reports when it ran"
    if client.reopens:
        yield "  connections", "h1: closes idle connections, and opens new ones"
    for protocol, most in client.at_once.items():
        yield "  limit", f"{protocol}: {most} users at once"
    for protocol, most in client.limits.streams.items():
        yield "  limit", f"{protocol}: {most} requests at once on a connection; others wait"
    for protocol, most in client.limits.windows.items():
        yield "  limit", f"{protocol}: windows of at most {format_bytes(most)}"
    yield "  bodies", "every byte is compared" if client.compares else "bytes are only counted"
    yield from _settings(subject, "client")


def _installed(subject: Subject) -> str:
    shared = f", one with {subject.install.part_of}" if subject.install.part_of else ""
    if state := installation(subject):
        return f"{format_bytes(state.bytes)}, in {format_span(state.seconds)}{shared}"
    if missing := damage(subject):
        return f"broken, {missing} is missing: `h123 install {subject.name}`"
    needs = f"; needs {subject.install.needs_help}" if subject.install.needs_help else ""
    return f"no: `h123 install {subject.name}`{shared}{_upstream_size(public_record(subject))}{needs}"


def _upstream_size(record: PublicRecord | None) -> str:
    """Return the size and the time of the installation that this project verified."""
    size = format_bytes(record.bytes) if record and record.bytes else ""
    span = f"in {format_span(record.seconds)}" if record and record.seconds is not None else ""
    shown = ", ".join(filter(None, (size, span)))
    return f"; upstream {shown}" if shown else ""


def _verification_facts(subject: Subject) -> Iterator[tuple[str, str]]:
    proof, again = best_proof(subject, public_record(subject)), f"`h123 verify {subject.name}`"
    if proof is None:
        yield "verified", f"no: {again}"
        return
    record = proof.record
    stale = "" if proof.holds else f"; its files have changed since: {again}"
    if proof.upstream:
        stale = stale or f"; not yet on this machine: {again}"
        yield "verified", f"upstream, {_when(record)}: {tally(record.results)}{stale}"
    else:
        yield "verified", f"{_when(record)} on this machine: {tally(record.results)}{stale}"
    for result in record.results:
        if result.verdict != "passed":
            yield "", f"{result.role} {result.protocol} {result.check}: {result.verdict}: {result.detail}"
    for protocol, windows in receive_windows(record.results).items():
        yield "receive windows", f"as a server over {protocol}: {windows}"
    yield from _constants_facts(record.constants)
    for move in record.moves or []:
        yield "a client moves", f"over {move.protocol}, {moved_words(move)}"
    for behaviour in record.paths or []:
        yield "paths", f"as a {behaviour.role} over {behaviour.protocol}"
        for name, words in path_words(behaviour):
            yield f"  {name}", words
    for holding in record.profile or []:
        yield "held", f"as a {holding.role} over {holding.protocol}, {holding.situation}: {summary(holding)}"


def _constants_facts(measured: Sequence[Constants] | None) -> Iterator[tuple[str, str]]:
    if measured is None:
        yield "constants", "not measured yet"
    for constants in measured or []:
        yield "constants", f"as a {constants.role} over {constants.protocol}, {constants.congestion}"
        for name, words in described(constants):
            yield f"  {name}", words


def _when(record: Record) -> str:
    return record.time[:16].replace("T", " ")


def _joined(names: Iterable[str]) -> str:
    return " ".join(names) or _NOTHING


def print_verification(results_by_subject: Mapping[str, Sequence[Result]], console: Console) -> None:
    """Print what was verified for each subject, by role and protocol, followed by what failed or could not be
    checked."""
    table = Table("subject", "as", *PROTOCOLS, box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name, results in results_by_subject.items():
        for role in dict.fromkeys(result.role for result in results):
            cells = [[r for r in results if (r.role, r.protocol) == (role, protocol)] for protocol in PROTOCOLS]
            table.add_row(name, role, *(tally(cell) if cell else "-" for cell in cells))
    console.print(table)
    for name, results in results_by_subject.items():
        for result in results:
            if result.verdict != "passed":
                line = f"{name} as a {result.role}: {describe(result)}"
                console.print(line, soft_wrap=True)
