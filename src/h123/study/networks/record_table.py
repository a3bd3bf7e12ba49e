"""Reads tables whose columns are separated by commas, semicolons, tabs or spaces. The first line may contain the
columns' names. Lines that begin with # are comments."""

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
    """The number of the table's first line, which may contain the names."""
    names: list[str]
    """The names of the columns. In a table without names, they are the columns' numbers: 1, 2 and so on."""
    rows: list[tuple[int, list[str]]]
    """The cells of each row, with the number of its line."""

    @classmethod
    def of(cls, path: Path, text: str) -> Self:
        """Return the table in the text. Raises UserError."""
        lines = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
        lines = [(number, line) for number, line in lines if not line.startswith("#")]
        if not lines:
            raise UserError(f"{path}: the file is empty")
        begin, first = lines[0]
        separator = max(",;\t", key=first.count)
        if separator not in first and _is_number(lines[-1][1].split()[0]):
            separator = " "
        if separator not in first.strip(" ") and not first.strip().isidentifier():
            raise UserError(f"{path}:{begin}: {excerpt(first)} is neither a number nor a row of a table")
        text_lines = (line.strip(" ") for _, line in lines)
        reader = csv.reader(text_lines, delimiter=separator, skipinitialspace=separator == " ", strict=True)
        table: list[list[str]] = []
        try:
            for cells in reader:
                table.append([cell.strip() for cell in cells])
                if reader.line_num > len(table):
                    raise UserError(
                        f"{path}:{lines[len(table) - 1][0]}: a quoted field goes on over the end of the line"
                    )
        except csv.Error as error:
            raise UserError(f"{path}:{lines[reader.line_num - 1][0]}: {csv_fault(error)}") from None
        rows = [(number, cells) for (number, _), cells in zip(lines, table, strict=True)]
        names = [str(place) for place in range(1, len(table[0]) + 1)]
        if not _is_number(table[0][0]):
            names, rows = table[0], rows[1:]
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise UserError(f"{path}:{begin}: two columns have the name {excerpt(twice)}")
        for number, cells in rows:
            if len(cells) != len(names):
                raise UserError(f"{path}:{number}: {len(cells)} fields, where the first line has {len(names)}")
        return cls(path, begin, names, rows)

    def nameless(self) -> bool:
        """Return whether the table has no line of names."""
        return self.names[0] == "1"

    def columns(self) -> Iterator[tuple[int, str]]:
        """Yield the index and the name of each column."""
        return enumerate(self.names)

    def number(self, line: int, name: str, cell: str, fault: str = "not a number") -> float | None:
        """Return the number in a cell, or None if the cell says that there is no value. Raises UserError with `fault`
        for any other cell."""
        if cell.lower() in _MISSING:
            return None
        try:
            value = float(cell)
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise UserError(f"{self.path}:{line}: {name}: {excerpt(cell)} is {fault}")
        return value


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
