"""Writes docs/constants.md: the constants in the stacks' own source code, next to what packets show."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from h123.base.files.durable import write_atomically
from h123.base.paths import project_root
from h123.base.terminal.markdown import NOTHING, table
from h123.catalogue import QUIC, DeclaredConstants, Subject, catalogue, load_declared_constants
from h123.verification import PublicRecord, public_records
from h123.verification.constants import DeclaredComparison, compared

_HEAD = """\
# Do packets agree with the source code?

This page compares constants in the source code of transport stacks, such as the initial window, with the values that
packets show. The code's values, with line numbers, are in [subjects/constants.toml](../subjects/constants.toml), and
the measured values in [verified/](verified). `h123 verify NAME` measures the constants of a server on your machine, in
the [virtual kernel](virtual-clock.md). `python tools/sources.py SOURCE VERSION FOLDER` prints the cited lines of a
source that you have unpacked. `h123 publish` writes this page, so do not edit it."""
_TABLE = """\
*All constants, with the lines of the source: run `make docs`, then open `target/docs/constants.html`.*

<!-- generated: constants -->"""
_RULES = """\
For each server and congestion controller, h123 compares up to three constants. Packets agree with the source code if
they stay within these limits:

* **initial window**: Over TCP, the first flight must have exactly the source's number of packets. QUIC counts bytes:
  the first flight's full packets must fill the window to within one packet. If the source gives the window in packets
  but not their size, h123 uses the stack's initial packet size.
* **window after a loss**: The share of the window that remains may be up to 0.03 below the source's factor, or up to
  0.08 above it, because the window grows for two round trips before h123 measures it. BBR has no such factor.
* **time to retransmit a lost tail**: The time until a response's lost last packets are sent again must match the
  source's formula for a round trip of 2 ms, plus up to 1.5 ms for timers. The formula of RFC 9002 (6.2.1) gives 28 to
  31 ms: the round trip, four times its variation (at least 1 ms), and the receiver's maximum acknowledgement delay,
  here 25 ms. Over TCP, h123 uses the second retransmission, because the first may be an earlier tail loss probe."""


_FIELDS = "Each entry names the server, the protocol, the congestion controller and the constant."


@dataclass(frozen=True)
class DeclarationCheck:
    """The declared constants of one stack, and what its subject's packets show."""

    declared: DeclaredConstants
    comparisons: Sequence[DeclaredComparison]
    """The comparisons of constants; empty without a valid measurement."""

    @property
    def server(self) -> str:
        """The server's name on the page. Over TCP, the kernel's name comes first, because the kernel sends the
        packets."""
        return (
            self.declared.subject
            if self.declared.protocol == QUIC
            else f"{self.declared.source} (server {self.declared.subject})"
        )

    @property
    def over(self) -> str:
        """The protocol and the congestion controller: `h3, cubic`."""
        return f"{self.declared.protocol}, {self.declared.congestion}"


def write_constants() -> Path:
    """Write the page from the project's committed files and return its path. Raises UserError if one of the files is
    invalid."""
    path = project_root() / "docs" / "constants.md"
    write_atomically(path, constants_page(check_declarations(load_declared_constants(), catalogue(), public_records())))
    return path


def check_declarations(
    every: Sequence[DeclaredConstants], subjects: Mapping[str, Subject], records: Mapping[str, PublicRecord]
) -> Sequence[DeclarationCheck]:
    """Compare each declaration with what the verification of its subject measured. A verification counts only if the
    subject's files have not changed since."""
    return [
        DeclarationCheck(
            declared, _comparisons(declared, subjects.get(declared.subject), records.get(declared.subject))
        )
        for declared in every
    ]


def _comparisons(
    constants: DeclaredConstants, subject: Subject | None, record: PublicRecord | None
) -> list[DeclaredComparison]:
    if subject is None or record is None or not record.holds_for(subject):
        return []
    key = ("server", constants.protocol, constants.congestion)
    for constants_seen in record.record.constants or []:
        if (constants_seen.role, constants_seen.protocol, constants_seen.congestion) == key:
            return compared(constants, constants_seen)
    return []


def constants_page(every: Sequence[DeclarationCheck]) -> str:
    """Return the whole page in Markdown, with a placeholder for the table that the site inserts."""
    parts = [[_HEAD], [_summary(every)], [_RULES], [_TABLE], _differences(every), _sources(every)]
    return "\n\n".join("\n".join(part) for part in parts if part) + "\n"


def _summary(every: Sequence[DeclarationCheck]) -> str:
    all_of_them = [comparison for check in every for comparison in check.comparisons]
    same = sum(comparison_of_all.agrees for comparison_of_all in all_of_them)
    servers = len({check.declared.subject for check in every if check.comparisons})
    differ = len(all_of_them) - same
    rest = f" For the other {differ}, see [differences](#differences)." if differ else ""
    return f"{same} of {len(all_of_them)} constants of {servers} servers agree with the source code.{rest}"


def constants_table(every: Sequence[DeclarationCheck]) -> list[str]:
    rows = []
    for check in every:
        declaration = check.declared
        for comparison in check.comparisons:
            rows.append(
                {
                    "server": check.server,
                    "over": check.over,
                    "constant": comparison.constant,
                    "its source says": comparison.says,
                    "where": f"{declaration.source} {declaration.version}: "
                    + ", ".join(f"`{line}`" for line in comparison.where),
                    "packets show": comparison.shows or NOTHING,
                    "the same": "yes" if comparison.agrees else "**no**",
                }
            )
        if not check.comparisons:
            rest = dict.fromkeys(("its source says", "where", "packets show", "the same"), NOTHING)
            rows.append(
                {"server": check.server, "over": check.over, "constant": "current version not measured", **rest}
            )
    return list(table(rows))


def _differences(every: Sequence[DeclarationCheck]) -> list[str]:
    lines = [
        f"* **{check.server}**, {check.over}, {comparison.constant}: {comparison.differs or 'No reason is known yet.'}"
        for check in every
        for comparison in check.comparisons
        if not comparison.agrees
    ]
    return ["## Differences", "", _FIELDS, "", *lines] if lines else []


def _sources(every: Sequence[DeclarationCheck]) -> list[str]:
    rows: dict[tuple[str, str, str, str], list[str]] = {}
    for check in every:
        declaration = check.declared
        rows.setdefault(
            (declaration.source, declaration.version, declaration.read_from, declaration.otherwise), []
        ).append(check.server)
    listed = [
        {
            "source": source,
            "version read": version,
            "from": read_from,
            "servers": ", ".join(dict.fromkeys(servers)),
            "why not the installed version": otherwise or NOTHING,
        }
        for (source, version, read_from, otherwise), servers in rows.items()
    ]
    return ["## Sources", "", *table(listed)] if listed else []
