"""Converts a client's raw samples from CSV to Parquet, and refuses files that violate the contract."""

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

import numpy as np

from h123.base.errors import UserError
from h123.base.files.textfile import csv_fault
from h123.documents.events import Values
from h123.documents.shapes import Reason
from h123.store.columns import (
    COLUMNS,
    FORMS,
    PHASES,
    REQUIRED,
    RETRIED_COLUMNS,
    SUCCESS_SQL,
    TEXT_COLUMNS,
    Sample,
    sql_type,
)
from h123.store.compact import LIMIT
from h123.store.parquet import DAMAGED, read_types
from h123.store.rows import Mask, Numbers, Rows, Texts
from h123.study.workload import OK, Exchange, WorkloadKind, workload_of

_EXAMPLES = 60
"""The number of characters of an unexpected value that a message shows."""
_AT_ONCE = 10_000
"""The number of rows that are read at a time. Their strings take far more memory than the numbers that result."""
_WHOLE = r"[ \t]*-?[0-9]+[ \t]*"
_NUMBER, _NUMBERS = re.compile(_WHOLE), re.compile(f"(?:{_WHOLE})?(?:,(?:{_WHOLE})?)*")
_FIELD = re.compile(r'("(?:[^"]|"")*"[^,]*|[^,]*)(?:,|$)')
"""A field as the file contains it, with its quotes."""


class _Malformed(ValueError):
    """Raised for a line that violates the contract."""


def ingest(partial: Path, parameters: Values) -> list[Reason]:
    """Convert `partial`/samples.csv to samples.parquet. Return the reasons, if any, that make the trial invalid.

    Of the trial's `parameters`, only the workload's are read. Reasons are `samples-missing`, `samples-malformed` (with
    the line; the CSV then stays for inspection), `wrong-protocol` and `wrong-size`. Raises OSError if the Parquet file
    cannot be written.
    """
    source, work = partial / "samples.csv", workload_of(parameters)
    columns = RETRIED_COLUMNS if work.retries else COLUMNS
    if not source.is_file() or source.stat().st_size == 0:
        return [_reason("samples-missing", "the client wrote no samples.csv")]
    try:
        rows = _read(source, columns)
    except UnicodeDecodeError:
        return [_reason("samples-malformed", "samples.csv: it is not UTF-8 text")]
    except _Malformed:
        return [_reason("samples-malformed", _first_fault(source, columns) or "samples.csv: it is not CSV")]
    if not rows.count:
        return [_reason("samples-missing", "samples.csv has a header but no rows")]
    rows.write(partial / "samples.parquet")
    source.unlink()
    return _negotiated(rows, work.protocols()) + _size_reasons(rows, work)


def _read(source: Path, columns: Sequence[str]) -> Rows:
    """Return all rows. Raises UnicodeDecodeError and _Malformed."""
    texts: dict[str, dict[str, int]] = {name: {} for name in TEXT_COLUMNS}
    codes, numbers = {name: [np.empty(0, np.int64)] for name in TEXT_COLUMNS}, dict[str, list[Numbers]]()
    for name in columns:
        if name not in TEXT_COLUMNS:
            numbers[name] = [Numbers(np.empty(0, np.int64), np.empty(0, np.bool_))]
    for batch in _batches(source, columns):
        for name, values in zip(columns, zip(*batch, strict=True), strict=True):
            if name in TEXT_COLUMNS:
                places = texts[name]
                codes[name].append(np.array([places.setdefault(value, len(places)) for value in values], np.int64))
            else:
                numbers[name].append(_numbers(values))
    rows = Rows(
        {name: Numbers.joined(parts) for name, parts in numbers.items()},
        {name: Texts(list(places), np.concatenate(codes[name])) for name, places in texts.items()},
    )
    if _suspicious(rows, {*texts["phase"]}) or (_has_quotes(source) and _first_fault(source, columns)):
        raise _Malformed
    return rows


def _batches(source: Path, columns: Sequence[str]) -> Iterator[list[list[str]]]:
    """Yield the rows after the header in batches. All rows must have as many fields as the header."""
    with source.open(encoding="utf-8", newline="") as file:
        if file.readline().rstrip("\r\n") != ",".join(columns):
            raise _Malformed
        lines = csv.reader(file)
        try:
            while batch := list(islice(lines, _AT_ONCE)):
                if any(len(row) != len(columns) for row in batch):
                    raise _Malformed
                yield batch
        except csv.Error:
            raise _Malformed from None


def _numbers(values: Sequence[str]) -> Numbers:
    """Parse a column of numbers. An empty text is an unknown number. Texts such as 1_000 are refused although int()
    accepts them."""
    if not _NUMBERS.fullmatch(",".join(values)):
        raise _Malformed
    try:
        numbers = np.array([int(value) if value else 0 for value in values], np.int64)
    except (ValueError, OverflowError):  # such as 1,000 in quotes
        raise _Malformed from None
    return Numbers(numbers, np.array([value != "" for value in values], np.bool_))


def _suspicious(rows: Rows, phases: set[str]) -> bool:
    """Return whether a row has the right types but an impossible value: an unknown phase, an empty required field, or a
    number beyond the limit."""
    numbers = {name: rows[name] for name in rows.names if name not in TEXT_COLUMNS}
    return (
        not phases <= {*PHASES}
        or any(not numbers[name].valid.all() for name in REQUIRED & {*numbers})
        or any(max(-int(of.values.min()), int(of.values.max())) >= LIMIT for of in numbers.values() if rows.count)
    )


def _has_quotes(source: Path) -> bool:
    """Return whether the file contains a quote. An empty field in quotes violates the contract, but would be read as an
    unknown number."""
    with source.open("rb") as file:
        return any(b'"' in part for part in iter(lambda: file.read(2**20), b""))


def _first_fault(source: Path, columns: Sequence[str]) -> str | None:
    """Return a message about the first line of the CSV that violates the contract. None if there is no such line."""
    with source.open(encoding="utf-8", errors="replace", newline="") as file:
        record: list[str] = []
        rows = csv.reader(_kept(file, record))
        try:
            if (header := next(rows, [])) != columns:
                return f"samples.csv, line 1: the header is {','.join(header)[:200]!r}, not {','.join(columns)!r}"
            record.clear()
            for row in rows:
                if fault := _fault(row, "".join(record).rstrip("\r\n"), columns):
                    return f"samples.csv, line {rows.line_num}: {fault}"
                record.clear()
        except csv.Error as error:
            return f"samples.csv, line {rows.line_num}: {csv_fault(error)}"
    return None


def _kept(lines: Iterable[str], record: list[str]) -> Iterator[str]:
    for line in lines:
        record.append(line)
        yield line


def _fault(row: list[str], record: str, columns: Sequence[str]) -> str | None:
    if len(row) != len(columns):
        return f"{len(row)} fields instead of {len(columns)}"
    for name, value, written in zip(columns, row, _FIELD.findall(record), strict=False):
        if name == "phase" and value not in PHASES:
            return f"phase is {value[:_EXAMPLES]!r}, not one of {', '.join(PHASES)}"
        if name in REQUIRED and not value:
            return f"{name} is empty"
        if name not in TEXT_COLUMNS and written and not _is_whole(value):
            return f"{name} is {(value or written)[:_EXAMPLES]!r}, not a whole number that a sample can have"
    return None


def _is_whole(value: str) -> bool:
    try:
        return bool(_NUMBER.fullmatch(value)) and -LIMIT < int(value) < LIMIT
    except ValueError:  # more digits than int() accepts
        return False


def _negotiated(rows: Rows, allowed: Sequence[str]) -> list[Reason]:
    other = rows.faultless & ~np.logical_or.reduce([rows.carried_by(protocol) for protocol in allowed])
    if not other.any():
        return []
    alternatives = " or ".join(map(repr, allowed))
    names = ", ".join(sorted({repr(name[:_EXAMPLES]) for name in rows.texts("protocol", other)})[:5])
    successes = f"{np.count_nonzero(other)} of {np.count_nonzero(rows.faultless)} successful requests"
    return [_reason("wrong-protocol", f"{successes} went over {names} instead of {alternatives}")]


def _size_reasons(rows: Rows, work: WorkloadKind) -> list[Reason]:
    """Return reasons if bodies have the wrong size. A client that accepts an incomplete response is faster than one
    that waits for all of it."""
    if fault := _stray(rows, len(work.exchanges())):
        return [_reason("samples-malformed", fault)]
    good, resource = rows.ok(work.statuses()), rows["resource"].values
    faults = [
        fault
        for number, exchange in enumerate(work.exchanges())
        if (fault := _size_fault(rows, good & (resource == number), exchange))
    ]
    return [_reason("wrong-size", faults[0])] if faults else []


def _stray(rows: Rows, resources: int) -> str | None:
    """Return a message if rows name no resource, or one that the workload does not define; otherwise None."""
    numbers = rows["resource"]
    listed = (numbers.values >= 0) & (numbers.values < resources) & (numbers.valid | (resources == 1))
    count = np.count_nonzero(~listed)
    return f"{count} rows do not name one of the workload's {resources} requests" if count else None


def _size_fault(rows: Rows, good: Mask, exchange: Exchange) -> str | None:
    """Return a message about wrong body sizes in successful requests for one resource, or None."""
    for column, size in (("bytes_up", exchange.up), ("bytes_down", exchange.down)):
        if size is None:
            continue
        others = rows[column].of(good & (rows[column].values != size))
        what = "requests" if column == "bytes_up" else "responses"
        if len(others):
            sizes = " to ".join(str(size) for size in dict.fromkeys((int(others.min()), int(others.max()))))
            count = f"{len(others)} of {np.count_nonzero(good)} {what}"
            return f"{count} had a body of {sizes} bytes instead of {size}"
    return None


def read_samples(file: Path, statuses: Sequence[int], *, measured: bool = False) -> list[Sample]:
    """Read the samples of a trial in the order of their starts and, for equal starts, of the times at which they were
    sent. `statuses` are the required statuses of the resources; a different status becomes an error such as `status
    404`. Raises UserError if a sample lacks a required value."""
    rows = Rows.read(file, measured=measured)
    samples = rows.samples()
    for number in np.flatnonzero(rows.faultless & ~rows.ok(statuses)).tolist():
        samples[number]["error"] = f"status {samples[number]['status']}"
    return sorted(samples, key=lambda row: (row["start_ns"], row["sent_ns"] or row["end_ns"]))


def succeeded_sql(statuses: Sequence[int]) -> str:
    """Return SQL that tests whether a request has no error and has the required status of its resource. If that status
    is 200, any status from 200 to 299 passes."""
    if set(statuses) == {OK}:
        return f"error = '' AND {SUCCESS_SQL.format(status='status')}"
    required = f"{list(statuses)}[coalesce(resource, 0) + 1]"
    return f"error = '' AND {answered_sql('status', required)}"


def answered_sql(status: str, required: str) -> str:
    """Return SQL that tests whether the status in the expression `status` satisfies the one in the expression
    `required`."""
    success = SUCCESS_SQL.format(status=status)
    return f"coalesce(CASE WHEN {required} = {OK} THEN {success} ELSE {status} = {required} END, false)"


def _reason(code: str, detail: str) -> Reason:
    return {"code": code, "detail": detail}


def unreadable(file: Path) -> str | None:
    """Return in words why a Parquet file cannot contain samples, or None if it can. Reads only the end of the file."""
    try:
        types = read_types(file)
    except (OSError, *DAMAGED):
        return "is not complete"
    as_written = [*types] in FORMS and all(types[name] == sql_type(name) for name in types)
    return None if as_written else "does not have the columns of samples"


def complaint(files: Iterable[Path], error: Exception) -> UserError:
    """Return the error about samples that cannot be read. It names the first file that cannot be read."""
    for file in files:
        try:
            Rows.read(file)
        except UserError as fault:
            return fault
    line = (str(error).splitlines() or [type(error).__name__])[0][:200]
    return UserError(f"the samples cannot be read: {line}", "restore the file from a copy")
