"""Draws figures of latency against load: latencies and answered requests at each step, and what a closed loop would
have reported."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

import altair as alt

from h123.analysis.comparisons.capacity import Capacity, CapacityRow, CapacityStep
from h123.base.units import format_seconds
from h123.report.figures.axes import header, log_ticks
from h123.report.figures.drawing import Figure, FigureRows
from h123.report.look import COLOURS, NARROW, SERIES, WIDE, Mark
from h123.report.text.capacity import rate
from h123.report.text.words import cell_name, level

_HEIGHT = 230
_LEFT = 64
"""The width in pixels of the numbers to the left of a panel."""
_SECONDS = (
    "datum.value >= 1 ? datum.value + ' s' : "
    "datum.value >= 0.001 ? round(datum.value * 1e3) + ' ms' : round(datum.value * 1e6) + ' µs'"
)
_TALL = "datum.value >= 1000 ? datum.value / 1000 + 'k' : datum.value"
Value = Literal["achieved", "latency", "tail", "sent_tail"]
DUE, SENT = "from when it was due", "from the send"
MIDDLE, TAIL = "median", "99th percentile"


def capacity_figures(capacity: Capacity | None, factor: str) -> list[Figure]:
    """Return the figures that have data. `factor` is the compared factor."""
    if capacity is None:
        return []
    rows = capacity["rows"]
    levels = list(dict.fromkeys(level(row["cell"][factor]) for row in rows))
    figures = [
        _latency(list(_points(rows, factor, {MIDDLE: "latency", TAIL: "tail"})), levels),
        _answers(list(_points(rows, factor, {"": "achieved"})), levels),
        _omission(rows),
    ]
    return [figure for figure in figures if figure]


def _points(rows: Iterable[CapacityRow], factor: str, kinds: Mapping[str, Value]) -> Iterator[Mark]:
    """Yield a mark for each step and kind of value. Closed loops are drawn at the rate that they reached."""
    for row in rows:
        panel = cell_name({name: at for name, at in row["cell"].items() if name != factor})
        for step in (*row["steps"], *row["closed"]):
            for kind, name in kinds.items():
                x, y = _rate(step), step[name]
                if x and y:
                    yield {
                        "panel": panel,
                        "name": level(row["cell"][factor]),
                        "kind": kind,
                        "closed": step["rate"] is None,
                        "x": x,
                        "y": y,
                        "told": _step_sentence(cell_name(row["cell"]), step, kind, y if name != "achieved" else None),
                    }


def _rate(step: CapacityStep) -> float | None:
    return step["achieved"] if step["rate"] is None else step["rate"]


def _step_sentence(where: str, step: CapacityStep, kind: str, seconds: float | None) -> str:
    load = "closed loop" if step["rate"] is None else f"{rate(step['rate'])} due"
    time = f"; {kind} {format_seconds(seconds)}" if seconds else ""
    return f"{where}, {load}, {rate(step['achieved'])} answered{time}"


def _latency(points: list[Mark], levels: Sequence[str]) -> Figure | None:
    caption = (
        "Full lines: the 99th percentile of latency; dashed: the median; both from when a request was due, "
        "medians over the trials of a step. Diamonds: a closed loop, at the rate that it reached. "
        "Both axes are logarithmic."
    )
    draw = _drawing(points, levels, "latency", _SECONDS, {TAIL: [1, 0], MIDDLE: [4, 3]})
    return _figure("capacity-latency", "Latency against load", caption, points, draw)


def _answers(points: list[Mark], levels: Sequence[str]) -> Figure | None:
    caption = (
        "Requests answered per second, against requests due per second. On the grey line, all were answered "
        "in time; where a curve leaves the line is the maximum. Diamonds: a closed loop, which sends a request only "
        "when an earlier one has ended."
    )
    draw = _drawing(points, levels, "requests answered per second", _TALL, {"": [1, 0]}, diagonal=True)
    return _figure("capacity-answers", "Requests answered against load", caption, points, draw)


def _omission(rows: Sequence[CapacityRow]) -> Figure | None:
    """Return a figure with a panel for each treatment and a colour for each way to measure latency, or None if there
    are no data."""
    kinds: dict[str, Value] = {DUE: "tail", SENT: "sent_tail"}
    points = [
        {**mark, "panel": cell_name(row["cell"]), "name": mark["kind"], "kind": ""}
        for row in rows
        for mark in _points([row], next(iter(row["cell"])), kinds)
        if not (mark["closed"] and mark["kind"] == SENT)
    ]
    caption = (
        "The 99th percentile of the same requests' latency, measured from when they were due and from when they were "
        "sent. A client that waits for each response sees only the latter (coordinated omission). Diamonds: a "
        "closed loop."
    )
    draw = _drawing(points, [DUE, SENT], "99th percentile of latency", _SECONDS, {"": [1, 0]})
    return _figure("capacity-omission", "What a closed loop would have reported", caption, points, draw)


def _figure(name: str, title: str, caption: str, points: list[Mark], draw: Callable[[int], Any]) -> Figure | None:
    return Figure(name, title, caption, draw(WIDE), draw(NARROW)) if points else None


def _drawing(
    points: list[Mark],
    levels: Sequence[str],
    title: str,
    label: str,
    dashes: Mapping[str, list[int]],
    *,
    diagonal: bool = False,
) -> Callable[[int], Any]:
    panels = list(dict.fromkeys(point["panel"] for point in points))
    x_domain, y_domain = (_domain(point[axis] for point in points) for axis in ("x", "y"))

    def draw(width: int) -> Any:
        columns = min(2, len(panels)) if width > NARROW else 1
        plot = width // columns - _LEFT - 16
        x = _axis("x", x_domain, "requests due per second", _TALL, plot // 60)
        y = _axis("y", y_domain, title, label, _HEIGHT // 40)
        layers = _layers(x, y, levels, dashes, columns=3 if width > NARROW else 1)
        chart = alt.layer(*layers).properties(width=plot, height=_HEIGHT)
        return chart.facet(
            facet=alt.Facet("panel:N", sort=panels, header=header(panels, plot)),
            columns=columns,
            data=FigureRows(points + (_diagonal(panels, x_domain, y_domain) if diagonal else [])),
            spacing=20,
        )

    return draw


def _diagonal(panels: Iterable[str], *domains: Sequence[float]) -> list[Mark]:
    """Return, for each panel, the diagonal on which every request is answered."""
    low, high = max(domain[0] for domain in domains), min(domain[1] for domain in domains)
    return [{"panel": panel, "diagonal": True, "x": at, "y": at} for panel in panels for at in (low, high)]


def _domain(values: Iterable[float]) -> list[float]:
    numbers = [*values]
    return [min(numbers) / 1.25, max(numbers) * 1.25] if numbers else [1, 2]


def _axis(name: str, domain: list[float], title: str, label: str, ticks: int) -> dict[str, Any]:
    axis = alt.Axis(values=log_ticks(domain, ticks), labelExpr=label, grid=True)
    scale = alt.Scale(type="log", domain=domain, nice=False)
    return {"shorthand": f"{name}:Q", "title": title, "scale": scale, "axis": axis}


def _layers(x: Mark, y: Mark, levels: Sequence[str], dashes: Mapping[str, list[int]], columns: int) -> list[Any]:
    """Return the layers from back to front: the diagonal, if any, then lines over the steps, and a dot at each step or
    a diamond for each closed loop."""
    across, up = alt.X(**x), alt.Y(**y)
    legend = alt.Legend(columns=columns, labelLimit=0)
    colour = alt.Color("name:N", scale=alt.Scale(domain=[*levels], range=SERIES), legend=legend)
    dash = alt.StrokeDash("kind:N", scale=alt.Scale(domain=[*dashes], range=[*dashes.values()]), legend=None)
    base = alt.Chart().encode(x=across, y=up)
    along = base.transform_filter("datum.diagonal").mark_line(color=COLOURS["waiting"], strokeWidth=3)
    steps, loops = base.transform_filter("datum.closed === false"), base.transform_filter("datum.closed === true")
    lines = steps.mark_line(strokeWidth=1.6).encode(color=colour, strokeDash=dash)
    dots = steps.mark_point(filled=True, size=22, opacity=1, aria=True)
    diamonds = loops.mark_point(shape="diamond", size=70, strokeWidth=1.8, opacity=1, aria=True)
    return [along, lines, *(marks.encode(color=colour, description="told:N") for marks in (dots, diamonds))]
