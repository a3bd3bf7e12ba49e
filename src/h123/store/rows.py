"""Represents the samples of one attempt as arrays: numbers with masks of known values, and strings as codes."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Self, cast

import numpy as np
from numpy.typing import NDArray

from h123.base.errors import UserError
from h123.store.columns import COLUMNS, FORMS, IMPORTED, MEASURED, PHASES, RETRIED_COLUMNS, TEXT_COLUMNS, Sample
from h123.store.compact import TEXT, column_fault
from h123.store.parquet import DAMAGED, Column, number_column, read_columns, write_columns
from h123.study.workload import ABANDONED, BEYOND_OK, OK

Mask = NDArray[np.bool_]
Integers = NDArray[np.int64]
_WORDS = ["", *PHASES, "h1", "h2", "h3", ABANDONED]
"""The strings of nearly all samples. For a string in this list, DuckDB returns its position instead, because making
string objects is slow."""
_WORD = f"ENUM({', '.join(map(repr, _WORDS))})"
_CODES = (f"enum_code(TRY_CAST({name} AS {_WORD})) AS {name}" for name in TEXT_COLUMNS)
_CODED = f"* REPLACE ({', '.join(_CODES)})"
_WORTH_CODING = 30_000
"""The smallest size, in bytes, of a file that is read with codes for strings. In smaller files, making string objects
takes less time than preparing DuckDB for codes."""
_RESTORE = "restore the file from a copy"


@dataclass(frozen=True)
class Texts:
    words: Sequence[str]
    """All strings that occur in the column, and possibly others."""
    codes: Integers
    """For each row, the position of its string in `words`, or -1 if it has none."""

    @classmethod
    def of(cls, values: Iterable[str | None]) -> Self:
        """Encode the strings of a column."""
        places: dict[str, int] = {}
        codes = [-1 if value is None else places.setdefault(value, len(places)) for value in values]
        return cls(list(places), np.array(codes, np.int64))

    def column(self) -> Column:
        texts = np.array([*self.words, ""], object)[self.codes]
        return np.ma.masked_array(texts, self.codes < 0) if (self.codes < 0).any() else texts


@dataclass(frozen=True)
class Numbers:
    """A column of integers, from a file or computed from other columns. Where `valid` is false, the value is unknown,
    and the number in `values` means nothing."""

    values: Integers
    valid: Mask

    @classmethod
    def from_column(cls, column: Column) -> Self:
        """Return the numbers of a column."""
        if not isinstance(column, np.ma.MaskedArray):
            return cls(column, np.ones(len(column), np.bool_))
        valid = ~np.ma.getmaskarray(column)
        return cls(np.where(valid, column.data, 0), valid)

    @classmethod
    def joined(cls, parts: Sequence["Numbers"]) -> Self:
        return cls(np.concatenate([part.values for part in parts]), np.concatenate([part.valid for part in parts]))

    def column(self) -> Column:
        return self.values if self.valid.all() else np.ma.masked_array(self.values, ~self.valid)

    def __sub__(self, other: "Numbers") -> "Numbers":
        return Numbers(self.values - other.values, self.valid & other.valid)

    def least(self, where: Mask) -> int | None:
        """Return the smallest known value in the rows `where`, or None if none is known."""
        some = self.of(where)
        return int(some.min()) if len(some) else None

    def most(self, where: Mask) -> int | None:
        """Return the largest known value in the rows `where`, or None if none is known."""
        some = self.of(where)
        return int(some.max()) if len(some) else None

    def total(self, where: Mask) -> int | None:
        """Return the sum of the known values in the rows `where`, or None if none is known. The sum may exceed 64
        bits."""
        some = self.of(where)
        return (int((some >> 32).sum()) << 32) + int((some & 0xFFFFFFFF).sum()) if len(some) else None

    def of(self, where: Mask) -> Integers:
        """Return all known values in the rows `where`, in the order of the rows."""
        return self.values[where & self.valid]

    def after(self, other: "Numbers") -> Mask:
        """Return a mask of the rows in which the value of `other` is larger than this column's value, and both are
        known."""
        return self.valid & other.valid & (self.values < other.values)


class Rows:
    """All rows of a Parquet file of samples."""

    def __init__(self, numbers: Mapping[str, Numbers], texts: Mapping[str, Texts]) -> None:
        """Create rows from columns of equal length."""
        self._numbers, self._texts = dict(numbers), dict(texts)
        lengths = [*(len(column.values) for column in numbers.values()), *(len(of.codes) for of in texts.values())]
        self.count = lengths[0]
        self._phases: dict[str, Mask] = {}

    @classmethod
    def of(cls, samples: Sequence[Mapping[str, object]]) -> Self:
        """Build rows from samples that may lack columns. Missing columns are empty."""
        retried = any("tries" in sample for sample in samples)
        values = {name: [sample.get(name) for sample in samples] for name in (RETRIED_COLUMNS if retried else COLUMNS)}
        return cls(
            {
                name: Numbers.from_column(number_column(cast(Sequence[int | None], of)))
                for name, of in values.items()
                if name not in TEXT_COLUMNS
            },
            {name: Texts.of(cast(Sequence[str | None], values[name])) for name in TEXT_COLUMNS},
        )

    @classmethod
    def read(cls, file: Path, *, measured: bool = False) -> Self:
        """Read rows. Raises UserError if the file is damaged. If `measured`, the samples must contain every value that
        the contract requires from clients."""
        try:
            columns, coded = _read(file)
        except OSError as fault:
            raise UserError(f"{file} cannot be read: {fault.strerror}", _RESTORE) from None
        except DAMAGED:
            raise UserError(f"{file} is not complete", _RESTORE) from None
        if wrong := _misshapen(columns, coded=coded, measured=measured):
            raise UserError(f"{file} {wrong}", _RESTORE)
        numbers = {name: Numbers.from_column(column) for name, column in columns.items() if name not in TEXT_COLUMNS}
        if coded:
            return cls(numbers, {name: Texts(_WORDS, columns[name].astype(np.int64)) for name in TEXT_COLUMNS})
        texts = {name: columns[name] for name in TEXT_COLUMNS}
        return cls(numbers, {name: Texts.of(column.tolist()) for name, column in texts.items()})

    def write(self, target: Path) -> None:
        """Write the rows atomically, in the form that `read` accepts. Raises OSError."""
        columns = {name: self._column(name) for name in RETRIED_COLUMNS if name in self.names}
        write_columns(columns, target, "lz4_raw")

    def _column(self, name: str) -> Column:
        return self._texts[name].column() if name in self._texts else self._numbers[name].column()

    @property
    def names(self) -> set[str]:
        return {*self._numbers, *self._texts}

    def taken(self, places: Integers) -> "Rows":
        """Return the rows at these positions, in this order. A row may occur several times."""
        return Rows(
            {name: Numbers(of.values[places], of.valid[places]) for name, of in self._numbers.items()},
            {name: Texts(of.words, of.codes[places]) for name, of in self._texts.items()},
        )

    def samples(self) -> list[Sample]:
        names = [name for name in RETRIED_COLUMNS if name in self.names]
        columns = [self._column(name).tolist() for name in names]
        return [cast(Sample, dict(zip(names, row, strict=True))) for row in zip(*columns, strict=True)]

    def __getitem__(self, name: str) -> Numbers:
        """Return a column of numbers. If the file lacks the column, all values are unknown."""
        if name not in self._numbers:
            self._numbers[name] = Numbers(np.zeros(self.count, np.int64), np.zeros(self.count, np.bool_))
        return self._numbers[name]

    def texts(self, name: str, where: Mask) -> list[str]:
        """Return the keys of `tally` in alphabetical order."""
        return sorted(self.tally(name, where))

    def tally(self, name: str, where: Mask) -> dict[str, int]:
        """Return how often each string of a column occurs in the rows `where`."""
        column = self._texts[name]
        # Codes are shifted by one, because rows without a string have the code -1.
        counts: list[int] = np.bincount(column.codes[where] + 1, minlength=1)[1:].tolist()
        return {column.words[code]: count for code, count in enumerate(counts) if count}

    def _is(self, name: str, fits: Callable[[str], bool]) -> Mask:
        column = self._texts[name]
        # The last element is for rows without a string.
        fitting: Mask = np.array([*map(fits, column.words), False])
        return fitting[column.codes]

    def phase(self, name: str) -> Mask:
        """Return a mask of the rows of a phase, such as `warm`."""
        if name not in self._phases:
            self._phases[name] = self._is("phase", lambda value: value == name)
        return self._phases[name]

    def carried_by(self, protocol: str) -> Mask:
        """Return a mask of the rows whose request used this protocol."""
        return self._is("protocol", lambda value: value == protocol)

    @cached_property
    def every(self) -> Mask:
        """A mask that selects all rows."""
        return np.ones(self.count, np.bool_)

    @cached_property
    def faultless(self) -> Mask:
        """A mask of the rows whose request ended without an error."""
        return self._is("error", lambda value: value == "")

    @cached_property
    def faulty(self) -> Mask:
        """A mask of the rows whose request ended with an error. Abandoned requests are not included."""
        return self._is("error", lambda value: value not in ("", ABANDONED))

    @cached_property
    def abandoned(self) -> Mask:
        """A mask of the rows of abandoned requests."""
        return self._is("error", lambda value: value == ABANDONED)

    def ok(self, statuses: Sequence[int]) -> Mask:
        """Return a mask of the rows without an error and with the required status of their resource. If that status is
        200, any status from 200 to 299 passes."""
        status = self["status"]
        alike = set(statuses) == {OK}
        statuses_by_row = np.int64(OK) if alike else np.array(statuses)[self._resources(len(statuses) - 1)]
        success = (status.values >= OK) & (status.values < BEYOND_OK)
        answered: Mask = np.where(statuses_by_row == OK, success, np.equal(status.values, statuses_by_row))
        return self.faultless & status.valid & answered

    def _resources(self, last: int) -> Integers:
        resource = self["resource"]
        return np.where(resource.valid, resource.values, 0).clip(0, last)


def _read(file: Path) -> tuple[dict[str, Column], bool]:
    """Return the columns of a file, and whether its strings are given as positions in `_WORDS`. Raises OSError and
    DAMAGED."""
    if file.stat().st_size < _WORTH_CODING:
        return read_columns(file), False
    try:
        columns = read_columns(file, _CODED)
    except DAMAGED:  # also if the file lacks such columns
        return read_columns(file), False
    if not any(isinstance(columns[name], np.ma.MaskedArray) for name in TEXT_COLUMNS):
        return columns, True
    return columns | read_columns(file, ", ".join(TEXT_COLUMNS)), False


def _misshapen(columns: Mapping[str, Column], *, coded: bool, measured: bool) -> str | None:
    """Return in words why a table cannot contain samples, or None if it can. If `coded`, its strings are positions in
    `_WORDS`. Some values may be missing in imported samples, but not in `measured` ones."""
    if [*columns] not in FORMS:
        return "does not have the columns of samples"
    required = MEASURED if measured else IMPORTED
    for name, column in columns.items():
        kind = np.dtype(np.int64) if name not in TEXT_COLUMNS else column.dtype if coded else TEXT
        if fault := column_fault(name, column, kind, nullable=name not in required):
            return f"is not as h123 writes it: {fault}"
    return None
