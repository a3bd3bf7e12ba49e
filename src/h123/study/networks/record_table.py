"""Reads tables: CSV separated by commas, semicolons or tabs, with a line of names, and comments that begin with #."""

import csv
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from h123.base.complaints import excerpt
from h123.base.errors import UserError
from h123.base.files.textfile import csv_fault

_MISSING = {"", "-", "nan", "na", "n/a", "none", "null"}


@dataclass(frozen=True)
class RecordTable:
    """A table in a file."""

    path: Path
    line: int
    """The line of the names."""
    names: list[str]
    rows: list[tuple[int, list[str]]]
    """The cells of each row, with its line."""

    @classmethod
    def of(cls, path: Path, text: str) -> Self:
        """Return the table in the text. Raises UserError."""
        lines = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
        lines = [(number, line) for number, line in lines if not line.startswith("#")]
        if not lines:
            raise UserError(f"{path}: the file is empty")
        separator = max(",;\t", key=lines[0][1].count)
        reader = csv.reader((line for _, line in lines), delimiter=separator, strict=True)
        table: list[list[str]] = []
        try:
            table.extend([cell.strip() for cell in cells] for cells in reader)
        except csv.Error as error:
            raise UserError(f"{path}:{lines[reader.line_num - 1][0]}: {csv_fault(error)}") from None
        if len(table) < len(lines):
            raise UserError(f"{path}: a quoted field goes on over the end of a line")
        names, rows = table[0], [(number, cells) for (number, _), cells in zip(lines[1:], table[1:], strict=True)]
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise UserError(f"{path}:{lines[0][0]}: two columns have the name {excerpt(twice)}")
        for number, cells in rows:
            if len(cells) != len(names):
                raise UserError(f"{path}:{number}: {len(cells)} fields, where the first line has {len(names)}")
        return cls(path, lines[0][0], names, rows)

    def columns(self) -> Iterator[tuple[int, str]]:
        """Yield the index and the name of each column."""
        return enumerate(self.names)

    def number(self, line: int, name: str, cell: str) -> float | None:
        """Return the number in a cell, or None if the cell says that there is no value. Raises UserError."""
        if cell.lower() in _MISSING:
            return None
        try:
            value = float(cell)
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise UserError(f"{self.path}:{line}: {name}: {excerpt(cell)} is not a number")
        return value
