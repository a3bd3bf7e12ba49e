"""Finds factors that have the same level in all of a campaign's comparisons. The report states them once and leaves
them out of names."""

from collections.abc import Mapping
from typing import Any, TypeVar

from h123.analysis.verdicts.judgement import JudgedPart
from h123.report.text.words import opened, place

Cell = Mapping[str, str]
Data = TypeVar("Data")


def common(verdicts: JudgedPart) -> Cell:
    """Return the factors with the same level in all comparisons. Empty if these are all factors, because cells need
    names."""
    cells = [c["cell"] for c in verdicts["comparisons"]]
    if not cells:
        return {}
    same = {factor: level for factor, level in cells[0].items() if all(cell.get(factor) == level for cell in cells)}
    return same if all(cell.keys() - same.keys() for cell in cells) else {}


def common_line(same: Cell) -> str:
    """Describe the constant factors: `With chromium as client with CUBIC throughout.` Empty if there are none."""
    return opened("", f"{place(same)} throughout.") if same else ""


def without(data: Data, same: Cell) -> Data:
    """Return a copy of the data without the constant factors in each `cell`."""
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
