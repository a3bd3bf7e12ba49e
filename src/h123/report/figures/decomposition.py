"""Draws figures that divide each difference into protocol and processing, from trials under both clocks."""

from collections.abc import Iterable, Sequence
from typing import Any

import altair as alt

from h123.analysis import meaningful
from h123.analysis.verdicts.decomposition import PartsOfTime, PartsRow
from h123.report.figures.axes import Scale, log_scale, row_names
from h123.report.figures.drawing import Figure, FigureRows
from h123.report.figures.ratios import spanned
from h123.report.look import COLOURS, NARROW, WIDE, Mark
from h123.report.text.words import cell_name, interval, level, percent, ratio
from h123.study import metric

_SIGNS = {
    "protocol": ("circle", COLOURS["dot"]),
    "processing": ("diamond", COLOURS["other-dot"]),
    "total": ("square", COLOURS["ink"]),
}
"""The shape and colour of each kind of mark in drawing order: the parts of the total, then the total."""
_PITCH = 18
"""The distance in pixels from one part to the next."""
_COLUMNS = 2


def split_figure(split: PartsOfTime, margin: float) -> Figure:
    """Draw each ratio as the product of its parts: a panel for each metric and pair, with three marks for each cell."""
    rows = [marked for row in split["rows"] for marked in _marks(row)]
    cells = list(dict.fromkeys(row["cell"] for row in rows))

    def draw(width: int) -> alt.TopLevelMixin:
        columns = _COLUMNS if width > NARROW else 1
        names = row_names(cells, 90)
        plot = width // columns - names.width - 115
        scale = log_scale(rows, margin, plot)
        panels = []
        for panel in dict.fromkeys(row["panel"] for row in rows):
            mine = [row for row in rows if row["panel"] == panel]
            title = alt.TitleParams(
                panel, anchor="start", frame="bounds", fontSize=12, color=COLOURS["muted"], offset=8
            )
            layers = alt.layer(*_layers(mine, margin, scale, names.axis), _labels(plot, mine), data=FigureRows(mine))
            panels.append(layers.properties(width=plot, height=_height(mine), title=title))
        return alt.concat(*panels, columns=min(columns, len(panels)), spacing=18)

    caption = (
        "How much of the difference is protocol, and how much is processing? The total is the ratio in real time; the "
        "protocol part is the same ratio under the virtual clock, where processing takes no time; the processing part "
        "is what is left, total / protocol. In each block, protocol × processing is the total, but the three marks are "
        f"separate estimates. Logarithmic axis, intervals as lines; shaded: the equivalence margin of "
        f"{percent(margin)}."
    )
    return Figure("parts", "Protocol and processing", caption, draw(WIDE), draw(NARROW))


def _marks(row: PartsRow) -> Iterable[Mark]:
    name = cell_name(row["cell"]) or row["workload"]
    panel = f"{metric(row['metric']).title}, {level(row['a'])} / {level(row['b'])}"
    parts = {"protocol": row["protocol"], "processing": row["processing"], "total": row["total"]}
    for part in _SIGNS:
        of = parts[part]
        ends = {"low": of["low"], "high": of["high"]}
        estimate = {"ratio": of["ratio"], **(ends if meaningful(of["confidence"]) else {})}
        label = ratio(of["ratio"], of["low"], of["high"])
        sentence = f"{panel}, {name}: {label} {part} ({interval(of)})"
        yield estimate | {"cell": name, "panel": panel, "part": part, "label": f"{label} {part}", "told": sentence}


def _height(rows: Sequence[Mark]) -> int:
    return (_PITCH * len(_SIGNS) + _PITCH) * len({row["cell"] for row in rows})


def _layers(rows: Sequence[Mark], margin: float, scale: Scale, names: alt.Axis) -> list[alt.Chart]:
    """Return the layers from back to front: the equivalence band, the line at 1, and each part's interval and mark."""
    base = alt.Chart()
    at = alt.Scale(type="log", domain=scale.domain, nice=False)
    x = alt.X("ratio:Q", title=None, scale=at, axis=alt.Axis(values=scale.ticks, format="~g", grid=True))
    y, offset = _places(rows)
    y = y.axis(names)
    shapes, colours = zip(*_SIGNS.values(), strict=True)
    colour = alt.Color("part:N", scale=alt.Scale(domain=list(_SIGNS), range=colours), legend=None)
    shape = alt.Shape("part:N", scale=alt.Scale(domain=list(_SIGNS), range=shapes), legend=None)
    band = base.mark_rect(color=COLOURS["band"]).encode(x=alt.XDatum(1 / (1 + margin)), x2=alt.X2Datum(1 + margin))
    unity = base.mark_rule(color=COLOURS["muted"]).encode(x=alt.XDatum(1))
    low = alt.X("from:Q", title=None, scale=at)
    spans = base.mark_rule(strokeWidth=2.5).encode(x=low, x2=alt.X2("to:Q"), y=y, yOffset=offset, color=colour)
    points = base.mark_point(filled=True, size=80, opacity=1, aria=True)
    points = points.transform_filter("isValid(datum.ratio)").encode(
        x=x, y=y, yOffset=offset, color=colour, shape=shape, description=alt.Description("told:N")
    )
    return [band, unity, spanned(spans, scale), points]


def _labels(plot: int, rows: Sequence[Mark]) -> Any:
    y, offset = _places(rows)
    text = alt.Chart().mark_text(align="left", fontSize=12, color=COLOURS["ink"])
    return text.encode(x=alt.value(plot + 12), y=y, yOffset=offset, text=alt.Text("label:N"))


def _places(rows: Sequence[Mark]) -> tuple[alt.Y, alt.YOffset]:
    cells = list(dict.fromkeys(row["cell"] for row in rows))
    y = alt.Y("cell:N", sort=cells, title=None, scale=alt.Scale(paddingInner=0.25, paddingOuter=0.1))
    return y, alt.YOffset("part:N", scale=alt.Scale(domain=list(_SIGNS)))
