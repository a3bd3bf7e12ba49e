"""The lab's tables: from files of records that it writes without a thought to Parquet that takes little room."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from h123.durable import replacement
from h123.errors import UserError

Records = NDArray[Any]
"""An array of one of the lab's records."""


def read_records(source: Path, record: np.dtype[Any]) -> Records | None:
    """A file of them; None where it has no whole number of records, and so is not the lab's."""
    whole = source.stat().st_size % record.itemsize == 0
    return np.fromfile(source, dtype=record) if whole else None


def write_compact(table: pa.Table, target: Path, encodings: Mapping[str, str]) -> None:
    """Write it in one step, some columns in these encodings, the others with dictionaries. Raises OSError."""
    others = [name for name in table.column_names if name not in encodings]
    with replacement(target) as temporary, temporary.open("wb") as file:  # a name could be taken for a URI
        pq.write_table(
            table, file, compression="zstd", use_dictionary=others or False, column_encoding=dict(encodings) or None
        )


def read_compact(path: Path, what: str, columns: Sequence[str] | None = None) -> pa.Table:
    """Raises UserError where there is none, or it cannot be read; `what` is what a trial lacks then. `columns`: those
    that are read; None: all."""
    if not path.is_file():
        raise UserError(
            f"there is no {path}: its trial did not ask for {what}, is of an earlier version or did not begin"
        )
    try:
        return pq.read_table(path, columns=None if columns is None else list(columns))
    except (OSError, ValueError, pa.ArrowException) as fault:
        said = (str(fault).splitlines() or [type(fault).__name__])[0][:200]
        raise UserError(f"{path} cannot be read: {said}", "restore the file from a copy") from None
