"""Writes a gate's ratios for charts over commits, in the JSON that github-action-benchmark reads as
`customSmallerIsBetter`.

Only ratios to an unchanged build can be compared over many runs, because times also depend on the machine of each run.
"""

import json
from collections.abc import Sequence
from typing import NotRequired

from typing_extensions import TypedDict

from h123.analysis import meaningful
from h123.base.terminal.visible import visible
from h123.base.units import counted
from h123.gate.figure import GateFigure
from h123.gate.outcome import ConditionOutcome, GateCell
from h123.study import METRICS


class Entry(TypedDict):
    """One result. `range` is the error that charts draw: `± 0.03`."""

    name: str
    unit: str
    value: float
    range: NotRequired[str]
    extra: str


def benchmark(outcomes: Sequence[ConditionOutcome]) -> str:
    """Return the JSON with one result for each known figure. A figure that several conditions use appears once."""
    entries: dict[str, Entry] = {}
    for outcome in outcomes:
        for cell in outcome.cells:
            if entry := _entry(cell):
                benchmark_entry = entries.setdefault(entry["name"], entry)
                benchmark_entry["extra"] += f"\nrequired {outcome.condition}: {cell.word}"
    return visible(json.dumps(list(entries.values()), indent=1, ensure_ascii=False)) + "\n"


def _entry(cell: GateCell) -> Entry | None:
    """Return the entry of a cell, or None if its figure is unknown or its requests take no time."""
    figure = cell.figure
    if figure.value is None or figure.timeless:
        return None
    subject, value, low, high = _smaller_is_better(figure, figure.value)
    name = ", ".join(filter(None, [f"{figure.metric} {subject}", cell.place]))
    if not meaningful(figure.confidence):
        low = high = None
    bounded = low is not None and high is not None
    interval = (
        f"{figure.confidence:.1%} interval {_number(low, figure)} to {_number(high, figure)}, " if bounded else ""
    )
    entry: Entry = {
        "name": name,
        "unit": "ratio" if figure.unit is None else figure.unit,
        "value": value,
        "extra": f"{interval}{counted(figure.blocks, 'block')}",
    }
    if low is not None and high is not None:
        entry["range"] = f"± {_number(max(value - low, high - value), figure)}"
    return entry


def _smaller_is_better(figure: GateFigure, value: float) -> tuple[str, float, float | None, float | None]:
    """Return the figure's subject, value, low and high, in a form in which smaller is better. If larger values of its
    metric are better, a ratio is inverted, but a single value stays as it is."""
    if METRICS[figure.metric].better == "lower" or figure.unit is not None:
        return figure.subject, value, figure.low, figure.high
    a, b = figure.subject.split("/")
    return f"{b}/{a}", 1 / value, 1 / figure.high if figure.high else None, 1 / figure.low if figure.low else None


def _number(value: float | None, figure: GateFigure) -> str:
    return f"{value:.4f}" if figure.unit is None else f"{value:.4g}"
