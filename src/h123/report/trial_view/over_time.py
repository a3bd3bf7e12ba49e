"""Draws lines over time in a common style: a column of panels with a common time axis, and marks for losses above the
panels."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt
import numpy as np

from h123.flow import Bins, Numbers
from h123.packets.capture import BLOCKED, LOST, POLICED, QUEUE_FULL, TOO_LARGE
from h123.report import lines
from h123.report.figures.drawing import Figure, FigureRows
from h123.report.look import COLOURS, NARROW, SERIES, WIDE, Mark

FATES = {LOST: "lost", QUEUE_FULL: "queue full", BLOCKED: "blocked", POLICED: "policed", TOO_LARGE: "too large"}
HELD = max(FATES) + 1
KINDS = {**FATES, HELD: "flow control"}
"""The kinds of marks: packets that never left the link, by fate, and times when flow control blocked a sender."""
_LEFT = 70
"""The space in pixels to the left of every plot. It is the same for all plots, so that their time axes are aligned."""
_ROW = 16
"""The height in pixels of a row, which holds the ticks of one kind."""
_CROSS = "M-1,-1L1,1M-1,1L1,-1"
_HEADROOM = 1.05
_DIGITS = 4


@dataclass(frozen=True)
class Line:
    name: str
    """The name of the line in the legend, which explains its colour and dashes."""
    arm: int | None
    """The number of the arm that gives the line its colour. None: a neutral colour."""
    seconds: Numbers
    values: Numbers
    dashed: bool = False
    """Whether the values come from a setting or a log instead of packets."""
    steps: bool = False
    """Whether each value applies until the time of the next."""
    points: bool = False
    """Whether there are so few values that each is marked."""
    crosses: tuple[Numbers, Numbers] | None = None
    """Times and values to mark as losses."""
    dots: tuple[Numbers, Numbers] | None = None
    """Times and values to mark as retransmissions."""


@dataclass(frozen=True)
class Panel:
    """Lines with a common value axis."""

    title: str
    unit: str
    lines: Sequence[Line]
    tall: bool = False


@dataclass(frozen=True)
class Ticks:
    """Events of an attempt that are marked above the lines."""

    arm: int
    kind: int
    """One of KINDS."""
    seconds: Numbers


def over_time(
    name: str, title: str, caption: str, bins: Bins, panels: Sequence[Panel], ticks: Sequence[Ticks] = ()
) -> Figure:
    """Draw a figure with a column of panels."""
    lines = {line.name: line for panel in panels for line in panel.lines}
    end = bins.width * bins.count / 1e9

    def draw(width: int) -> Any:
        plot = width - _LEFT - 24
        strip = [_strip(ticks, end, plot)] if ticks else []
        drawn = [_panel(panel, lines, end, plot, last=panel is panels[-1]) for panel in panels]
        return alt.vconcat(*strip, *drawn, spacing=8)

    return Figure(name, title, caption, draw(WIDE), draw(NARROW))


def _x(end: float, last: bool = True) -> alt.X:
    axis = alt.Axis(tickCount=8, labels=last, title="s since the client began" if last else None)
    return alt.X("t:Q", scale=alt.Scale(domain=[0, end], nice=False), axis=axis)


def _panel(panel: Panel, lines_by_name: Mapping[str, Line], end: float, plot: int, last: bool) -> Any:
    dashes = alt.Scale(
        domain=list(lines_by_name), range=[[4, 3] if line.dashed else [1, 0] for line in lines_by_name.values()]
    )
    colours = alt.Scale(domain=list(lines_by_name), range=[_colour(line) for line in lines_by_name.values()])
    x = _x(end, last)
    high = max((float(np.nanmax(line.values)) for line in panel.lines if not np.isnan(line.values).all()), default=0.0)
    axis = alt.Axis(tickCount=4, minExtent=_LEFT, maxExtent=_LEFT, format=".6~g")
    y = alt.Y("v:Q", title=panel.unit, axis=axis, scale=alt.Scale(domain=[0, _HEADROOM * high or 1], nice=False))
    legend = alt.Legend(columns=1 if plot < WIDE // 2 else 0, labelLimit=0)
    encoding = {
        "x": x,
        "y": y,
        "color": alt.Color("name:N", scale=colours, legend=legend),
        "strokeDash": alt.StrokeDash("name:N", scale=dashes, legend=legend),
    }
    layers = []
    for line in panel.lines:
        values = [row | {"name": line.name} for row in _rows(line.seconds, line.values)]
        chart = alt.Chart(FigureRows(values))
        line_chart = chart.mark_line(
            strokeWidth=1.3, strokeCap="round", interpolate="step-after" if line.steps else "linear"
        ).encode(**encoding)
        layers.append(line_chart)
        if line.points:
            layers.append(chart.mark_point(size=14, filled=True, opacity=1, color=_colour(line)).encode(x=x, y=y))
    layers += [_marks(*line.dots, x, y, "circle", _colour(line)) for line in panel.lines if line.dots]
    layers += [_marks(*line.crosses, x, y, _CROSS, COLOURS["worse"]) for line in panel.lines if line.crosses]
    title = alt.TitleParams(lines(panel.title, plot), anchor="start", fontSize=12, color=COLOURS["ink"], frame="group")
    return alt.layer(*layers).properties(
        width=plot, height=320 if panel.tall else 150, title=title if panel.title else ""
    )


def _colour(line: Line) -> str:
    return COLOURS["muted"] if line.arm is None else SERIES[line.arm]


def _marks(seconds: Numbers, values: Numbers, x: alt.X, y: alt.Y, shape: str, colour: str) -> Any:
    marks = alt.Chart(FigureRows(_rows(seconds, values)))
    return marks.mark_point(shape=shape, size=14, color=colour, opacity=1, strokeWidth=1.2).encode(x=x, y=y)


def _strip(strips: Sequence[Ticks], end: float, plot: int) -> Any:
    """Draw a row of ticks for each kind and arm. Each arm's ticks form a single path."""
    kinds = [kind for kind in KINDS if any(ticks.kind == kind for ticks in strips)]
    labels = {str(row + 0.5): KINDS[kind] for row, kind in enumerate(kinds)}
    axis = alt.Axis(
        values=[row + 0.5 for row in range(len(kinds))],
        labelExpr=f"{labels}[datum.value]".replace("'", '"'),
        grid=False,
        minExtent=_LEFT,
        maxExtent=_LEFT,
    )
    y = alt.Y("v:Q", title=None, axis=axis, scale=alt.Scale(domain=[len(kinds), 0], nice=False))
    share = 1 / (1 + max(ticks.arm for ticks in strips))
    layers = []
    for ticks in strips:
        top = kinds.index(ticks.kind) + ticks.arm * share
        values: list[Mark] = []
        for second in ticks.seconds:
            at = round(float(second), _DIGITS)
            values += [{"t": at, "v": top + 0.1 * share}, {"t": at, "v": top + 0.9 * share}, {"t": at, "v": None}]
        chart = alt.Chart(FigureRows(values)).mark_line(strokeWidth=1, color=SERIES[ticks.arm])
        layers.append(chart.encode(x=_x(end, last=False), y=y, order=alt.value(0)))
    return alt.layer(*layers).properties(width=plot, height=_ROW * len(kinds))


def _rows(seconds: Numbers, values: Numbers) -> list[Mark]:
    """Return a row for each value. A nan becomes None."""
    return [
        {"t": round(float(t), 5), "v": None if np.isnan(v) else float(f"{v:.5g}")}
        for t, v in zip(seconds, values, strict=True)
    ]
