"""A gate's ratios for charts over commits: the JSON that github-action-benchmark takes as `customSmallerIsBetter`.

Ratios to a build that stays the same are what can be drawn over many runs: times are also the machine's of each.
"""

import json
from collections.abc import Sequence
from typing import NotRequired

from typing_extensions import TypedDict

from h123.gate.passage import Cell, Passage
from h123.study import METRICS


class Entry(TypedDict):
    """One of its results. `range` is what it draws as an error: `± 0.03`."""

    name: str
    unit: str
    value: float
    range: NotRequired[str]
    extra: str


def benchmark(passages: Sequence[Passage]) -> str:
    """A result for each ratio that there is, whatever asks for it; several conditions may ask for one."""
    entries: dict[str, Entry] = {}
    for one in passages:
        for cell in one.cells:
            if entry := _entry(cell):
                told = entries.setdefault(entry["name"], entry)
                told["extra"] += f"\nrequired {one.condition}: {cell.word}"
    return json.dumps(list(entries.values()), indent=1, ensure_ascii=False) + "\n"


def _entry(cell: Cell) -> Entry | None:
    """None where nothing is known. Of what is better the more there is of it, the ratio is turned round."""
    held, (a, b) = cell.held, cell.held.pair.split("/")
    value, low, high = held.ratio, held.low, held.high
    if value is None:
        return None
    if METRICS[held.metric].better == "higher":
        a, b, value, low, high = b, a, 1 / value, 1 / high if high else None, 1 / low if low else None
    name = ", ".join(filter(None, [f"{held.metric} {a}/{b}", cell.place]))
    known = low is not None and high is not None and held.confidence
    said = f"{held.confidence:.1%} interval {low:.4f} to {high:.4f}, " if known else ""
    entry: Entry = {"name": name, "unit": "ratio", "value": value, "extra": f"{said}{held.blocks} blocks"}
    if low is not None and high is not None:
        entry["range"] = f"± {max(value - low, high - value):.4f}"
    return entry
