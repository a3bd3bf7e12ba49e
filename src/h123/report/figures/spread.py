"""Draws the values of trials, the spread of single requests, and the processor time per request."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from h123.analysis.provenance.values import ValueRow
from h123.base.units import common_unit, format_seconds
from h123.report.figures.axes import CHARACTER, RowNames, header, row_names
from h123.report.figures.drawing import Figure, FigureRows
from h123.report.look import COLOURS, NARROW, WIDE, Mark
from h123.report.text.words import listed, other_factors, treatment
from h123.study import METRICS, metric
from h123.study.metrics.quantity import ProcessorTime

_CPU_ROLES = {
    name: role
    for name, metric in METRICS.items()
    if metric.by_role and isinstance(metric.of, ProcessorTime)
    for role in metric.of.roles
}
_CPU_LOOKS = {"server": ("dot", "circle"), "client": ("other-dot", "diamond"), "backend": ("queue", "square")}
_COLUMNS = 3
_GUTTER = 66
"""The width in pixels of an axis of numbers at the left of a panel."""


def trials_figure(values: Sequence[ValueRow], metric_name: str, factor: str) -> Figure:
    """Draw one dot per trial for each treatment, and a line that joins the trials of a block. Treatments whose names do
    not fit side by side get a row each. `values` come from verdicts.json."""
    wording = metric(metric_name)
    rows = [(row, value) for row in values if (value := row["metrics"].get(metric_name)) is not None]
    scale, unit = common_unit((value for _, value in rows), wording.unit)
    data = [
        _trial(row, factor, wording.format(value)) | {"value": value / scale, "block": row["block"]}
        for row, value in rows
    ]
    order = treatments(values, factor)
    widest = max(len(word) for name in order for word in name.split())
    abreast = (widest + 1) * CHARACTER * len(order) <= WIDE // _COLUMNS - _GUTTER

    def columns(width: int) -> Any:
        # Put each word of a name on its own line, because names side by side would overlap.
        axis = alt.Axis(labelAngle=0, grid=False, labelExpr="split(datum.label, ' ')")
        x = alt.X("treatment:N", sort=order, title=None, axis=axis)
        y = alt.Y("value:Q", title=unit, scale=alt.Scale(zero=False), axis=alt.Axis(tickCount=5))
        base = alt.Chart().encode(x=x, y=y)
        line = base.mark_line(color=COLOURS["inconclusive"], strokeWidth=1, opacity=0.5)
        lines = line.encode(detail=alt.Detail("block:N"))
        middle = base.mark_tick(color=COLOURS["ink"], thickness=2, size=26).encode(y=alt.Y("median(value):Q"))
        layers = alt.layer(lines, middle, _dots(base)).properties(height=190)
        return _panels(layers, data, width, _GUTTER).resolve_scale(y="independent").resolve_axis(x="independent")

    def stacked(width: int) -> Any:
        names = _names(order, width)
        y = alt.Y("treatment:N", sort=order, title=None, axis=names.axis)
        x = alt.X("value:Q", title=unit, scale=alt.Scale(zero=False), axis=alt.Axis(tickCount=4))
        base = alt.Chart().encode(x=x, y=y)
        middle = base.mark_tick(color=COLOURS["ink"], thickness=2, size=14).encode(x=alt.X("median(value):Q"))
        layers = alt.layer(_dots(base), middle).properties(height=alt.Step(max(18, names.row)))
        panels = _panels(layers, data, width, names.width + 20)
        return panels.resolve_scale(x="independent").resolve_axis(y="independent")

    joined = "A line joins the trials of one block, which use the same link seed. " if abreast else ""
    caption = f"One dot per trial ({wording.meaning}). {joined}The bar is the median. Each panel has its own axis."
    draw = columns if abreast else stacked
    return Figure(f"trials-{metric_name}", f"{wording.title}, trial by trial", caption, draw(WIDE), draw(NARROW))


def requests_figure(quantiles: Sequence[Mark], order: list[str], factor: str) -> Figure:
    """Draw the spread of single requests. `quantiles` come from `latency_quantiles`, in the order of the panels."""
    pooled = [row for row in quantiles if row["trial"] is None]
    unit_size, unit = common_unit((row["seconds"][50] for row in pooled), "s")
    data = [_spread(row, factor, unit_size) for row in pooled]

    def draw(width: int) -> Any:
        names = _names(order, width)
        base = alt.Chart().encode(y=alt.Y("treatment:N", sort=order, title=None, axis=names.axis))
        scale, axis = alt.Scale(type="log", nice=False, padding=8), alt.Axis(tickCount=4, format="~g")
        whole = base.mark_rule(color=COLOURS["inconclusive"], strokeWidth=1.5).encode(
            x=alt.X("p5:Q", title=unit, scale=scale, axis=axis), x2=alt.X2("p95:Q")
        )
        half = base.mark_bar(color=COLOURS["dot"], height=10, opacity=0.55, aria=True).encode(
            x=alt.X("p25:Q"), x2=alt.X2("p75:Q"), description=alt.Description("told:N")
        )
        middle = base.mark_tick(color=COLOURS["ink"], thickness=2, size=16).encode(x=alt.X("p50:Q"))
        tail = base.mark_point(color=COLOURS["muted"], size=24, strokeWidth=1.3, opacity=1).encode(x=alt.X("p99:Q"))
        layers = alt.layer(whole, half, middle, tail).properties(height=alt.Step(max(26, names.row)))
        panels = _panels(layers, data, width, names.width + 20)
        return panels.resolve_scale(x="independent").resolve_axis(y="independent")

    caption = (
        "All warm requests of the analysed trials: the tick is the median, the bar the middle half, the line 5 to "
        "95 %, the ring the 99th percentile. Requests of one trial depend on one another, so this figure decides "
        "nothing."
    )
    return Figure("requests", "Latency, request by request", caption, draw(WIDE), draw(NARROW))


def cpu_figure(values: Sequence[ValueRow], factor: str) -> Figure | None:
    """Draw the processor time per request of the client, the server and the backend, with one mark for each trial.
    Return None if no trial has such a value. `values` come from verdicts.json."""
    costs = [
        (row, name, value) for row in values for name in _CPU_ROLES if (value := row["metrics"].get(name)) is not None
    ]
    if not costs:
        return None
    unit_size, unit = common_unit((value for _, _, value in costs), "s")
    data = [
        _trial(row, factor, f"{_CPU_ROLES[name]} {metric(name).format(value)}")
        | {"role": _CPU_ROLES[name], "value": value / unit_size}
        for row, name, value in costs
    ]
    order = treatments(values, factor)
    roles = [role for name, role in _CPU_ROLES.items() if any(name == had for _, had, _ in costs)]

    def draw(width: int) -> Any:
        names = _names(order, width)
        looks = [_CPU_LOOKS[role] for role in roles]
        colour = alt.Scale(domain=roles, range=[COLOURS[name] for name, _ in looks])
        chart = alt.Chart().mark_point(filled=True, size=46, opacity=0.75, aria=True)
        chart = chart.encode(
            y=alt.Y("treatment:N", sort=order, title=None, axis=names.axis),
            x=alt.X("value:Q", title=f"{unit} per request", scale=alt.Scale(zero=True), axis=alt.Axis(tickCount=4)),
            color=alt.Color("role:N", scale=colour),
            shape=alt.Shape("role:N", scale=alt.Scale(domain=roles, range=[sign for _, sign in looks])),
            description=alt.Description("told:N"),
        ).properties(height=alt.Step(max(26, names.row)))
        return _panels(chart, data, width, names.width + 20).resolve_axis(x="independent", y="independent")

    caption = "Processor time of each role while the client ran, handshakes included, per request; one mark per trial."
    return Figure("cpu", f"CPU per request of {listed(roles, 'and')}", caption, draw(WIDE), draw(NARROW))


def treatments(rows: Sequence[ValueRow], factor: str) -> list[str]:
    """Return the treatments' names, sorted by level, with A/A twins after their originals."""
    by_treatment = {(row["cell"][factor], row["twin"]): row for row in rows}
    return [treatment(by_treatment[key]["cell"], factor, key[1]) for key in sorted(by_treatment)]


def _spread(row: Mark, factor: str, scale: float) -> Mark:
    scaled = {f"p{percent}": row["seconds"][percent] / scale for percent in (5, 25, 50, 75, 95, 99)}
    half = " to ".join(format_seconds(row["seconds"][percent]) for percent in (25, 75))
    place = _place(row["cell"], row["twin"], factor)
    sentence = f"{_place_words(place)}: median {format_seconds(row['seconds'][50])}, middle half {half}"
    return place | scaled | {"told": sentence}


def _trial(row: ValueRow, factor: str, value: str) -> Mark:
    place = _place(row["cell"], row["twin"], factor)
    return place | {"told": f"{_place_words(place)}, block {row['block']}: {value}"}


def _place(cell: Mapping[str, str], twin: bool, factor: str) -> Mark:
    return {"cell": other_factors(cell, factor), "treatment": treatment(cell, factor, twin)}


def _place_words(place: Mark) -> str:
    return ", ".join(name for name in (place["treatment"], place["cell"]) if name)


def _dots(base: Any) -> Any:
    dots = base.mark_point(filled=True, size=44, opacity=0.9, color=COLOURS["dot"], aria=True)
    return dots.encode(description=alt.Description("told:N"))


def _names(order: Sequence[str], width: int) -> RowNames:
    return row_names(order, 110 if width > NARROW else 130)


def _panels(layers: Any, data: list[Mark], width: int, gutter: int) -> Any:
    """Arrange one panel for each cell, with as many side by side as the width allows. `gutter` is the width of a
    panel's axis."""
    cells = list(dict.fromkeys(row["cell"] for row in data))
    columns = balanced(len(cells)) if width > NARROW else 1
    plot = width // columns - gutter
    facet = alt.Facet("cell:N", sort=cells, header=header(cells, plot))
    panels = layers.properties(width=plot)
    return panels.facet(facet=facet, columns=columns, data=FigureRows(data), spacing=22)


def balanced(panels: int) -> int:
    """Return the number of panels side by side on a wide screen, chosen so that the last row of panels is not nearly
    empty."""
    return math.ceil(panels / math.ceil(panels / _COLUMNS))
