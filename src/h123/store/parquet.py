"""Reads and writes Parquet files with DuckDB, as one array per column. Equal columns always give equal files."""

import errno
import os
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
from numpy.typing import NDArray

from h123.base.errors import interruptible
from h123.base.files.durable import replacement

Column = NDArray[Any]
"""An array with one value per row; a masked array if values are missing. Strings are objects."""
Columns = Mapping[str, Column]
"""Columns by name, in the order of the file."""
DAMAGED = (duckdb.Error, ValueError)
"""Errors from reading a damaged file. ValueError means that a name or a string in the file is not UTF-8."""
_CONFIGURATION: dict[str, str | bool | int | float | list[str]] = {
    "threads": 1,
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
}
"""A single thread keeps rows in their order. No file can make DuckDB load extensions."""
_FORM = "FORMAT parquet, PARQUET_VERSION v2, WRITE_BLOOM_FILTER false, USE_TMP_FILE false"
"""Version 2 stores numbers as differences between rows if few values repeat, which suits ascending times."""


class _Connections(threading.local):
    """A connection for each thread of a process. A forked process makes its own connections and does not close
    inherited ones, because that would wait for threads that exist only in the parent."""

    def __init__(self) -> None:
        self._of_process: dict[int, duckdb.DuckDBPyConnection] = {}

    def get(self) -> duckdb.DuckDBPyConnection:
        if not (connection := self._of_process.get(os.getpid())):
            connection = self._of_process[os.getpid()] = duckdb.connect(":memory:", config=_CONFIGURATION)
            # Files are named by descriptors, which are reused for other files.
            connection.execute("SET enable_external_file_cache = false")
            connection.execute("SET enable_progress_bar = false")
        return connection


_CONNECTIONS = _Connections()


def read_columns(path: Path, selection: str = "*") -> dict[str, Column]:
    """Read the columns that `selection` names in SQL. Raises OSError if the file cannot be opened, and one of DAMAGED
    if it is not a complete Parquet file or lacks such columns."""
    with path.open("rb") as file:
        return _fetched(f"SELECT {selection} FROM {_source(file.fileno())}")


def read_types(path: Path) -> dict[str, str]:
    """Return the type of each column in DuckDB, reading only the end of the file. Raises the same errors as
    `read_columns`."""
    with path.open("rb") as file:
        described = _fetched(f"DESCRIBE FROM {_source(file.fileno())}")
    return dict(zip(described["column_name"].tolist(), described["column_type"].tolist(), strict=True))


def _source(descriptor: int) -> str:
    """Return SQL for the file. A path could be mistaken for a pattern or an address, but a descriptor cannot."""
    return f"read_parquet('/proc/self/fd/{descriptor}')"


def _fetched(query: str) -> dict[str, Column]:
    try:
        with interruptible():
            columns: dict[str, Column] = _CONNECTIONS.get().execute(query).fetchnumpy()
    except duckdb.OutOfMemoryException as error:
        raise MemoryError(str(error)) from None
    return columns


def write_columns(columns: Columns, target: Path, compression: str) -> None:
    """Write columns to a file atomically. Raises OSError."""
    # A column of strings that are all missing, or that has no rows, needs an explicit type.
    types = {name: "::VARCHAR" if column.dtype == object else "" for name, column in columns.items()}
    listed = ", ".join(f'"{name}"{kind} AS "{name}"' for name, kind in types.items())
    connection = _CONNECTIONS.get()
    with interruptible(), replacement(target) as temporary, temporary.open("wb") as file:
        try:
            connection.register("_columns", {name: column.copy() for name, column in columns.items()})
            connection.execute(
                f"COPY (SELECT {listed} FROM _columns) TO '/proc/self/fd/{file.fileno()}' "
                f"({_FORM}, COMPRESSION {compression})"
            ).fetchall()
        except duckdb.IOException as error:
            raise _system_error(error) from None
        finally:
            connection.unregister("_columns")


def _system_error(error: duckdb.IOException) -> OSError:
    """Return the error that Python would raise. DuckDB gives the system's error only in words."""
    message = str(error)
    number = next((code for code in errno.errorcode if os.strerror(code) in message), errno.EIO)
    return OSError(number, os.strerror(number))


def text_column(values: Sequence[str | None]) -> Column:
    """Return a column of strings. None marks a missing one."""
    missing = np.array([value is None for value in values], np.bool_)
    texts = np.empty(len(values), object)
    texts[:] = ["" if value is None else value for value in values]
    return np.ma.masked_array(texts, missing) if missing.any() else texts


def number_column(values: Sequence[int | None]) -> Column:
    """Return a column of numbers. None marks a missing number. Raises OverflowError for a number of more than 64
    bits."""
    missing = np.array([value is None for value in values], np.bool_)
    numbers = np.array([0 if value is None else value for value in values], np.int64)
    return np.ma.masked_array(numbers, missing) if missing.any() else numbers
