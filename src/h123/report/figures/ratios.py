"""Draws comparisons: each ratio with its interval on a logarithmic axis, and the equivalence margin."""

import math
import statistics
from collections.abc import Sequence
from typing import Any, Literal

import altair as alt

from h123.analysis import meaningful
from h123.analysis.comparisons.rows import JudgedComparison
from h123.report.figures.axes import CHARACTER, LINE, RowNames, Scale, header, lines, log_scale, row_names
from h123.report.figures.drawing import Figure, FigureRows
from h123.report.look import COLOURS, NARROW, WIDE, Mark
from h123.report.text.difference import timeless
from h123.report.text.order import by_ratio, distinct, many
from h123.report.text.words import cell_name, interval, level, percent, ratio, standing, verdict_word
from h123.study import metric

_SIGNS = {
    "better": ("better", "triangle-up", COLOURS["better"]),
    "worse": ("worse", "triangle-down", COLOURS["worse"]),
    "equivalent": ("equivalent", "square", COLOURS["equivalent"]),
    "inconclusive": ("cannot tell yet", "circle", COLOURS["inconclusive"]),
    "withheld": ("not judged", "cross", COLOURS["inconclusive"]),
}
_LEAST_PLOT = 130
"""The smallest width in pixels of an axis on which an interval is readable."""


def answer_figure(comparisons: Sequence[JudgedComparison], margin: float) -> Figure:
    """Draw each ratio with its interval: a panel for each metric and pair, and a row for each cell. If there are many
    pairs, panels are cells, and rows are pairs sorted by ratio."""
    rows = _rows(comparisons)
    labels = 12 + round(CHARACTER * max(len(row["label"]) for row in rows))
    panels = {name: [row for row in rows if row["panel"] == name] for name in distinct(row["panel"] for row in rows)}
    columns = 2 if many(comparisons) and len(panels) > 1 else 1

    def draw(width: int) -> alt.TopLevelMixin:
        abreast = columns if width > NARROW else 1
        room = width // abreast - 24 * (abreast - 1)
        names = row_names(distinct(row["name"] for row in rows), room // 3)
        room_for_labels = room - names.width - labels >= _LEAST_PLOT
        plot = room - names.width - labels if room_for_labels else room
        scale = log_scale(rows, margin, plot)
        charts = []
        for title, mine in panels.items():
            if room_for_labels:
                step = max(names.row, 40 if len(mine) <= 8 else 24)
                layers = [*_layers(mine, margin, scale, names.axis, size=110), _labels(plot + 12, mine)]
            else:
                mine = [row | {"lines": lines(row["name"], plot - labels)} for row in mine]
                above = LINE * max(len(row["lines"]) for row in mine)
                step = above + 28
                layers = [*_layers(mine, margin, scale, None, 110, down=above // 2), *_names_above(plot, step, mine)]
            panel = alt.layer(*layers, data=FigureRows(mine))
            charts.append(panel.properties(width=plot, height=alt.Step(step), title=_title(title, room)))
        return alt.concat(*charts, columns=min(abreast, len(charts)), spacing=18)

    order = "Sorted by ratio, the smallest first. " if many(comparisons) else ""
    caption = (
        f"{order}Ratio and interval on a logarithmic axis. The shaded band is the equivalence margin of "
        f"{percent(margin)}; the sign and the words are the verdict."
    )
    return Figure("answer", "The answer", caption, draw(WIDE), draw(NARROW))


def details_figure(comparisons: Sequence[JudgedComparison], margin: float) -> Figure:
    """Draw all ratios in one figure: a row of panels for each metric, and a column for each pair or, if there are many
    pairs, for each cell."""
    rows = _rows(comparisons)
    titles, columns = distinct(row["metric"] for row in rows), distinct(row["column"] for row in rows)
    order = _overall_order(rows) if many(comparisons) else distinct(row["name"] for row in rows)
    titles_width = round(CHARACTER * max(len(title) for title in titles))

    def table(plot: int, names: RowNames) -> Any:
        down = alt.Header(labelAngle=0, labelAlign="left", labelAnchor="middle", labelPadding=titles_width)
        return _panel(plot, names, 4).facet(
            row=alt.Row("metric:N", sort=titles, header=down),
            column=alt.Column("column:N", sort=columns, header=header(columns, plot)),
            spacing={"row": 10, "column": 16},
            data=FigureRows(rows),
        )

    def column(width: int) -> Any:
        names = row_names(order, int(width * 0.4))
        panels = distinct(row["panel"] for row in rows)
        plot = width - names.width - 20
        facet = alt.Facet("panel:N", sort=panels, header=header(panels, plot))
        return _panel(plot, names, 4 if width > NARROW else 2).facet(
            facet=facet, columns=1, spacing=14, data=FigureRows(rows)
        )

    def _panel(plot: int, names: RowNames, abreast: int) -> Any:
        scale = log_scale(rows, margin, plot)
        layers = _layers(rows, margin, scale, names.axis, size=60, order=order, legend=alt.Legend(columns=abreast))
        return alt.layer(*layers).properties(width=plot, height=alt.Step(max(17, names.row)))

    caption = (
        f"Every ratio with its interval, on one logarithmic axis. Shaded: the equivalence margin of {percent(margin)}. "
        "Whether less is better depends on the metric; the sign shows the verdict on the first of the pair."
    )
    names = row_names(order, 200)
    plot = (WIDE - names.width - titles_width) // len(columns) - 24
    # If some panels of a table are missing, Vega-Lite moves the empty ones to the front and mislabels the others.
    whole = len(distinct(row["panel"] for row in rows)) == len(titles) * len(columns)
    wide = table(plot, names) if whole and plot >= _LEAST_PLOT - 20 else column(WIDE)
    return Figure("details", "All comparisons at a glance", caption, wide, column(NARROW))


def _rows(comparisons: Sequence[JudgedComparison]) -> list[Mark]:
    """Return the rows to draw. `name` is a row's cell and `column` its pair, or the reverse if there are many pairs.
    `panel` is the metric with the column."""
    if not many(comparisons):
        return [_row(c, _cell(c), f"{level(c['a'])} / {level(c['b'])}") for c in comparisons]
    bases = {c["b"] for c in comparisons}
    if len(bases) > 1:
        return [_row(c, f"{level(c['a'])} / {level(c['b'])}", _cell(c)) for c in by_ratio(comparisons)]
    return [_row(c, level(c["a"]), f"{_cell(c)}, ratio to {level(c['b'])}") for c in by_ratio(comparisons)]


def _cell(comparison: JudgedComparison) -> str:
    return cell_name(comparison["cell"]) or str(comparison["workload"])


def _row(comparison: JudgedComparison, name: str, column: str) -> Mark:
    wording = metric(comparison["metric"])
    value, low, high = comparison["ratio"], comparison["low"], comparison["high"]
    estimate = {"ratio": value, **({"low": low, "high": high} if meaningful(comparison["confidence"]) else {})}
    label = "no answer" if value is None else f"{ratio(value, low, high)}  {verdict_word(comparison)}"
    if timeless(comparison):
        estimate, label = {}, verdict_word(comparison)
    pair = f"{level(comparison['a'])} / {level(comparison['b'])}"
    return {part: number for part, number in estimate.items() if number is not None} | {
        "name": name,
        "metric": wording.title,
        "column": column,
        "panel": f"{wording.title}, {column}",
        "sign": _SIGNS["withheld" if comparison.get("withheld") else standing(comparison)][0],
        "label": label,
        "told": f"{wording.title}, {pair}, {_cell(comparison)}: {label} ({interval(comparison)})",
    }


def _overall_order(rows: Sequence[Mark]) -> list[str]:
    """Return the rows' names, sorted by their mean ratio in the first metric."""
    first = [row for row in rows if row["metric"] == rows[0]["metric"]]

    def mean(name: str) -> float:
        ratios = [row["ratio"] for row in first if row["name"] == name and "ratio" in row]
        return statistics.geometric_mean(ratios) if ratios else math.inf

    return sorted(distinct(row["name"] for row in rows), key=mean)


def _layers(
    rows: Sequence[Mark],
    margin: float,
    scale: Scale,
    axis: alt.Axis | None,
    size: int,
    *,
    order: Sequence[str] | None = None,
    down: int = 0,
    legend: alt.Legend | None = None,
) -> list[alt.Chart]:
    """Return the layers: the band, the line at 1, intervals and signs. Intervals and signs are `down` pixels below the
    middle of their row. Rows without a ratio stay empty."""
    base = alt.Chart()
    at = alt.Scale(type="log", domain=scale.domain, nice=False)
    x = alt.X("ratio:Q", title=None, scale=at, axis=alt.Axis(values=scale.ticks, format="~g", grid=True))
    low = alt.X("from:Q", title=None, scale=at)
    y = _y(rows, order).axis(axis)
    words, shapes, colours = zip(*_SIGNS.values(), strict=True)
    shape = alt.Shape("sign:N", scale=alt.Scale(domain=words, range=shapes), legend=legend)
    colour = alt.Color("sign:N", scale=alt.Scale(domain=words, range=colours), legend=legend)
    band = base.mark_rect(color=COLOURS["band"]).encode(x=alt.XDatum(1 / (1 + margin)), x2=alt.X2Datum(1 + margin))
    unity = base.mark_rule(color=COLOURS["muted"]).encode(x=alt.XDatum(1))
    spans = base.mark_rule(strokeWidth=2.5, yOffset=down).encode(x=low, x2=alt.X2("to:Q"), y=y, color=colour)
    marks = base.mark_point(filled=True, size=size, opacity=1, yOffset=down, aria=True)
    points = marks.encode(x=x, y=y, color=colour, shape=shape, description=alt.Description("told:N"))
    return [band, unity, spanned(spans, scale), points.transform_filter("isValid(datum.ratio)")]


def spanned(spans: alt.Chart, scale: Scale) -> alt.Chart:
    """Draw intervals from `from` to `to`. An interval without a bound reaches the picture's edge; rows without an
    interval stay empty."""
    first, last = scale.domain
    bounded = spans.transform_filter("isValid(datum.low) || isValid(datum.high)")
    ends = {"from": f"isValid(datum.low) ? datum.low : {first}", "to": f"isValid(datum.high) ? datum.high : {last}"}
    return bounded.transform_calculate(**ends)


def _labels(at: int, rows: Sequence[Mark]) -> Any:
    text = alt.Chart().mark_text(align="left", fontSize=13, color=COLOURS["ink"])
    return text.encode(x=alt.value(at), y=_y(rows), text=alt.Text("label:N"))


def _names_above(plot: int, step: int, rows: Sequence[Mark]) -> list[Any]:
    """Draw the name and the result above each interval, for names that leave no room next to it."""

    def text(align: Literal["left", "right"], at: int, field: str) -> Any:
        mark = alt.Chart().mark_text(align=align, fontSize=12, color=COLOURS["ink"], dy=12 - step // 2, lineHeight=LINE)
        return mark.encode(x=alt.value(at), y=_y(rows), text=alt.Text(f"{field}:N"))

    return [text("left", 0, "lines"), text("right", plot, "label")]


def _y(rows: Sequence[Mark], order: Sequence[str] | None = None) -> alt.Y:
    return alt.Y("name:N", sort=list(order or distinct(row["name"] for row in rows)), title=None)


def _title(text: str, width: int) -> alt.TitleParams:
    return alt.TitleParams(
        lines(text, width), anchor="start", frame="bounds", fontSize=12, color=COLOURS["muted"], offset=8
    )
