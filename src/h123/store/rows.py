"""The samples of one attempt as arrays: a number of each row and whether it is known, a text by its code."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import cast

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from h123.base.errors import UserError
from h123.store.compact import LIMIT
from h123.store.samples import SCHEMA, TEXT_COLUMNS, Sample, complaint, misshapen
from h123.study.workload import ABANDONED, BEYOND_OK, OK

Mask = NDArray[np.bool_]
Integers = NDArray[np.int64]
_TEXT = pa.dictionary(pa.int32(), pa.string())
_CODED = pa.schema([(field.name, _TEXT if field.name in TEXT_COLUMNS else field.type) for field in SCHEMA])
"""As Parquet files are read."""


def _one_piece(column: pa.ChunkedArray) -> pa.Array:
    """One piece of what has several; a copy is made only of those."""
    return column.chunk(0) if column.num_chunks == 1 else column.unify_dictionaries().combine_chunks()


def _array(column: pa.Array, unknown: int) -> tuple[Integers, Mask | None]:
    """Its numbers, `unknown` for null, and which are not null; None: all. Arrow's own ways, `to_numpy` and `fill_null`,
    import all of pandas, in each process that reads."""
    whole = pa.Array.from_buffers(column.type, len(column), [None, column.buffers()[1]], offset=column.offset)
    values = cast(Integers, np.from_dlpack(whole))
    if not column.null_count:
        return values, None
    valid = np.from_dlpack(column.is_valid().cast(pa.uint8())).view(np.bool_)
    return np.where(valid, values, unknown), valid


@dataclass(frozen=True)
class Numbers:
    """A column, or what is computed of two. Where it is not known the value says nothing."""

    values: Integers
    valid: Mask

    def __sub__(self, other: "Numbers") -> "Numbers":
        return Numbers(self.values - other.values, self.valid & other.valid)

    def least(self, where: Mask) -> int | None:
        """The least of what is known `where`; None if nothing is."""
        some = self.of(where)
        return int(some.min()) if len(some) else None

    def most(self, where: Mask) -> int | None:
        """The largest, likewise."""
        some = self.of(where)
        return int(some.max()) if len(some) else None

    def total(self, where: Mask) -> int | None:
        """The sum, likewise, which may have more than 64 bits."""
        some = self.of(where)
        return (int((some >> 32).sum()) << 32) + int((some & 0xFFFFFFFF).sum()) if len(some) else None

    def of(self, where: Mask) -> Integers:
        """All that is known `where`, in the order of the rows."""
        return self.values[where & self.valid]

    def after(self, other: "Numbers") -> Mask:
        """Where both are known and the other one is larger: out of their order, if this should be the later one."""
        return self.valid & other.valid & (self.values < other.values)


class Rows:
    """All rows of a Parquet file of samples."""

    def __init__(self, table: pa.Table) -> None:
        """Of a table with some columns of samples, those of text as dictionaries. Raises ValueError for a number
        beyond `LIMIT`."""
        self._columns = {name: _one_piece(table[name]) for name in table.column_names}
        self.count: int = table.num_rows
        self._numbers: dict[str, Numbers] = {}
        self._codes: dict[str, tuple[list[str], Integers]] = {}
        self._phases: dict[str, Mask] = {}

    @classmethod
    def of(cls, samples: Sequence[Sample]) -> "Rows":
        """Of some that were read by themselves."""
        return cls(pa.Table.from_pylist(list(samples), schema=_CODED))

    @classmethod
    def read(cls, file: Path, *, measured: bool = False) -> "Rows":
        """Raises UserError if the file is damaged; `measured` samples must have all that a client writes."""
        texts = sorted(TEXT_COLUMNS)
        try:
            # Small files: all at once is less work than a piece for each column.
            whole = pa.BufferReader(file.read_bytes())
            with pq.ParquetFile(whole, read_dictionary=texts, pre_buffer=False) as samples:
                table = samples.read(use_threads=False)
            fault = misshapen(table, measured=measured)
        except (OSError, LookupError, ValueError, pa.ArrowException) as error:  # LookupError: no such column
            raise complaint([file], error) from None
        if fault:
            raise UserError(f"{file} {fault}", "restore the file from a copy")
        return cls(table)

    def __getitem__(self, name: str) -> Numbers:
        """A column of numbers; nothing is known of one that the file does not have."""
        if name not in self._numbers:
            self._numbers[name] = self._read(name)
        return self._numbers[name]

    def _read(self, name: str) -> Numbers:
        column = self._columns.get(name)
        if column is None or column.null_count == self.count:
            return Numbers(np.zeros(self.count, np.int64), np.zeros(self.count, np.bool_))
        values, valid = _array(column, 0)
        if max(-int(values.min()), int(values.max())) >= LIMIT:
            raise ValueError(f"{name} has a number that no sample can have")
        return Numbers(values, self.every if valid is None else valid)

    def texts(self, name: str, where: Mask) -> list[str]:
        """The different texts of a column `where`, by alphabet."""
        values, codes = self._coded(name)
        # Counted from the rows without a text on, whose code is -1.
        present: list[int] = np.flatnonzero(np.bincount(codes[where] + 1, minlength=1)[1:]).tolist()
        return sorted(values[code] for code in present)

    def _coded(self, name: str) -> tuple[list[str], Integers]:
        """The texts of a column, and for each row which of them it is; -1: none."""
        if name not in self._codes:
            column = self._columns[name]
            self._codes[name] = column.dictionary.to_pylist(), _array(column.indices, -1)[0]
        return self._codes[name]

    def _is(self, name: str, fits: Callable[[str], bool]) -> Mask:
        values, codes = self._coded(name)
        # The last place is that of rows without a text.
        fitting: Mask = np.array([*map(fits, values), False])
        return fitting[codes]

    def phase(self, name: str) -> Mask:
        """`cold`, `warmup` or `warm`."""
        if name not in self._phases:
            self._phases[name] = self._is("phase", lambda value: value == name)
        return self._phases[name]

    def carried_by(self, protocol: str) -> Mask:
        """Those with this protocol."""
        return self._is("protocol", lambda value: value == protocol)

    @cached_property
    def every(self) -> Mask:
        """All rows."""
        return np.ones(self.count, np.bool_)

    @cached_property
    def faultless(self) -> Mask:
        """Those without an error."""
        return self._is("error", lambda value: value == "")

    @cached_property
    def faulty(self) -> Mask:
        """Those with one. Those that were abandoned have ended as they should."""
        return self._is("error", lambda value: value not in ("", ABANDONED))

    @cached_property
    def abandoned(self) -> Mask:
        """Those that were given up."""
        return self._is("error", lambda value: value == ABANDONED)

    def ok(self, statuses: Sequence[int]) -> Mask:
        """Those without an error and with the status that their resource must have; OK stands for all of success."""
        status = self["status"]
        alike = set(statuses) == {OK}
        statuses_by_row = np.int64(OK) if alike else np.array(statuses)[self._resources(len(statuses) - 1)]
        success = (status.values >= OK) & (status.values < BEYOND_OK)
        answered: Mask = np.where(statuses_by_row == OK, success, np.equal(status.values, statuses_by_row))
        return self.faultless & status.valid & answered

    def _resources(self, last: int) -> Integers:
        resource = self["resource"]
        return np.where(resource.valid, resource.values, 0).clip(0, last)
