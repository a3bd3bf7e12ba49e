"""Reads the lab's records of a link in a trial's folder. The lab writes NAME-LINK.bin, an array of records, which
becomes NAME-LINK.parquet (docs/contracts/trial.md)."""

from collections.abc import Container, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from h123.store.compact import Records, read_compact, read_records, write_compact

_SUFFIX = ".parquet"
_LEFT = "left_ns"
"""When a record left the link. If it never did, the lab's file contains 0, and the table no value."""


@dataclass(frozen=True)
class LinkRecords:
    """A kind of record about a link, such as packets or frames."""

    name: str
    """What is recorded, such as `packets`. File names begin with this word."""
    record: np.dtype[Any]
    """The lab's form of a record."""
    columns: Sequence[str]
    later: Container[str] = ()
    """Columns that tables from early versions lack. `read` returns 0 for them."""

    def file(self, folder: Path, link: str = "access") -> Path:
        return folder / f"{self.name}-{link}{_SUFFIX}"

    def read(self, folder: Path, link: str = "access", columns: Sequence[str] | None = None) -> Records:
        """Read the records of a link in a trial's folder. Columns that are not requested are 0. Raises UserError if
        there is no such file."""
        names = self.columns if columns is None else columns
        types = {name: self.record[name] for name in self.columns}
        table = read_compact(self.file(folder, link), f"a record of {self.name}", types, names, self.later, _LEFT)
        records = np.zeros(len(next(iter(table.values()))), self.record)
        for name in table:
            records[name] = np.ma.filled(table[name], 0)
        return records

    def write(self, records: Records, target: Path) -> None:
        """Write records to a file in the format that `read` expects. Raises OSError."""
        columns = {name: records[name] for name in self.columns}
        columns[_LEFT] = np.ma.masked_equal(records[_LEFT], 0)
        write_compact(columns, target)

    def tabulate(self, folder: Path) -> None:
        """Convert the lab's files in a trial's folder to tables. A file in a different format stays as it is. Raises
        OSError."""
        for source in folder.glob(f"{self.name}-*.bin"):
            if (records := read_records(source, self.record)) is not None:
                self.write(records, source.with_suffix(_SUFFIX))
                source.unlink()
