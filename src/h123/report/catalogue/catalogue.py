"""Writes docs/catalogue.md. The site adds tables of subjects and their measured properties, notes, installation
instructions and licences."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from h123.base.files.durable import write_atomically
from h123.base.paths import project_root
from h123.base.terminal.markdown import NOTHING, table
from h123.base.units import format_bytes, format_seconds, format_span
from h123.catalogue import (
    OPENINGS,
    Client,
    Limits,
    RejectedSubject,
    Subject,
    catalogue,
    load_rejected_subjects,
    subject_names,
)
from h123.report.catalogue.measured_constants import measured_constants
from h123.verification import (
    PublicRecord,
    Result,
    Verdict,
    VerifiedRole,
    public_records,
)

_FEATURES = {"resumption": "resumption", "0-RTT": "zero_rtt", "qlog": "qlog"}
"""Maps each check of a server to the manifest's field that declares the feature."""
_USUAL_TLS = "1.3, TLS_AES_128_GCM_SHA256, X25519"
_SHORT: dict[Verdict, str] = {"failed": "failed", "unsupported": "not tested"}
_HEAD = """\
# The catalogue

This page lists the *subjects*, the servers and clients that h123 can run. `h123 install NAME` installs a subject
([downloads](isolation.md#downloads)), `h123 verify NAME` tests it on your machine, and `h123 list subjects NAME` shows
all that h123 knows about it. Most tables are only on the website (run `make docs`, then open
`target/docs/catalogue.html`). `h123 publish` writes this page; do not edit it.

A subject is *verified* if it passed [these tests](contracts/verifications.md) for everything that it declares, over
each of its protocols. The records are in [verified/](verified).

* *At most n at once*: the limit on simultaneous requests (for servers: per connection). Servers without this note allow
  100 or more.
* *Idle for at most*: the time without a request after which the server closes a connection. Servers without this note
  wait for a minute or more.
* *Congestion control over h3*: the default comes first. *fixed*: losses do not change the window; use
  `congestion: default`.
* TLS *as usual*: TLS 1.3 with TLS_AES_128_GCM_SHA256 and X25519.
* *Changed since*: the subject's files have changed since its last published verification. You can use it without
  `--allow-unverified`. In such a row, a dash means *not verified*, not *unsupported*.
* `-sid` at the end of a name: a program from Debian unstable."""
_ABOUT = """\
## About each subject

`h123 list subjects NAME` prints notes on a subject, what its installation needs, and the licences of its parts.

*All tables and notes: run `make docs`, then open `target/docs/catalogue.html`.*

<!-- generated: subjects -->"""


def write_catalogue() -> Path:
    """Write the page from the project's committed files and return its path. Raises UserError if one of the files is
    invalid."""
    path = project_root() / "docs" / "catalogue.md"
    subjects = catalogue()
    every = {name: subjects[name] for name in subject_names()}  # there is no page if a manifest is wrong
    write_atomically(path, catalogue_page(every, public_records(), load_rejected_subjects()))
    return path


def catalogue_page(
    subjects: Mapping[str, Subject], records: Mapping[str, PublicRecord], missing: Sequence[RejectedSubject]
) -> str:
    parts = [
        [_HEAD],
        _stacks(subjects, records),
        *([f"## {role.capitalize()}s", "", f"<!-- generated: {role}s -->"] for role in _ROWS),
        *measured_constants(subjects, records),
        _shortcomings(subjects, records),
        _missing(missing),
        [_ABOUT],
    ]
    return _page(parts)


def role_tables(
    subjects: Mapping[str, Subject], records: Mapping[str, PublicRecord]
) -> Iterator[tuple[str, list[str]]]:
    """Yield the name and the lines of the site's tables of servers and clients."""
    yield from ((f"{role}s", _role(role, subjects, records, row)) for role, row in _ROWS.items())


def about_subjects(subjects: Mapping[str, Subject], records: Mapping[str, PublicRecord]) -> str:
    """Return, in Markdown, what the site adds to the page: each subject's note, installation and licences."""
    return _page([_notes(subjects), _installing(subjects, records), _licences(subjects)])


def _page(parts: Sequence[list[str]]) -> str:
    return "\n\n".join("\n".join(part) for part in parts if part) + "\n"


def _stacks(subjects: Mapping[str, Subject], records: Mapping[str, PublicRecord]) -> list[str]:
    """Return a line that lists the distinct QUIC stacks with a verified HTTP/3 server; no line if there are none."""
    stacks = dict.fromkeys(
        subject.stack
        for name, subject in subjects.items()
        if subject.server and "h3" in subject.server.protocols and _passed(subject, records.get(name), "server")
    )
    if not stacks:
        return []
    noun = "stack" if len(stacks) == 1 else "stacks"
    return [f"The verified HTTP/3 servers use {len(stacks)} QUIC {noun}: {', '.join(sorted(stacks, key=str.lower))}."]


def _role(
    role: VerifiedRole,
    subjects: Mapping[str, Subject],
    records: Mapping[str, PublicRecord],
    row: Callable[[Subject, list[Result]], dict[str, str]],
) -> list[str]:
    rows = []
    for name, subject in subjects.items():
        if getattr(subject, role):
            record = records.get(name)
            results = record.record.of_role(role) if record and record.holds_for(subject) else []
            rows.append(
                {
                    "subject": f"[{name}](../subjects/{name})",
                    "QUIC stack": subject.stack if subject.stack != "none" else NOTHING,
                    "version": subject.version,
                    **row(subject, results),
                    "clocks": ", ".join(dict.fromkeys(r.clock for r in results if r.verdict == "passed")) or NOTHING,
                    "verified": _verified(subject, record, role),
                }
            )
    return [*table(rows)]


def _server_row(subject: Subject, results: list[Result]) -> dict[str, str]:
    assert subject.server is not None
    return {
        "protocols": " ".join(_limited(protocol, subject.server.limits) for protocol in subject.server.protocols),
        "verified features": "; ".join(_proved(subject, results)) or NOTHING,
        "congestion control over h3": _controllers(results),
        "TLS": _tls(results),
    }


def _limited(protocol: str, limits: Limits) -> str:
    limit_words = []
    if protocol in limits.streams:
        limit_words.append(f"at most {limits.streams[protocol]} at once")
    if protocol in limits.idle:
        limit_words.append(f"idle for at most {format_seconds(limits.idle[protocol] / 1e9)}")
    return f"{protocol} ({', '.join(limit_words)})" if limit_words else protocol


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


_ROWS: Mapping[VerifiedRole, Callable[[Subject, list[Result]], dict[str, str]]] = {
    "server": _server_row,
    "client": _client_row,
}


def _further(client: Client) -> Iterator[str]:
    """Yield a client's further features: `headers`, `resumed sessions h1 h2 h3`, `TCP Fast Open h1 h2`, `fallback`."""
    if client.headers:
        yield "headers"
    for sessions, protocols in client.sessions.items():
        yield f"{OPENINGS[sessions].title} {' '.join(protocols)}"
    if client.false_start:
        yield "false start with TLS 1.2"
    if client.fallback:
        yield "fallback from h3 to h2"
    if client.remembers:
        yield "repeat visits, HTTP/3 found"


def _proved(subject: Subject, results: Sequence[Result]) -> Iterator[str]:
    """Yield the declared features that verification confirmed: `resumption h1 h2 h3`."""
    for check, field in _FEATURES.items():
        passed = {r.protocol for r in results if r.check == check and r.verdict == "passed"}
        if protocols := [p for p in getattr(subject.features, field) if p in passed]:
            yield f"{check} {' '.join(protocols)}"


def _controllers(results: Sequence[Result]) -> str:
    """List the congestion controllers that verification observed over HTTP/3."""
    phrases = []
    for result in results:
        what, _, name = result.check.partition(" ")
        if what == "congestion" and result.protocol == "h3" and result.verdict == "passed":
            phrases.append(name)
    return ", ".join(dict.fromkeys(phrases)) or NOTHING


def _tls(results: Sequence[Result]) -> str:
    passed = (r.detail for r in results if r.check == "TLS" and r.verdict == "passed")
    details = dict.fromkeys(detail.removeprefix("TLS ") for detail in passed)
    return "; ".join("as usual" if detail == _USUAL_TLS else detail for detail in details) or NOTHING


def _verified(subject: Subject, record: PublicRecord | None, role: VerifiedRole) -> str:
    if record is None or not (results := record.record.of_role(role)):
        return "no"
    if not record.holds_for(subject):
        return f"changed since {record.record.time[:10]}"
    counts = Counter(result.verdict for result in results)
    passed, total = counts["passed"], len(results)
    shares = [f"all {total}" if passed == total else f"{passed} of {total}"]
    shares += [f"{counts[verdict]} {words}" for verdict, words in _SHORT.items() if counts[verdict]]
    return f"{record.record.time[:10]}: {', '.join(shares)}"


def _passed(subject: Subject, record: PublicRecord | None, role: VerifiedRole) -> bool:
    results = record.record.of_role(role) if record and record.holds_for(subject) else []
    return bool(results) and all(result.verdict != "failed" for result in results)


def _notes(subjects: Mapping[str, Subject]) -> list[str]:
    lines = [
        f"* **{name}** ({subject.title}, {subject.language}): {subject.note}"
        for name, subject in subjects.items()
        if subject.note
    ]
    return ["### Notes", "", *lines] if lines else []


def _shortcomings(subjects: Mapping[str, Subject], records: Mapping[str, PublicRecord]) -> list[str]:
    """Return lines on failed and unsupported checks, in the words of the verification."""
    rows = []
    for name, subject in subjects.items():
        record = records.get(name)
        if record is None or not record.holds_for(subject):
            continue
        for result in record.record.results:
            if result.verdict != "passed":
                where = f"{result.role}, {result.protocol}" + (", virtual clock" if result.clock == "virtual" else "")
                rows.append(
                    {
                        "subject": name,
                        "role": where,
                        "check": result.check,
                        "result": result.verdict,
                        "why": result.detail,
                    }
                )
    return ["## Checks that did not pass", "", *table(rows)] if rows else []


def _missing(missing: Sequence[RejectedSubject]) -> list[str]:
    rows = [
        {
            "name": rejected.name,
            "QUIC stack": rejected.stack,
            "what was tried": rejected.what,
            "why it is not here": rejected.why,
        }
        for rejected in missing
    ]
    return ["## What was tried without success", "", *table(rows)] if rows else []


def _installing(subjects: Mapping[str, Subject], records: Mapping[str, PublicRecord]) -> list[str]:
    rows = []
    for name, subject in subjects.items():
        record = records.get(name)
        rows.append(
            {
                "command": "part of h123" if subject.install.embedded else f"`h123 install {name}`{_with(subject)}",
                "needs": subject.install.needs_help or NOTHING,
                "size": format_bytes(record.bytes) if record and record.bytes else NOTHING,
                "time": format_span(record.seconds) if record and record.seconds is not None else NOTHING,
            }
        )
    machines = dict.fromkeys(_machine(record) for record in records.values())
    words = "Verifications and times of installation (some packages may have been downloaded before) are from"
    where = [f"{words} {'; '.join(machines)}."] if machines else []
    return ["### Installing", "", *where, *([""] if where else []), *table(rows)]


def _with(subject: Subject) -> str:
    return f", one with {subject.install.part_of}" if subject.install.part_of else ""


def _machine(record: PublicRecord) -> str:
    machine = record.record.machine
    system = f"{machine.get('distribution')}, Linux {machine.get('kernel')}"
    return f"{machine.get('cpus_usable')} processors ({machine.get('cpu')}), {system}"


def _licences(subjects: Mapping[str, Subject]) -> list[str]:
    lines = [
        "### Licences",
        "",
        "These licences apply to all installed parts that are not part of h123.",
        "",
    ]
    rows = []
    for name, subject in subjects.items():
        parts = ", ".join(f"{part.name} {part.version} ({part.licence})" for part in subject.parts)
        also = "; ".join(
            filter(None, [parts or f"{subject.title} {subject.version} ({subject.licence})", subject.parts_note])
        )
        rows.append({"subject": name, "licence": subject.licence, "parts": also})
    return [*lines, *table(rows)]
