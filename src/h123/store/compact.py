"""The lab's tables: from files of records that it writes without a thought to Parquet that takes little room."""

from collections.abc import Container, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from h123.base.errors import UserError
from h123.base.files.durable import replacement

LIMIT = 2**61
"""No number of a trial is larger: what is computed of two of them is still one of 64 bits."""
Records = NDArray[Any]
"""An array of one of the lab's records."""


def read_records(source: Path, record: np.dtype[Any]) -> Records | None:
    """A file of them; None where it has no whole number of records, and so is not the lab's."""
    whole = source.stat().st_size % record.itemsize == 0
    return np.fromfile(source, dtype=record) if whole else None


def write_compact(table: pa.Table, target: Path, encodings: Mapping[str, str]) -> None:
    """Write it in one step, some columns in these encodings, the others with dictionaries. Raises OSError."""
    dictionaries = [name for name in table.column_names if name not in encodings]
    with replacement(target) as temporary, temporary.open("wb") as file:  # a name could be taken for a URI
        pq.write_table(
            table,
            file,
            compression="zstd",
            use_dictionary=dictionaries or False,
            column_encoding=dict(encodings) or None,
        )


def schema_of(record: np.dtype[Any], columns: Sequence[str], unknown: str) -> pa.Schema:
    """Of such a table; `unknown` is the column whose rows may be empty."""
    return pa.schema([pa.field(name, pa.from_numpy_dtype(record[name]), name == unknown) for name in columns])


def read_compact(
    path: Path, what: str, schema: pa.Schema, columns: Sequence[str] | None = None, later: Container[str] = ()
) -> pa.Table:
    """Raises UserError where there is none, or it is not like `schema`; `what` is what a trial lacks then. `columns`:
    those that are read; None: all of the schema. Those that are `later` may be missing."""
    if not path.is_file():
        raise UserError(
            f"there is no {path}: its trial did not ask for {what}, is of an earlier version or did not begin"
        )
    names = schema.names if columns is None else list(columns)
    try:
        with pq.ParquetFile(path) as file:  # which leaves out, and does not complain of, columns that are not there
            table = file.read(columns=names)
    except (OSError, ValueError, pa.ArrowException):
        raise UserError(f"{path} cannot be read: it is no whole Parquet file", "restore the file from a copy") from None
    names = [name for name in names if name in table.column_names or name not in later]
    if fault := next((fault for name in names if (fault := column_fault(table, schema.field(name)))), None):
        raise UserError(f"{path} is not as h123 writes it: {fault}", "restore the file from a copy")
    return table.select(names)


def column_fault(table: pa.Table, field: pa.Field) -> str | None:
    """What is wrong with a column of a table that anybody may have written, in words; None: nothing."""
    if (count := table.column_names.count(field.name)) != 1:
        return f"it has {f'{count} columns' if count else 'no column'} {field.name}"
    column = table[field.name]
    if column.type != field.type:
        return f"column {field.name} is of type {column.type}, not {field.type}"
    if column.null_count and not field.nullable:
        return f"column {field.name} is empty in {column.null_count} rows"
    # A rate that nothing limits is as large as can be.
    if pa.types.is_int64(field.type) and not field.name.endswith("_rate") and (large := _beyond(column)) is not None:
        return f"column {field.name} has the number {large}, which no trial can have"
    return None


def _beyond(column: pa.ChunkedArray) -> int | None:
    """A number that arithmetic could not bear; None: there is none."""
    bounds = pc.min_max(column).as_py()
    return next((bound for bound in bounds.values() if bound is not None and abs(bound) >= LIMIT), None)
