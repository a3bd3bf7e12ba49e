"""Draws a paper's values for limited links, next to the values measured in the same cells and the links' limits."""

import itertools
from collections.abc import Sequence
from typing import Any

import altair as alt

from h123.report.figures.averages import MEGABYTES, SECONDS
from h123.report.figures.axes import log_ticks, row_names
from h123.report.figures.drawing import Figure, FigureRows
from h123.report.look import COLOURS, NARROW, WIDE, Mark
from h123.report.text.printed_values import PrintedTable
from h123.report.text.words import level
from h123.study import PRINTED

_PAPER = "printed"
_SHAPES = ["cross", "circle", "diamond"]
_COLOURS = [COLOURS["worse"], COLOURS["dot"], COLOURS["other-dot"]]


def printed_figure(table: PrintedTable) -> Figure | None:
    """Return the figure, or None if the paper has no value for a limited link."""
    rows = [row for row in table.values if row["link"]]
    if not rows:
        return None
    sides = [side.study for side in table.sides]
    sides = sides if len(set(sides)) == len(sides) else [f"{side.study} ({side.campaign})" for side in table.sides]
    times, rates = (
        [record for row in rows if PRINTED[row["metric"]].better == better for record in _records(row, sides)]
        for better in ("lower", "higher")
    )

    def draw(width: int) -> Any:
        parts = (("Time (less is better)", times, SECONDS), ("Throughput per request", rates, MEGABYTES))
        panels = [_panel(*part, [_PAPER, *sides], width) for part in parts if part[1]]
        return alt.vconcat(*panels, spacing=22)

    caption = (
        "Values printed for a limited link, and the same cells as measured; a line joins the ends of a range. Grey: "
        "what a request gets if it has the link to itself. No time can be to its left, no throughput to its right."
    )
    return Figure("printed-values", "Printed, measured, possible", caption, draw(WIDE), draw(NARROW))


def _records(row: Mark, sides: Sequence[str]) -> list[Mark]:
    statistic = "" if row["statistic"] == "mean" else ", median"
    name = f"{row['place']}, {level(row['of'])}{statistic}" + (", first byte" if row["metric"] == "ttfb" else "")
    bound = row["link"]["alone"]["high" if PRINTED[row["metric"]].better == "higher" else "low"]
    records = [{"row": name, "limit": bound}, {"row": name, "who": _PAPER, **row["printed"]}]
    for side, own in zip(sides, row["ours"], strict=True):
        if values := [treatment["value"] for treatment in own]:
            records.append({"row": name, "who": side, "low": min(values), "high": max(values)})
    return records


def _panel(title: str, records: list[Mark], label: str, who: list[str], width: int) -> Any:
    names = list(dict.fromkeys(record["row"] for record in records))
    numbers = [record[key] for record, key in itertools.product(records, ("limit", "low", "high")) if key in record]
    domain = [min(numbers) / 1.4, max(numbers) * 1.4]
    rows = row_names(names, 260 if width > NARROW else 150)
    plot = width - 10 - rows.width
    axis = alt.Axis(values=log_ticks(domain, plot // 55), labelExpr=label, grid=True)
    scale = alt.Scale(type="log", domain=domain, nice=False)
    y = alt.Y("row:N", sort=names, title=None, axis=rows.axis)
    legend = alt.Legend(columns=3 if width > NARROW else 1)
    colour = alt.Color("who:N", scale=alt.Scale(domain=who, range=_COLOURS), legend=legend)
    shape = alt.Shape("who:N", scale=alt.Scale(domain=who, range=_SHAPES), legend=legend)

    def x(name: str) -> alt.X:
        return alt.X(f"{name}:Q", title=None, scale=scale, axis=axis)

    base = alt.Chart()
    limits = base.mark_tick(color=COLOURS["inconclusive"], thickness=3, size=18, opacity=1).encode(x=x("limit"), y=y)
    spans = base.mark_rule(strokeWidth=1.5).encode(x=x("low"), x2=alt.X2("high:Q"), y=y, color=colour)
    points = base.mark_point(filled=True, size=70, opacity=0.9)
    ends = [points.encode(x=x(end), y=y, color=colour, shape=shape) for end in ("low", "high")]
    marks = [layer.transform_filter("isValid(datum.who)") for layer in (spans, *ends)]
    layers = alt.layer(limits.transform_filter("isValid(datum.limit)"), *marks, data=FigureRows(records))
    heading = alt.TitleParams(title, anchor="start", frame="bounds", fontSize=12, color=COLOURS["ink"], offset=8)
    return layers.properties(width=plot, height=alt.Step(max(22, rows.row)), title=heading)
