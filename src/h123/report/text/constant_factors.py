"""Factors that all of a campaign's comparisons have in common. The report states them once and leaves them out of
names."""

from collections.abc import Mapping
from typing import Any, TypeVar

from h123.analysis.verdicts.judgement import JudgedPart
from h123.report.text.words import opened, place

Cell = Mapping[str, str]
Data = TypeVar("Data")


def common(verdicts: JudgedPart) -> Cell:
    """The factors with the same level in all comparisons; empty if without them the cells would have no names."""
    cells = [c["cell"] for c in verdicts["comparisons"]]
    if not cells:
        return {}
    same = {factor: level for factor, level in cells[0].items() if all(cell.get(factor) == level for cell in cells)}
    return same if all(cell.keys() - same.keys() for cell in cells) else {}


def common_line(same: Cell) -> str:
    """`With chromium as client with CUBIC throughout.`; empty if there are no common factors."""
    return opened("", f"{place(same)} throughout.") if same else ""


def without(data: Data, same: Cell) -> Data:
    """A copy of the data whose `cell`s lack the common factors."""
    stripped: Data = _stripped(data, same)
    return stripped


def _stripped(data: Any, same: Cell) -> Any:
    if isinstance(data, list):
        return [_stripped(item, same) for item in data]
    if not isinstance(data, dict):
        return data
    return {name: _other(value, same) if name == "cell" else _stripped(value, same) for name, value in data.items()}


def _other(cell: Any, same: Cell) -> Any:
    return {factor: level for factor, level in cell.items() if factor not in same} if isinstance(cell, dict) else cell
