"""Draws the published study's figures 5 and 6 from a campaign's data: replications and their averages.

The layout works for any study: a panel's rows are the levels of the last two factors, and there is a panel for each
combination of the others.
"""

import itertools
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import altair as alt

from h123.analysis.as_published.rows import ReplicationsRow
from h123.report.figures.axes import header, log_ticks, row_names
from h123.report.figures.drawing import Figure, FigureRows
from h123.report.look import COLOURS, NARROW, SERIES, WIDE, Mark
from h123.report.text.words import cell_name, level
from h123.study import metric

Factors = Mapping[str, Sequence[str]]

_SHAPES = ["circle", "diamond", "square", "triangle-up", "triangle-down"]
_STEP = 26
"""The height of a row in pixels."""
SECONDS = "datum.value >= 1 ? format(datum.value, '~g') + ' s' : format(datum.value * 1000, '~g') + ' ms'"
MEGABYTES = "format(datum.value / 1e6, '~g') + ' MB/s'"
"""The format of bytes per second on an axis."""
_TRIALS = "Each mark is one trial: the mean of its requests. The vertical line is the average of the trials."


def averages_figures(replications: Sequence[ReplicationsRow], factors: Factors, compared: str) -> list[Figure]:
    """Return the equivalents of the published study's figures 5 and 6, each only if there are data for it.

    `replications` come from verdicts.json. `factors` are the study's factors with their levels. Both are in the study's
    order.
    """
    measured = [r for r in replications if r["trials"]]
    drawings = ((("latency", "ttfb"), times_figure), (("throughput",), throughput_figure))
    rows_by_drawing = ((draw, [r for r in measured if r["metric"] in metrics]) for metrics, draw in drawings)
    return [draw(rows, factors, compared) for draw, rows in rows_by_drawing if rows]


def times_figure(replications: Sequence[ReplicationsRow], factors: Factors, compared: str) -> Figure:
    outer, inner = _parted(factors, compared)
    caption = (
        f"{_TRIALS} Grey: the link's minimum, a request with an equal share of its rate (latency) or a round trip "
        "(first byte). The same quantities as the study's Figure 5."
    )
    rows = _rows(replications, factors, compared, (*outer, *inner))
    wide, narrow = _both([_mark(r, compared, outer, inner, titled=True) for r in rows], factors[compared], SECONDS)
    return Figure("published-times", "As published: latency and time to first byte", caption, wide, narrow)


def throughput_figure(replications: Sequence[ReplicationsRow], factors: Factors, compared: str) -> Figure:
    """Draw throughput (size divided by latency, computed for each request), with the levels of the second-to-last
    factor side by side."""
    outer, inner = _parted(factors, compared)
    inner = inner[::-1]
    caption = (
        f"Payload divided by duration, per request. {_TRIALS} Grey: an equal share of the link. The same quantity as "
        "the study's Figure 6. It says no more than latency does."
    )
    rows = _rows(replications, factors, compared, (*outer, *inner))
    wide, narrow = _both([_mark(r, compared, outer, inner, titled=False) for r in rows], factors[compared], MEGABYTES)
    return Figure("published-throughput", "As published: throughput of a request", caption, wide, narrow)


def _parted(factors: Factors, compared: str) -> tuple[list[str], list[str]]:
    """Return the factors whose levels are the panels, and those whose levels are a panel's rows."""
    others = [factor for factor in factors if factor != compared]
    return others[:-2], others[-2:]


def _rows(
    replications: Sequence[ReplicationsRow], factors: Factors, compared: str, order: Sequence[str]
) -> list[ReplicationsRow]:
    """Return the replications, sorted by the levels of the factors in `order` and then by the compared factor."""

    def place(row: ReplicationsRow) -> list[int]:
        return [list(factors[factor]).index(row["cell"][factor]) for factor in (*order, compared)]

    return sorted(replications, key=place)


def _mark(
    replication: ReplicationsRow, compared: str, outer: Sequence[str], inner: Sequence[str], titled: bool
) -> Mark:
    cell, link = replication["cell"], replication["link"]
    words = [metric(replication["metric"]).title] if titled else []
    where = cell_name({name: cell[name] for name in outer})
    return {
        "panel": "|".join([*words, *([where] if where else [])]),
        "row": cell_name({name: cell[name] for name in inner}) or "all",
        "level": level(cell[compared]),
        "trials": [trial["mean"] for trial in replication["trials"]],
        "limit": (link["share"] or link["alone"]) if link else None,
    }


def _both(rows: list[Mark], compared: Iterable[str], label: str) -> tuple[Any, Any]:
    present = {row["level"] for row in rows}
    levels = [level(name) for name in compared if level(name) in present]
    panels, names = (list(dict.fromkeys(row[key] for row in rows)) for key in ("panel", "row"))
    draw = _drawing(_data(rows), levels, panels, names, label)
    return draw(WIDE), draw(NARROW)


def _data(rows: list[Mark]) -> list[Mark]:
    """Return one record per mark: trials, their average, and, once per treatment, the link's limit."""
    data = []
    for row in rows:
        place = {name: row[name] for name in ("panel", "row", "level")}
        data += [{**place, "trial": value} for value in row["trials"]]
        data.append({**place, "average": sum(row["trials"]) / len(row["trials"])})
        if row["limit"]:
            data.append({**place, "limit": row["limit"]})
    return data


def _drawing(
    data: list[Mark], levels: list[str], panels: list[str], names: list[str], label: str
) -> Callable[[int], Any]:
    numbers = [record[kind] for record, kind in itertools.product(data, ("trial", "limit")) if kind in record]
    domain = [min(numbers) / 1.3, max(numbers) * 1.3]

    def draw(width: int) -> Any:
        columns = min(2, len(panels)) if width > NARROW else 1
        rows = row_names(names, width // columns * 2 // 5)
        plot = width // columns - 26 - rows.width
        axis = alt.Axis(values=log_ticks(domain, plot // 55), labelExpr=label, grid=True)
        layers = alt.layer(*_layers(levels, names, rows.axis, alt.Scale(type="log", domain=domain, nice=False), axis))
        chart = layers.properties(width=plot, height=alt.Step(max(_STEP, rows.row))).facet(
            facet=alt.Facet("panel:N", sort=panels, header=header(panels, plot)),
            columns=columns,
            data=FigureRows(data),
            spacing=18,
        )
        return chart.resolve_axis(x="independent", y="independent")

    return draw


def _layers(levels: list[str], names: list[str], rows: alt.Axis, scale: alt.Scale, axis: alt.Axis) -> list[Any]:
    """Return the layers: the link's limit across the whole row, then each level's trials and their average."""
    y = alt.Y("row:N", sort=names, title=None, axis=rows)
    colour = alt.Color("level:N", scale=alt.Scale(domain=levels, range=SERIES))
    shape = alt.Shape("level:N", scale=alt.Scale(domain=levels, range=_SHAPES))
    apart = (_STEP - 8) / len(levels)

    def part(mark: Any, kind: str, level_name: str | None = None, **encodings: Any) -> Any:
        condition = f"isValid(datum.{kind})" + (f" && datum.level == {json.dumps(level_name)}" if level_name else "")
        x = alt.X(f"{kind}:Q", title=None, scale=scale, axis=axis)
        return mark.encode(x=x, y=y, **encodings).transform_filter(condition)

    layers = [
        part(alt.Chart().mark_tick(color=COLOURS["inconclusive"], thickness=2, size=_STEP - 4, opacity=1), "limit")
    ]
    for index, level_name in enumerate(levels):
        offset = apart * (index - (len(levels) - 1) / 2)
        dots = alt.Chart().mark_point(filled=True, size=26, opacity=0.6, yOffset=offset)
        average = alt.Chart().mark_tick(thickness=2.5, size=apart + 2, yOffset=offset, opacity=1)
        layers += [
            part(dots, "trial", level_name, color=colour, shape=shape),
            part(average, "average", level_name, color=colour),
        ]
    return layers
