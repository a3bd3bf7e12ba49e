"""Shows the matrix of servers and clients: as a table in the terminal, and as a page that opens offline."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from h123.base.files.durable import write_atomically
from h123.base.files.journal import Line
from h123.catalogue import Subject
from h123.report import level
from h123.report.page.template import template
from h123.verification.matrix import Cell, Pairing, failures

Cells = Mapping[Pairing, Cell | None]
"""The cells in display order. None means that the pair has not been tried."""

_SIGNS = {"pass": ("✓", "green"), "fail": ("✗", "bold red"), "unsupported": ("·", "dim"), "not tried": ("?", "yellow")}
_CORNER, _GAP = "server \\ client", 2
_FAILURES_SHOWN = 20


def print_matrix(cells: Cells, console: Console) -> None:
    """Print servers as rows and clients as columns with a sign for each protocol, followed by totals and failures."""
    servers, clients, protocols = _sides(cells)
    for some in _fitting(clients, len(protocols), console.width - max(map(len, [_CORNER, *servers])) - _GAP):
        console.print(_table(cells, servers, some, protocols))
        console.print()
    signs = ", ".join(f"{sign} {word}" for word, (sign, _) in _SIGNS.items())
    console.print(f"{signs}; in each place {', '.join(map(level, protocols))}", style="dim")
    for line in totals(cells):
        console.print(line)
    failed_pairings = list(failures(cells))
    for pairing, method, result in failed_pairings[:_FAILURES_SHOWN]:
        where = f"  {pairing.server} / {pairing.client}, {level(pairing.protocol)} {method}: "
        console.print(Text(where, style="bold").append(result.reason, style="not bold"), soft_wrap=True)
    if len(failed_pairings) > _FAILURES_SHOWN:
        console.print(f"  and {len(failed_pairings) - _FAILURES_SHOWN} more, in the page")


def totals(cells: Cells) -> list[str]:
    """Count the outcomes and return a line for each protocol."""
    lines = []
    for protocol in _sides(cells)[2]:
        count = Counter(_outcome(cell) for pairing, cell in cells.items() if pairing.protocol == protocol)
        words = ", ".join(f"{count[word]} {word}" for word in _SIGNS if count[word])
        lines.append(f"{level(protocol)}: {words}")
    return lines


def write_matrix(cells: Cells, subjects: Mapping[str, Subject], events: Sequence[Line], path: Path) -> None:
    """Write the page with every outcome, and with the reason and the logs of each failure."""
    servers, clients, protocols = _sides(cells)
    runs = [event for event in events if event["event"] == "run"]
    content: dict[str, Any] = {
        "tables": [_protocol_table(cells, protocol) for protocol in protocols],
        "failures": list(failures(cells)),
        "totals": list(zip(protocols, totals(cells), strict=True)),
        "failed": {pairing.protocol for pairing, _, _ in failures(cells)},
        "subjects": [subjects[name] for name in dict.fromkeys([*servers, *clients])],
        "runs": runs,
        "signs": _SIGNS,
        "level": level,
    }
    write_atomically(path, template("h123.report.catalogue", "matrix.html.j2").render(**content))


def reasons(cell: Cell | None) -> str:
    """Describe a cell by the outcome of each HTTP method."""
    if cell is None:
        return "not tried yet"
    results = (f"{m}: {r.outcome}{f' ({r.reason})' if r.reason else ''}" for m, r in cell.results.items())
    return "; ".join(results)


def _outcome(cell: Cell | None) -> str:
    return cell.outcome if cell else "not tried"


def _sides(cells: Cells) -> tuple[list[str], list[str], list[str]]:
    names = zip(*((p.server, p.client, p.protocol) for p in cells), strict=True)
    servers, clients, protocols = (list(dict.fromkeys(side)) for side in names)
    return servers, clients, protocols


def _fitting(clients: Sequence[str], least: int, width: int) -> Iterator[list[str]]:
    """Yield groups of clients whose columns fit into the width."""
    group: list[str] = []
    for client in clients:
        if group and sum(_width(name, least) + _GAP for name in [*group, client]) > width:
            yield group
            group = []
        group.append(client)
    yield group


def _heading(name: str) -> str:
    """Break a name into several lines for a narrow column."""
    return name.replace("-", "-\n")


def _width(name: str, least: int) -> int:
    return max(least, *map(len, _heading(name).splitlines()))


def _table(cells: Cells, servers: Sequence[str], clients: Sequence[str], protocols: Sequence[str]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0))
    table.add_column(_CORNER, style="bold", no_wrap=True)
    for client in clients:
        table.add_column(_heading(client), vertical="bottom", no_wrap=True)
    for server in servers:
        row = []
        for client in clients:
            signs = [_SIGNS[_outcome(cells[Pairing(server, client, protocol)])] for protocol in protocols]
            row.append(Text.assemble(*signs))
        table.add_row(server, *row)
    return table


@dataclass(frozen=True)
class ProtocolTable:
    """The page's table for one protocol, without rows and columns in which no pair could run."""

    protocol: str
    clients: list[str]
    rows: list[tuple[str, list[dict[str, str]]]]
    """Each server with its cell for each client."""
    absent: list[str]


def _protocol_table(cells: Cells, protocol: str) -> ProtocolTable:
    servers, clients, _ = _sides(cells)
    pairings = [p for p, cell in cells.items() if p.protocol == protocol and _outcome(cell) != "unsupported"]
    down = [name for name in servers if name in {p.server for p in pairings}]
    across = [name for name in clients if name in {p.client for p in pairings}]
    rows = []
    for server in down:
        pairs = [Pairing(server, client, protocol) for client in across]
        rows.append((server, [_cell_content(pairing, cells[pairing]) for pairing in pairs]))
    absent = dict.fromkeys(
        [f"server {name}" for name in servers if name not in down]
        + [f"client {name}" for name in clients if name not in across]
    )
    return ProtocolTable(protocol, across, rows, list(absent))


def _cell_content(pairing: Pairing, cell: Cell | None) -> dict[str, str]:
    says = f"{pairing.server} / {pairing.client}: {reasons(cell)}"
    return {"name": pairing.name, "outcome": _outcome(cell), "says": says}
