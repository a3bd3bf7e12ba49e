"""Reads records of links: CSV with the columns in COLUMNS, and Mahimahi traces."""

import re
from itertools import pairwise
from pathlib import Path
from statistics import median

from h123.base.complaints import excerpt
from h123.base.errors import UserError
from h123.base.files.textfile import read_packed_text
from h123.study.networks.record import MOST_RECORD_NS, LinkRecord
from h123.study.networks.record_table import RecordTable

MOST_RECORD_BYTES, MOST_TRACE_LINES, MOST_ROWS = 10_000_000, 1_000_000, 100_000
COLUMNS = {"time_s": 1e9, "rate_mbit_s": 1e6, "delay_ms": 1e6, "loss_percent": 0.01}
"""The columns of a record, with the factors that convert their units to ns, bit/s, ns and fractions."""
_LARGEST = {"time_s": MOST_RECORD_NS / 1e9, "rate_mbit_s": 1e5, "delay_ms": 60_000, "loss_percent": 100}

_TRACE_LINE = re.compile(r"[ \t]{0,20}[0-9]{1,15}[ \t]{0,20}")


def read_record(path: Path) -> LinkRecord:
    """Return the record in a file, which is a Mahimahi trace if its first line is a number. Raises UserError."""
    text = read_packed_text(path, MOST_RECORD_BYTES)
    if is_trace(text):
        times = trace_in(path, text)
        return LinkRecord(period_ns=times[-1] * 1_000_000, at_ns=[0], trace_ms=times)
    return _from_table(RecordTable.of(path, text))


def read_trace(path: Path) -> list[int]:
    """Return the delivery opportunities of a Mahimahi trace, in ms. Raises UserError if the file is not a trace."""
    return trace_in(path, read_packed_text(path, MOST_RECORD_BYTES))


def is_trace(text: str) -> bool:
    """Return whether the text begins like a Mahimahi trace."""
    return _TRACE_LINE.fullmatch(text.partition("\n")[0].rstrip("\r")) is not None


def trace_in(path: Path, text: str) -> list[int]:
    """Return the delivery opportunities in the text of a Mahimahi trace, in ms. Raises UserError."""
    lines = text.splitlines()
    if len(lines) > MOST_TRACE_LINES:
        raise UserError(f"{path}: a trace can have at most {MOST_TRACE_LINES} lines; this one has {len(lines)}")
    times: list[int] = []
    for number, line in enumerate(lines, 1):
        if not _TRACE_LINE.fullmatch(line):
            raise UserError(f"{path}:{number}: {excerpt(line)} is not a number of milliseconds")
        if times and int(line) < times[-1]:
            raise UserError(f"{path}:{number}: {int(line)} comes after {times[-1]}; times must not decrease")
        times.append(int(line))
    if not times or times[-1] == 0:
        raise UserError(f"{path}: a trace needs at least one time of 1 ms or more: the last one is its period")
    if times[-1] * 1_000_000 > MOST_RECORD_NS:
        raise UserError(f"{path}:{len(lines)}: {times[-1]} ms is longer than 168 h, the longest that a trace can be")
    return times


def _from_table(table: RecordTable) -> LinkRecord:
    if unknown := [name for name in table.names if name not in COLUMNS]:
        wanted = f"a record has the columns {', '.join(COLUMNS)}"
        raise UserError(
            f"{table.path}:{table.line}: unknown column {excerpt(unknown[0])}; {wanted}",
            remedy="`h123 network import` reads other columns",
        )
    if "time_s" not in table.names or len(table.names) < 2:
        raise UserError(f"{table.path}:{table.line}: a record has the column time_s, and at least one of the others")
    if not 2 <= len(table.rows) <= MOST_ROWS:
        raise UserError(f"{table.path}: a record has from 2 to {MOST_ROWS} rows; this one has {len(table.rows)}")
    columns = {name: [_value(table, line, name, cells[i]) for line, cells in table.rows] for i, name in table.columns()}
    times = [round(time) for time in columns["time_s"]]
    for (line, _), earlier, later in zip(table.rows[1:], times, times[1:], strict=False):
        if later <= earlier:
            raise UserError(
                f"{table.path}:{line}: {later / 1e9:g} s comes after {earlier / 1e9:g} s; times must increase"
            )
    last_ns = int(median(later - earlier for earlier, later in pairwise(times)))
    return LinkRecord(
        period_ns=times[-1] - times[0] + last_ns,
        at_ns=[time - times[0] for time in times],
        bps=_whole(columns.get("rate_mbit_s")),
        delay_ns=_whole(columns.get("delay_ms")),
        loss=columns.get("loss_percent"),
    )


def _value(table: RecordTable, line: int, name: str, cell: str) -> float:
    value = table.number(line, name, cell)
    if value is None or not 0 <= value <= _LARGEST[name]:
        raise UserError(f"{table.path}:{line}: {name} is {excerpt(cell)}; it must be from 0 to {_LARGEST[name]:g}")
    return value * COLUMNS[name]


def _whole(column: list[float] | None) -> list[int] | None:
    return None if column is None else [round(value) for value in column]
