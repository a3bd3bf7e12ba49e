"""What all of a campaign's comparisons have in common: said once, and no part of any name."""

from collections.abc import Mapping
from typing import Any

from h123.report.text.words import opened, place

Cell = Mapping[str, str]


def common(verdicts: Mapping[str, Any]) -> Cell:
    """The factors that have one level in all comparisons; none where nothing else would name the cells."""
    cells = [c["cell"] for c in verdicts["comparisons"]]
    if not cells:
        return {}
    same = {factor: level for factor, level in cells[0].items() if all(cell.get(factor) == level for cell in cells)}
    return same if all(cell.keys() - same.keys() for cell in cells) else {}


def common_line(same: Cell) -> str:
    """`With chromium as client with CUBIC throughout.`; empty where nothing is."""
    return opened("", f"{place(same)} throughout.") if same else ""


def without(data: Any, same: Cell) -> Any:
    """The data, where no `cell` has the common factors any more; nothing of what was given is changed."""
    if isinstance(data, list):
        return [without(one, same) for one in data]
    if not isinstance(data, dict):
        return data
    return {name: _other(value, same) if name == "cell" else without(value, same) for name, value in data.items()}


def _other(cell: Any, same: Cell) -> Any:
    return {factor: level for factor, level in cell.items() if factor not in same} if isinstance(cell, dict) else cell
