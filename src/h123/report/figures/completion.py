"""Draws how pages load: the shares of a visit's bytes and resources that have arrived at each moment."""

from collections.abc import Iterator, Sequence
from typing import Any

import altair as alt
import numpy as np

from h123.report.figures.axes import lines
from h123.report.figures.drawing import Figure, FigureRows
from h123.report.figures.spread import balanced
from h123.report.figures.visits import began, by_cell, choice_note, took
from h123.report.look import COLOURS, NARROW, SERIES, WIDE, Mark
from h123.report.text.words import level
from h123.store import Sample

BYTES, RESOURCES = "of its bytes", "of its resources"
_STEPS = 100
"""The number of moments in a panel at which the shares are computed."""
_GUTTER = 62
"""The width in pixels of an axis of shares next to a panel."""


def completion_figure(visits: Sequence[Mark], factor: str) -> Figure:
    """Draw a panel for each cell, with two curves for each treatment. `visits` come from `median_visits`."""
    cells = by_cell(visits, factor)
    names = [level(name) for name in sorted({visit["cell"][factor] for arms in cells.values() for visit in arms})]

    def draw(width: int) -> Any:
        columns = balanced(len(cells)) if width > NARROW else 1
        plot = width // columns - _GUTTER
        legend = alt.Legend(columns=0 if width > NARROW else 1, labelLimit=0, symbolType="stroke")
        panels = []
        for where, arms in cells.items():
            title = alt.TitleParams(lines(where, plot), anchor="start", fontSize=12, color=COLOURS["ink"])
            panels.append(_panel(arms, factor, names, legend).properties(width=plot, height=160, title=title))
        return alt.concat(*panels, columns=columns, spacing=20)

    caption = (
        "For the visits above: the share of a page's bytes that had arrived (assuming that each body arrives evenly) "
        "and the share of its resources that were complete. If many responses share a connection, most "
        f"bytes may have arrived while few resources are complete.{choice_note(visits, factor)}"
    )
    return Figure("completion", "How the page fills", caption, draw(WIDE), draw(NARROW))


def _panel(arms: Sequence[Mark], factor: str, names: list[str], legend: alt.Legend) -> Any:
    end = max(map(took, arms))
    scale, unit = (1e9, "s") if end >= 1e9 else (1e6, "ms")
    points = [
        {"arm": level(visit["cell"][factor]), "share": of, "t": at / scale, "v": value}
        for visit in arms
        for of, at, value in _curves(visit["rows"], began(visit), end)
    ]
    x = alt.X("t:Q", scale=alt.Scale(domain=[0, end / scale], nice=False), title=unit, axis=alt.Axis(tickCount=4))
    shares = alt.Axis(values=[0, 0.25, 0.5, 0.75, 1], labelExpr="format(100 * datum.value, '~g') + ' %'")
    y = alt.Y("v:Q", title=None, scale=alt.Scale(domain=[0, 1]), axis=shares)
    colours = alt.Scale(domain=names, range=SERIES[: len(names)])
    dashes = alt.Scale(domain=[BYTES, RESOURCES], range=[[1, 0], [4, 3]])
    return (
        alt.Chart(FigureRows(points))
        .mark_line(strokeWidth=1.6, strokeCap="round")
        .encode(
            x=x,
            y=y,
            color=alt.Color("arm:N", scale=colours, legend=legend),
            strokeDash=alt.StrokeDash("share:N", scale=dashes, legend=legend),
        )
    )


def _curves(rows: Sequence[Sample], begin: int, end: int) -> Iterator[tuple[str, int, float]]:
    """Yield (name of the share, ns since the visit began, share) for each moment until the visit is over."""
    whole = np.array([row["end_ns"] for row in rows if not row["error"]], np.int64) - begin
    sizes = np.array([row["bytes_down"] for row in rows])
    lasts = np.array([row["end_ns"] for row in rows], np.int64) - begin
    firsts = np.array([row["first_byte_ns"] or row["end_ns"] for row in rows], np.int64) - begin
    over = int(lasts.max())
    for at in [*range(0, over, max(1, end // _STEPS)), over]:
        come = np.clip((at - firsts) / np.maximum(1, lasts - firsts), at >= lasts, 1)
        yield BYTES, at, round(float((come * sizes).sum() / max(1, sizes.sum())), 4)
        yield RESOURCES, at, round(float((whole <= at).sum() / len(rows)), 4)
