"""Draws waterfalls of pages: a panel for the median visit of each treatment, with the packets that the link lost."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import altair as alt

from h123.base.units import format_seconds
from h123.report.figures.axes import lines
from h123.report.figures.drawing import Figure, FigureRows
from h123.report.figures.visits import STAGES, began, by_cell, choice_note, stages, took
from h123.report.look import COLOURS, NARROW, WIDE, Mark
from h123.report.text.words import level
from h123.store import Sample

MOST = 250
"""The largest number of requests drawn per visit."""
_ABREAST = 3
_TALL, _PITCH, _LEAST = 170, 7.0, 1.5
"""The height in pixels of a panel's bars: the smaller of _TALL and _PITCH per bar, but at least _LEAST per bar."""
_STRIP = 9
"""The height in pixels of the strip for losses on the axis."""
_FULL = 0.85
"""The share of its space that a bar fills."""
_WORTH = 0.002
"""The smallest share of the axis at which a stage is drawn."""
LOST = "packets lost"
CARRIERS = {"h1": "over HTTP/1.1", "h2": "over HTTP/2", "h3": "over HTTP/3"}
"""The protocols, drawn next to the bars if a visit used more than one."""
_COLOURS = {name: COLOURS[colour] for name, colour in STAGES.items()} | {LOST: COLOURS["worse"]}
_CARRIER_COLOURS = dict(zip(CARRIERS.values(), (COLOURS["other-dot"], COLOURS["dot"], COLOURS["queue"]), strict=True))
_BESIDE = (-0.02, -0.008)
"""Where the mark of a bar's protocol begins and ends, as shares of the axis."""


def waterfalls_figure(visits: Sequence[Mark], factor: str) -> Figure:
    """Draw a row of panels for each cell. The panels of a row have the same axis. `visits` come from
    `median_visits`."""
    cells = by_cell(visits, factor)
    carriers = _carriers([visit for arms in cells.values() for visit in arms])

    def draw(width: int) -> Any:
        charts = []
        for where, arms in cells.items():
            columns = min(len(arms), _ABREAST) if width > NARROW else 1
            end = max(map(took, arms))
            plot = width // columns - 26
            legend = alt.Legend(columns=0 if width > NARROW else 2, labelLimit=0, columnPadding=26, symbolType="square")
            panels = [_panel(visit, factor, end, plot, legend, carriers) for visit in arms]
            title = alt.TitleParams(where, anchor="start", fontSize=13, color=COLOURS["ink"])
            charts.append(alt.concat(*panels, columns=columns, spacing=14, title=title))
        return alt.vconcat(*charts, spacing=26)

    note_on_length = (
        f" At most {MOST} requests per visit." if any(len(visit["rows"]) > MOST for visit in visits) else ""
    )
    caption = (
        "A bar for each request of a page, in the order in which they were due, with stages from the client's times: "
        "waiting for a free connection, connecting (name, handshake), until the response's first "
        f"byte, until its last.{' To the left: the protocol that carried it.' * bool(carriers)} Below them, on the "
        "axis: the packets that the link lost or had no room for. The visit is the median one of its "
        f"arm; it is an example and decides nothing.{note_on_length}"
        f"{choice_note(visits, factor)} More about a trial: h123 show DIR TRIAL."
    )
    return Figure("waterfalls", "The median visit, request by request", caption, draw(WIDE), draw(NARROW))


def _panel(visit: Mark, factor: str, end: int, plot: int, legend: alt.Legend, carriers: Mapping[str, str]) -> Any:
    unit_ns, unit = (1e9, "s") if end >= 1e9 else (1e6, "ms")
    rows = visit["rows"][:MOST]
    tall = max(_LEAST * len(rows), min(_PITCH * len(rows), _TALL))
    strip = _STRIP * len(rows) / tall
    x_axis = alt.Axis(title=unit, tickCount=4, format=".6~g")
    begin, colours = _BESIDE[0] if carriers else 0, {**_COLOURS, **carriers}
    x = alt.X("t:Q", scale=alt.Scale(domain=[begin * end / unit_ns, end / unit_ns], nice=False), axis=x_axis)
    y = alt.Y("row:Q", axis=None, scale=alt.Scale(domain=[len(rows) + strip, 0], nice=False))
    scale = alt.Scale(domain=list(colours), range=list(colours.values()))
    colour = alt.Color("stage:N", scale=scale, legend=legend)

    def drawn(points: Iterable[Mark], width: float) -> Any:
        """Join the bars of each stage into one path, because a figure has thousands of bars."""
        ordered = [point | {"n": number} for number, point in enumerate(points)]
        chart = alt.Chart(FigureRows(ordered)).mark_line(strokeWidth=width, strokeCap="butt")
        return chart.encode(x=x, y=y, color=colour, order=alt.Order("n:Q"))

    bars = [
        point
        for number, (row, times) in enumerate(zip(rows, stages(rows), strict=True))
        for point in _bar(number, row["start_ns"] - began(visit), times, end, unit_ns)
    ]
    if carriers:
        bars += [point for number, row in enumerate(rows) for point in _carrier(number, row, end / unit_ns)]
    losses = sorted({_pixel(time - began(visit), end, plot) / unit_ns for time in visit["lost"] or []})
    marks = (point for at in losses for point in _stroke(LOST, (at, len(rows)), (at, len(rows) + strip)))
    recorded = "" if visit["lost"] is not None else ", packets not recorded"
    title = alt.TitleParams(
        f"{level(visit['cell'][factor])}: {format_seconds(took(visit) / 1e9)}",
        subtitle=lines(visit["trial"] + _over(visit) + recorded, plot),
        anchor="start",
        fontSize=12,
        color=COLOURS["ink"],
        subtitleColor=COLOURS["muted"],
    )
    layers = alt.layer(drawn(bars, max(1, _FULL * tall / len(rows))), drawn(marks, 1))
    return layers.properties(width=plot, height=tall + _STRIP, title=title)


def _pixel(at: int, end: int, plot: int) -> float:
    """Return the time at which the pixel of a loss begins. Two marks in one pixel would look like one."""
    return math.floor(at / end * plot) * end / plot


def _bar(number: int, at: int, stages: Mapping[str, int], end: int, scale: float) -> Iterator[Mark]:
    """Yield the stages of a request that are wide enough to see, starting when the request was due."""
    for stage, duration in stages.items():
        if duration >= _WORTH * end:
            yield from _stroke(stage, (at / scale, number + 0.5), ((at + duration) / scale, number + 0.5))
        at += duration


def _carrier(number: int, row: Sample, end: float) -> Iterator[Mark]:
    """Yield the protocol that carried a request, drawn next to its bar."""
    if name := CARRIERS.get(row["protocol"]):
        begin, until = _BESIDE
        yield from _stroke(name, (begin * end, number + 0.5), (until * end, number + 0.5))


def _carriers(visits: Sequence[Mark]) -> Mapping[str, str]:
    """Return the protocols to draw with their colours: those of all visits if one visit used several, otherwise
    none."""
    each = [_carried(visit) for visit in visits]
    there = {name for carried in each for name in carried} if any(len(carried) > 1 for carried in each) else set()
    return {name: colour for name, colour in _CARRIER_COLOURS.items() if name in there}


def _carried(visit: Mark) -> Counter[str]:
    return Counter(CARRIERS[row["protocol"]] for row in visit["rows"] if row["protocol"] in CARRIERS)


def _over(visit: Mark) -> str:
    """Describe the number of requests per protocol: `, 42 over HTTP/2, 29 over HTTP/3`."""
    return "".join(f", {count} {name}" for name, count in sorted(_carried(visit).items()))


def _stroke(stage: str, *ends: tuple[float, float]) -> Iterator[Mark]:
    """Yield the points of a line, then an empty row that separates it from the next line."""
    for t, row in ends:
        yield {"stage": stage, "t": float(f"{t:.5g}"), "row": row}
    yield {"stage": stage, "t": ends[-1][0], "row": None}
