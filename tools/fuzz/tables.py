"""Forges Parquet files: it removes each column of a table, or gives it values that it must not have."""

import io
from collections.abc import Callable, Iterator

import pyarrow as pa
import pyarrow.parquet as pq
from forging import Forgery

Column = pa.ChunkedArray
VALUES: dict[str, Callable[[Column], pa.Array]] = {
    "null": lambda column: pa.nulls(len(column), column.type),
    "nothing": lambda column: pa.nulls(len(column)),
    "half null": lambda column: pa.array([x if n % 2 else None for n, x in enumerate(column.to_pylist())], column.type),
    "words": lambda column: pa.array(["x"] * len(column)),
    "half a character": lambda column: pa.array([b"\xed\xa0\x80"] * len(column), pa.binary()),
    "escapes": lambda column: pa.array(["\x1b[31m"] * len(column)),
    "2^63 - 1": lambda column: pa.array([2**63 - 1] * len(column), pa.int64()),
    "2^64 - 1": lambda column: pa.array([2**64 - 1] * len(column), pa.uint64()),
    "-2^63": lambda column: pa.array([-(2**63)] * len(column), pa.int64()),
    "minus one": lambda column: pa.array([-1] * len(column), pa.int64()),
    "zero": lambda column: pa.array([0] * len(column), column.type) if pa.types.is_integer(column.type) else column,
    "not a number": lambda column: pa.array([float("nan")] * len(column)),
    "truth": lambda column: pa.array([True] * len(column)),
    "lists": lambda column: pa.array([[1]] * len(column)),
    "structures": lambda column: pa.array([{"a": 1}] * len(column)),
    "moments": lambda column: pa.array([0] * len(column), pa.timestamp("ns")),
    "codes": lambda column: pa.array(["x"] * len(column)).dictionary_encode(),
}


def forged_tables(file: bytes) -> Iterator[Forgery]:
    """Yield all forgeries of a table."""
    table = pq.read_table(io.BytesIO(file))
    yield Forgery("no rows", _written(table.slice(0, 0)))
    yield Forgery("one row", _written(table.slice(0, 1)))
    yield Forgery("rows twice", _written(pa.concat_tables([table, table])))
    yield Forgery("columns in another order", _written(table.select(table.column_names[::-1])))
    yield Forgery("one more column", _written(table.append_column("x", pa.array([1] * table.num_rows))))
    for at, name in enumerate(table.column_names):
        yield Forgery(f"{name} := gone", _written(table.remove_column(at)))
        yield Forgery(f"{name} := twice", _written(table.append_column(name, table[name])))
        for value, made in VALUES.items():
            yield Forgery(f"{name} := {value}", _written(table.set_column(at, name, made(table[name]))))


def _written(table: pa.Table) -> bytes:
    file = io.BytesIO()
    pq.write_table(table, file)
    return file.getvalue()
