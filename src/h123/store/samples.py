"""Raw samples: from a client's CSV to Parquet, refusing whatever is not exactly by contract."""

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NotRequired, TypedDict

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

from h123.base.errors import UserError
from h123.base.files.durable import replacement
from h123.base.files.textfile import csv_fault
from h123.documents.events import Values
from h123.documents.shapes import Reason
from h123.store.compact import LIMIT, column_fault
from h123.study.workload import BEYOND_OK, LEAVING, OK, Exchange, WorkloadKind, workload_of

TEXT_COLUMNS = {"phase", "protocol", "error"}
TIME_COLUMNS = ["start_ns", "connected_ns", "sent_ns", "first_byte_ns", "end_ns"]
EARLIER_COLUMNS = [
    *("phase", "user", *TIME_COLUMNS, "status", "bytes_up", "bytes_down"),
    *("protocol", "connection", "reused", "error"),
]
"""Those that earlier versions' samples have."""
COLUMNS = [*EARLIER_COLUMNS, "group", "resource"]
RETRIED_COLUMNS = [*COLUMNS, "tries"]
"""Those of workloads whose requests are made again."""
REQUIRED = {"user", "start_ns", "end_ns", "status", "bytes_up", "bytes_down", "tries"}
"""Numbers that a measured sample always has, if its file has the column."""
_IMPORTED = {"phase", "start_ns", "status", "error", "tries"}
"""What even an imported sample always has."""
_MEASURED = {*REQUIRED, *TEXT_COLUMNS}
PHASES = ("cold", "warmup", "warm", LEAVING)
SUCCESS_SQL = f"({{status}} >= {OK} AND {{status}} < {BEYOND_OK})"
_EXAMPLES = 60
"""Characters of something that should not be there."""
RETRIED_SCHEMA = pa.schema([(name, pa.string() if name in TEXT_COLUMNS else pa.int64()) for name in RETRIED_COLUMNS])
SCHEMA = pa.schema([RETRIED_SCHEMA.field(name) for name in COLUMNS])
EARLIER_SCHEMA = pa.schema([SCHEMA.field(name) for name in EARLIER_COLUMNS])
_CODED = pa.dictionary(pa.int32(), pa.string())
SCHEMAS = (SCHEMA, RETRIED_SCHEMA, EARLIER_SCHEMA)
"""All that files of samples have."""


class Sample(TypedDict):
    """A row."""

    phase: str
    user: int
    start_ns: int
    connected_ns: int | None
    sent_ns: int | None
    first_byte_ns: int | None
    end_ns: int
    status: int
    bytes_up: int
    bytes_down: int
    protocol: str
    connection: int | None
    reused: int | None
    error: str
    group: int | None
    """The visit, page or journey of its user that it belongs to; None where there are none."""
    resource: int | None
    """What it is a request for, as the workload counts its resources; None: for the only one."""
    tries: NotRequired[int]
    """How often it was made; of workloads alone whose requests are made again."""


def ingest(partial: Path, parameters: Values) -> list[Reason]:
    """Turn `partial`/samples.csv into samples.parquet; return reasons that make the trial invalid, none if all is well.

    `parameters` are the trial's, of which those of its workload are read. Reasons are `samples-missing`,
    `samples-malformed` (with the line; the CSV then stays for inspection), `wrong-protocol` and `wrong-size`. Raises
    OSError where the Parquet cannot be written.
    """
    source, work = partial / "samples.csv", workload_of(parameters)
    schema = RETRIED_SCHEMA if work.retries else SCHEMA
    if not source.is_file() or source.stat().st_size == 0:
        return [_reason("samples-missing", "the client wrote no samples.csv")]
    try:
        table = _read(source, schema)
    except UnicodeDecodeError:
        return [_reason("samples-malformed", "samples.csv: its first line is not UTF-8 text")]
    except (ValueError, pa.ArrowException) as error:
        return [_reason("samples-malformed", _first_fault(source, schema.names) or f"samples.csv: {str(error)[:200]}")]
    if table.num_rows == 0:
        return [_reason("samples-missing", "samples.csv has a header and no rows")]
    if fault := _first_fault(source, schema.names) if _suspicious(table) else None:
        return [_reason("samples-malformed", fault)]
    write_samples(table, partial / "samples.parquet")
    source.unlink()
    return _negotiated(table, work.protocols()) + _size_reasons(table, work)


def _read(source: Path, schema: pa.Schema) -> pa.Table:
    with source.open(encoding="utf-8") as file:
        header = file.readline().rstrip("\r\n")
    if header != ",".join(schema.names):
        raise ValueError("the header is not the contract's")
    # Arrow would take Ctrl-C for itself, and lose it where it comes as the reading ends.
    pa.enable_signal_handlers(False)
    return pacsv.read_csv(
        source,
        read_options=pacsv.ReadOptions(use_threads=False),
        parse_options=pacsv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False),
        convert_options=pacsv.ConvertOptions(
            column_types=schema, null_values=[""], strings_can_be_null=False, quoted_strings_can_be_null=False
        ),
    )


def _suspicious(table: pa.Table) -> bool:
    """Whether a row is of the right types but says nothing sensible: an unknown phase, an empty necessary field, a
    number beyond the limit."""
    phases_known = pc.all(pc.is_in(table["phase"], value_set=pa.array(PHASES))).as_py()
    return (
        not phases_known or any(table[name].null_count for name in REQUIRED & {*table.column_names}) or _beyond(table)
    )


def _beyond(table: pa.Table) -> bool:
    bounds = [pc.min_max(table[name]).as_py() for name in table.column_names if name not in TEXT_COLUMNS]
    return any(value and max(-value, value) >= LIMIT for bound in bounds for value in bound.values())


def _first_fault(source: Path, columns: Sequence[str]) -> str | None:
    """The first line of the CSV that is not by contract, and why."""
    with source.open(encoding="utf-8", errors="replace", newline="") as file:
        rows = csv.reader(file)
        try:
            if (header := next(rows, [])) != columns:
                return f"samples.csv, line 1: the header is {','.join(header)[:200]!r}, not {','.join(columns)!r}"
            for row in rows:
                if fault := _fault(row, columns):
                    return f"samples.csv, line {rows.line_num}: {fault}"
        except csv.Error as error:
            return f"samples.csv, line {rows.line_num}: {csv_fault(error)}"
    return None


def _fault(row: list[str], columns: Sequence[str]) -> str | None:
    if len(row) != len(columns):
        return f"{len(row)} fields instead of {len(columns)}"
    for name, value in zip(columns, row, strict=True):
        if name == "phase" and value not in PHASES:
            return f"phase is {value[:_EXAMPLES]!r}, not one of {', '.join(PHASES)}"
        if name in REQUIRED and not value:
            return f"{name} is empty"
        if name not in TEXT_COLUMNS and value and not _is_whole(value):
            return f"{name} is {value[:_EXAMPLES]!r}, not a whole number that a sample can have"
    return None


def _is_whole(value: str) -> bool:
    try:
        return value.isascii() and -LIMIT < int(value) < LIMIT
    except ValueError:
        return False


def write_samples(table: pa.Table, target: Path) -> None:
    """Write a table of one of SCHEMAS in one step. Raises OSError.

    Numbers as differences from row to row: times mostly ascend, and the rest hardly changes. That takes less room than
    compressing them does, and far less time to read. Only errors, whose texts may be long, are compressed.
    """
    numbers = [name for name in table.column_names if name not in TEXT_COLUMNS]
    with replacement(target) as temporary, temporary.open("wb") as file:  # a name could be taken for a URI
        pq.write_table(
            table,
            file,
            compression={name: "zstd" if name == "error" else "none" for name in table.column_names},
            use_dictionary=sorted(TEXT_COLUMNS),
            column_encoding=dict.fromkeys(numbers, "DELTA_BINARY_PACKED"),
            write_statistics=False,
        )


def _negotiated(table: pa.Table, allowed: Sequence[str]) -> list[Reason]:
    succeeded = table.filter(pc.equal(table["error"], ""))
    negotiated = pc.is_in(succeeded["protocol"], value_set=pa.array(allowed))
    other = succeeded.filter(pc.invert(negotiated))
    if other.num_rows == 0:
        return []
    alternatives = " or ".join(map(repr, allowed))
    names = ", ".join(sorted({repr(name[:_EXAMPLES]) for name in other["protocol"].unique().to_pylist()})[:5])
    detail = f"{other.num_rows} of {succeeded.num_rows} successful requests went over {names} instead of {alternatives}"
    return [_reason("wrong-protocol", detail)]


def _size_reasons(table: pa.Table, work: WorkloadKind) -> list[Reason]:
    """Whoever counts a cut answer as a success is quicker than those who wait for the whole."""
    if fault := _stray(table, len(work.exchanges())):
        return [_reason("samples-malformed", fault)]
    good = table.filter(succeeded(table, work.statuses()))
    faults = [
        fault for number, exchange in enumerate(work.exchanges()) if (fault := _size_fault(_of(good, number), exchange))
    ]
    return [_reason("wrong-size", faults[0])] if faults else []


def _stray(table: pa.Table, resources: int) -> str | None:
    """Rows that tell of no resource, or of one that the workload does not have."""
    numbers = table["resource"] if resources > 1 else _resources(table)
    listed = pc.fill_null(pc.is_in(numbers, value_set=pa.array(range(resources))), False)
    count = pc.sum(pc.invert(listed)).as_py()
    return f"{count} rows do not say which of the workload's {resources} requests they are of" if count else None


def _of(table: pa.Table, resource: int) -> pa.Table:
    return table.filter(pc.equal(_resources(table), resource))


def _size_fault(good: pa.Table, exchange: Exchange) -> str | None:
    """What is wrong with the bodies of successful requests for one thing."""
    for column, size in (("bytes_up", exchange.up), ("bytes_down", exchange.down)):
        other = good if size is None else good.filter(pc.not_equal(good[column], size))
        what = "requests" if column == "bytes_up" else "answers"
        if size is not None and other.num_rows:
            sizes = " to ".join(str(size) for size in dict.fromkeys(pc.min_max(other[column]).as_py().values()))
            return f"{other.num_rows} of {good.num_rows} {what} had a body of {sizes} bytes instead of {size}"
    return None


def succeeded(table: pa.Table, statuses: Sequence[int]) -> pa.Array:
    """Whether each request has no error and the status that its resource must have; OK stands for all of success."""
    success = pc.and_(pc.greater_equal(table["status"], OK), pc.less(table["status"], BEYOND_OK))
    if set(statuses) == {OK}:
        answered: Any = success
    else:
        positions = pc.min_element_wise(_resources(table), len(statuses) - 1)
        required = pc.take(pa.array(statuses), positions)
        answered = pc.if_else(pc.equal(required, OK), success, pc.equal(table["status"], required))
    return pc.and_(pc.equal(table["error"], ""), answered)


def read_samples(file: Path, statuses: Sequence[int], *, measured: bool = False) -> list[Sample]:
    """Of a trial whose resources must be answered with these statuses, in the order of their start, and of those that
    are due together in that of their sending. An answer with another one has the error `status 404`.
    Raises UserError if a sample lacks a value that it must have."""
    table = pq.read_table(file)
    if fault := misshapen(table, measured=measured):
        raise UserError(f"{file} {fault}", "restore the file from a copy")
    answered, good = (
        pc.fill_null(column, False) for column in (pc.equal(table["error"], ""), succeeded(table, statuses))
    )
    status_text = pc.binary_join_element_wise("status", pc.cast(table["status"], pa.string()), " ")
    errors = pc.if_else(pc.and_not(answered, good), status_text, table["error"])
    rows: list[Sample] = table.set_column(table.column_names.index("error"), "error", errors).to_pylist()
    return sorted(rows, key=lambda row: (row["start_ns"], row["sent_ns"] or row["end_ns"]))


def _resources(table: pa.Table) -> pa.ChunkedArray:
    """The index of what each row is a request for, where there is more than one thing."""
    if "resource" not in table.column_names:  # in a file of an earlier version
        return pa.chunked_array([pa.array([0] * table.num_rows, pa.int64())])
    return pc.fill_null(table["resource"], 0)


def succeeded_sql(statuses: Sequence[int]) -> str:
    """The same in SQL."""
    if set(statuses) == {OK}:
        return f"error = '' AND {SUCCESS_SQL.format(status='status')}"
    required = f"{list(statuses)}[coalesce(resource, 0) + 1]"
    return f"error = '' AND {answered_sql('status', required)}"


def answered_sql(status: str, required: str) -> str:
    """Whether one expression is the status that the other one wants, in SQL."""
    success = SUCCESS_SQL.format(status=status)
    return f"coalesce(CASE WHEN {required} = {OK} THEN {success} ELSE {status} = {required} END, false)"


def _reason(code: str, detail: str) -> Reason:
    return {"code": code, "detail": detail}


def unreadable(file: Path) -> str | None:
    """Why a Parquet file cannot be one of samples, in words, by its end alone; None if it can."""
    try:
        return None if pq.read_schema(file) in SCHEMAS else "has other columns than samples"
    except (OSError, ValueError, pa.ArrowException):
        return "is not whole"


def misshapen(table: pa.Table, *, measured: bool = False) -> str | None:
    """Why a table cannot be one of samples, in words; None if it can. Texts may be coded. Some values may be missing in
    imported samples, but not in those that were `measured` here."""
    never_null = _MEASURED if measured else _IMPORTED
    if table.column_names not in [schema.names for schema in SCHEMAS]:
        return "has other columns than samples"
    for name in table.column_names:
        coded = pa.types.is_dictionary(table.schema.field(name).type)
        kind = _CODED if coded and name in TEXT_COLUMNS else RETRIED_SCHEMA.field(name).type
        if fault := column_fault(table, pa.field(name, kind, name not in never_null)):
            return f"is not as h123 writes it: {fault}"
    return None


def complaint(files: Iterable[Path], error: Exception) -> UserError:
    """Of samples that cannot be read, and the first file of which that can be said."""
    remedy = "restore the file from a copy"
    for file in files:
        try:
            other = misshapen(pq.read_table(file))
        except OSError as fault:
            return UserError(f"{file} cannot be read: {fault.strerror or 'it is no whole Parquet file'}", remedy)
        except (ValueError, pa.ArrowException):
            return UserError(f"{file} is not whole", remedy)
        if other:
            return UserError(f"{file} {other}", remedy)
    line = (str(error).splitlines() or [type(error).__name__])[0][:200]
    return UserError(f"the samples cannot be read: {line}", remedy)
