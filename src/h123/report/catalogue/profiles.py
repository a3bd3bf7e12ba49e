"""Writes docs/profiles.md: what holds each server and client back in the standard situations."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from h123.base.files.durable import write_atomically
from h123.base.paths import project_root
from h123.base.terminal.markdown import NOTHING, table
from h123.catalogue import Subject
from h123.documents.campaign_file import VerifiedRole
from h123.verification import PublicRecord
from h123.verification.profile import SITUATIONS, SituationResult, holding_words, slowness

_HEAD = """\
# What limits servers and clients

This page explains the profiles of servers and clients, which show what limits them. `h123 profile NAME`
measures one on your machine, under the [virtual clock](virtual-clock.md), where processing takes no time.
`h123 publish` writes this page from [verified/](verified); do not edit it.

The tables have a column for each situation. A cell gives the mean time of a request as a multiple of the minimum:
a round trip plus the time to send the body at the link's rate. It also names each [cause](why.md) that accounts for at
least a tenth of the mean time. The other end is the `go` server or client. HTTP/1.1 and HTTP/2 use the kernel's TCP,
with CUBIC.

* *64 kB in flight*: at most 64 kB were in flight in any round trip.
* *Sent in bursts*: the QUIC stack sends all data of a round trip within a tenth of it.

The first time in each description is the round trip:"""

_TABLES = """\
`h123 list subjects NAME` prints one profile.

*All profiles: run `make docs`, then open `target/docs/profiles.html`.*

<!-- generated: profiles -->"""


def write_profiles() -> Path:
    """Write the page, with a placeholder for the tables that the site inserts, and return its path."""
    path = project_root() / "docs" / "profiles.md"
    write_atomically(path, profiles_page())
    return path


def profiles_page() -> str:
    """Return the page in Markdown, with a placeholder for the tables."""
    listed = [f"* **{situation.title}**: {situation.description}" for situation in SITUATIONS]
    return "\n\n".join([_HEAD, "\n".join(listed), _TABLES]) + "\n"


def profile_tables(subjects: Mapping[str, Subject], records: Mapping[str, PublicRecord]) -> str:
    parts = [_role(role, subjects, records) for role in ("server", "client")]
    return "\n\n".join("\n".join(part) for part in parts if part) + "\n"


def _role(role: VerifiedRole, subjects: Mapping[str, Subject], records: Mapping[str, PublicRecord]) -> list[str]:
    rows = [row for name, subject in subjects.items() for row in _rows(subject, role, records.get(name))]
    return [f"## {role.capitalize()}s", "", *table(rows), *_missing(role, subjects, rows)] if rows else []


def _missing(role: VerifiedRole, subjects: Mapping[str, Subject], rows: Sequence[Mapping[str, str]]) -> list[str]:
    """Name the subjects of the role that have no row, so that readers do not take the table for the whole catalogue."""
    there = {row[role] for row in rows}
    able = (name for name, subject in subjects.items() if getattr(subject, role) is not None)
    names = sorted(name for name in able if name not in there)
    return ["", f"No profile has been published for: {', '.join(names)}."] if names else []


def _rows(subject: Subject, role: VerifiedRole, record: PublicRecord | None) -> Iterator[dict[str, str]]:
    there = record.record.profile if record and record.holds_for(subject) else None
    mine = [holding for holding in there or [] if holding.role == role]
    for protocol in dict.fromkeys(holding.protocol for holding in mine):
        cells = {holding.situation: _cell(holding) for holding in mine if holding.protocol == protocol}
        cells_by_title = {situation.title: cells.get(situation.name, NOTHING) for situation in SITUATIONS}
        yield {role: subject.name, "over": protocol, **cells_by_title}


def _cell(result: SituationResult) -> str:
    return f"x{slowness(result)}: {holding_words(result)}" if result.seconds is not None else NOTHING
