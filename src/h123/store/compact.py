"""Converts the lab's tables from files of fixed-size records to compact Parquet files, and reads those."""

from collections.abc import Container, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from h123.base.errors import UserError
from h123.store.parquet import DAMAGED, Column, Columns, read_columns, write_columns

LIMIT = 2**61
"""An upper limit for every number in a trial, so that the sum of two of them fits into 64 bits."""
Records = NDArray[Any]
"""An array of records of one kind."""
Types = Mapping[str, np.dtype[Any]]
"""The type of each column of a table."""
TEXT = np.dtype(object)
"""The type of a column of strings."""
_TYPE_NAMES = {"str": "text", "ndarray": "list", "dict": "structure", "bytes": "binary", "bytearray": "binary"}
"""Plain names for the types of the objects that DuckDB returns."""


def read_records(source: Path, record: np.dtype[Any]) -> Records | None:
    """Read a file of records. Return None if its size is not a multiple of a record's size, because then the lab did
    not write it."""
    whole = source.stat().st_size % record.itemsize == 0
    return np.fromfile(source, dtype=record) if whole else None


def write_compact(columns: Columns, target: Path) -> None:
    """Write a table atomically. Raises OSError."""
    write_columns(columns, target, "zstd")


def read_compact(
    path: Path,
    what: str,
    types: Types,
    columns: Sequence[str] | None = None,
    later: Container[str] = (),
    unknown: str | None = None,
) -> dict[str, Column]:
    """Read a table. Raises UserError if it does not exist, or if its columns do not have these `types`. The message
    about a missing table says that the trial did not request `what`. Only `columns` are read, or all if None. Columns
    in `later` may be missing. The column `unknown` may have empty values."""
    if not path.is_file():
        raise UserError(
            f"there is no {path}: its trial did not request {what}, is from an earlier version, or did not begin"
        )
    names = list(types) if columns is None else list(columns)
    try:
        # A pattern skips columns that are missing, without an error. The number of rows comes from a column that is
        # always present.
        table = read_columns(path, f"COLUMNS('^({'|'.join(names)})$')")
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}") from None
    except DAMAGED:
        raise UserError(f"{path} cannot be read: not a complete Parquet file", "restore the file from a copy") from None
    names = [name for name in names if name in table or name not in later]
    faults = (column_fault(name, table.get(name), types[name], nullable=name == unknown) for name in names)
    if fault := next(filter(None, faults), None):
        raise UserError(f"{path} is not as h123 writes it: {fault}", "restore the file from a copy")
    return {name: table[name] for name in names}


def column_fault(name: str, column: Column | None, kind: np.dtype[Any], *, nullable: bool) -> str | None:
    """Return in words what is wrong with a column of an untrusted table, or None."""
    if column is None:
        return f"it has no column {name}"
    if column.dtype != kind or (kind == TEXT and not _all_texts(column)):
        return f"column {name} is of type {_type_name(column)}, not {'text' if kind == TEXT else kind}"
    empty = np.count_nonzero(column.mask) if isinstance(column, np.ma.MaskedArray) else 0
    if empty and not nullable:
        return f"column {name} is empty in {empty} rows"
    # A rate without a limit is written as the largest number.
    if kind == np.int64 and not name.endswith("_rate") and (large := beyond(column)) is not None:
        return f"column {name} has the number {large}, which no trial can have"
    return None


def _all_texts(column: Column) -> bool:
    """Return whether a column of objects contains only strings, because lists and other values are objects too."""
    try:
        "".join(_known(column).tolist())
    except TypeError:
        return False
    return True


def _type_name(column: Column) -> str:
    if column.dtype != TEXT:
        return str(column.dtype)
    return " or ".join(sorted({_TYPE_NAMES.get(type(value).__name__, "object") for value in _known(column)}))


def _known(column: Column) -> Column:
    return column.data[~np.ma.getmaskarray(column)] if isinstance(column, np.ma.MaskedArray) else column


def beyond(column: Column) -> int | None:
    """Return a number in the column that is too large for arithmetic, or None."""
    known = _known(column)
    bounds = (int(known.min()), int(known.max())) if len(known) else ()
    return next((bound for bound in bounds if abs(bound) >= LIMIT), None)
