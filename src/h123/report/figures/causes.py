"""Draws bars for the causes of the time that requests take."""

from collections.abc import Sequence
from typing import Any

import altair as alt

from h123.analysis.explanations.causes import CausesRow
from h123.base.units import common_unit, format_seconds
from h123.report.figures.axes import header, row_names
from h123.report.figures.drawing import Figure, FigureRows
from h123.report.look import COLOURS, NARROW, WIDE, Mark
from h123.report.text.explanations.causes import DRAWN, VISIT, observation, title
from h123.report.text.words import cause, level, listed

_BAR = 9
"""The height in pixels of a bar and the gap below it."""


def causes_figure(rows: Sequence[CausesRow]) -> Figure:
    """Draw bars that show what the requests of both levels spent their time on, with a panel for each cell. Cold
    requests have separate panels."""
    whose = listed(list(dict.fromkeys(f"{kind.typical} {kind.singular}" for kind in map(observation, rows))), "or")
    scale, unit = common_unit((seconds for row in rows for seconds in (row["a_seconds"], row["b_seconds"])), "s")
    data = _marks(rows, scale)
    levels = list(dict.fromkeys(mark["level"] for mark in data))
    panels = list(dict.fromkeys(mark["panel"] for mark in data))
    largest = {mark["part"]: mark["value"] for mark in sorted(data, key=lambda mark: float(mark["value"]))}
    order = sorted(largest, key=lambda part: -largest[part])

    def draw(width: int) -> Any:
        names = row_names(order, width // 2)
        colour = alt.Scale(domain=levels, range=[COLOURS["dot"], COLOURS["other-dot"], COLOURS["equivalent"]])
        bars = (
            alt.Chart()
            .mark_bar(aria=True, height=7)
            .encode(
                y=alt.Y("part:N", sort=order, title=None, axis=names.axis),
                yOffset=alt.YOffset("level:N", sort=levels),
                x=alt.X("value:Q", title=f"{unit}, {whose}", axis=alt.Axis(tickCount=4)),
                color=alt.Color("level:N", scale=colour, sort=levels),
                description=alt.Description("told:N"),
            )
        )
        plot = width - names.width - 20
        chart = bars.properties(width=plot, height=alt.Step(max(_BAR, names.row / len(levels))))
        titles = alt.Facet("panel:N", header=header(panels, width), sort=panels)
        drawn = chart.facet(data=FigureRows(data), facet=titles, columns=1)
        return drawn.resolve_scale(x="independent", y="independent")

    along = " along its critical path" if all(observation(row) is VISIT for row in rows) else ""
    caption = (
        f"What the {whose} of each side spent its time on{along}, according to the packets of the link. The bars of a "
        "side add up to its time. Each panel has a separate axis."
    )
    return Figure("causes", "Where the time goes", caption, draw(WIDE), draw(NARROW))


def _marks(rows: Sequence[CausesRow], scale: float) -> list[Mark]:
    """Return a bar for each notable part of each side. A level that appears in several comparisons is drawn once."""
    by_bar: dict[tuple[str, str, str], Mark] = {}
    for row in rows:
        least = DRAWN * max(row["a_seconds"], row["b_seconds"])
        worth = [part for part in row["parts"] if max(part["a_seconds"], part["b_seconds"]) >= least]
        for part in worth:
            for name, seconds in ((row["a"], part["a_seconds"]), (row["b"], part["b_seconds"])):
                mark = _mark(row, name, cause(part["cause"], part["words"]), seconds, scale)
                by_bar.setdefault((mark["panel"], mark["part"], mark["level"]), mark)
    return list(by_bar.values())


def _mark(row: CausesRow, name: str, words: str, seconds: float, scale: float) -> Mark:
    panel, name = title(row), level(name)
    return {
        "panel": panel,
        "part": words,
        "level": name,
        "value": seconds / scale,
        "told": f"{panel}: {name} spends {format_seconds(seconds)} on {words}",
    }
