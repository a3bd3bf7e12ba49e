"""Pictures of comparisons: each ratio with its interval on a logarithmic axis, beside the equivalence margin."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from h123.report.drawing import COLOURS, NARROW, WIDE, Figure
from h123.report.words import Comparison, cell_name, level, metric, percent, ratio, verdict_word

Row = dict[str, Any]

_SIGNS = {
    "faster": ("better", "triangle-up", COLOURS["better"]),
    "slower": ("worse", "triangle-down", COLOURS["worse"]),
    "equivalent": ("equivalent", "square", COLOURS["equivalent"]),
    "inconclusive": ("cannot tell yet", "circle", COLOURS["inconclusive"]),
}
_STEPS = (1.05, 1.1, 1.25, 1.5, 2, 3, 5, 10, 100, 1000)
"""Factors from tick to tick: a ratio and its inverse are equally far from 1, and so are the ticks."""


@dataclass(frozen=True)
class Scale:
    """A logarithmic axis of ratios."""

    domain: list[float]
    ticks: list[float]


def answer_figure(comparisons: Sequence[Comparison], margin: float) -> Figure:
    """The ratio with its interval for each cell: one panel for each metric and pair asked about."""
    rows = [_row(c) for c in comparisons]
    names = _names_width(rows)

    def draw(width: int) -> alt.TopLevelMixin:
        plot = width - names - 150
        scale = log_scale(rows, margin, most_ticks=plot // 70)
        panels = []
        for panel in _distinct(row["panel"] for row in rows):
            mine = [row for row in rows if row["panel"] == panel]
            layers = alt.layer(*_layers(mine, margin, scale, size=110), _labels(plot, mine), data=_data(mine))
            title = alt.TitleParams(
                panel, anchor="start", frame="bounds", fontSize=12, color=COLOURS["muted"], offset=8
            )
            panels.append(layers.properties(width=plot, height=alt.Step(40), title=title))
        return alt.vconcat(*panels, spacing=18)

    caption = (
        f"Ratio and interval on a logarithmic axis. The shaded band is the equivalence margin of {percent(margin)}; "
        "the sign and the words at the right are the verdict."
    )
    return Figure("answer", "The answer", caption, draw(WIDE), draw(NARROW))


def details_figure(comparisons: Sequence[Comparison], margin: float) -> Figure:
    """All ratios at a glance: a row of panels for each metric, a column for each pair."""
    rows = [_row(c) for c in comparisons]
    titles, pairs = _distinct(row["metric"] for row in rows), _distinct(row["pair"] for row in rows)
    names = _names_width(rows)

    def table(width: int) -> Any:
        titles_width = 7 * max(len(title) for title in titles)
        plot = (width - names - titles_width) // len(pairs) - 24
        header = alt.Header(labelAngle=0, labelAlign="left", labelAnchor="middle", labelPadding=titles_width)
        return _panel(plot).facet(
            row=alt.Row("metric:N", sort=titles, header=header),
            column=alt.Column("pair:N", sort=pairs, header=alt.Header(labelPadding=6)),
            spacing={"row": 10, "column": 16},
            data=_data(rows),
        )

    def column(width: int) -> Any:
        header = alt.Header(labelAnchor="start", labelPadding=4)
        facet = alt.Facet("panel:N", sort=_distinct(row["panel"] for row in rows), header=header)
        return _panel(width - names - 20).facet(facet=facet, columns=1, spacing=14, data=_data(rows))

    def _panel(plot: int) -> Any:
        layers = _layers(rows, margin, log_scale(rows, margin, most_ticks=plot // 42), size=60, legend=True)
        return alt.layer(*layers).properties(width=plot, height=alt.Step(17))

    caption = (
        f"Every ratio with its interval, on one logarithmic axis. Shaded: the equivalence margin of {percent(margin)}. "
        "Whether less is better depends on the metric; the sign says how the first of the pair does."
    )
    wide = table(WIDE) if len(pairs) <= 4 else column(WIDE)
    return Figure("details", "All comparisons at a glance", caption, wide, column(NARROW))


def _row(comparison: Comparison) -> Row:
    wording, pair = metric(comparison["metric"]), f"{level(comparison['a'])} / {level(comparison['b'])}"
    value, low, high = comparison["ratio"], comparison["low"], comparison["high"]
    known = {"ratio": value, "low": low, "high": high}
    return {name: number for name, number in known.items() if number is not None} | {
        "cell": cell_name(comparison["cell"]) or comparison["workload"],
        "metric": wording.title,
        "pair": pair,
        "panel": f"{wording.title}, {pair}",
        "sign": _SIGNS[comparison["verdict"]][0],
        "label": "no answer" if value is None else f"{ratio(value, low, high)}  {verdict_word(comparison)}",
    }


def _layers(rows: list[Row], margin: float, scale: Scale, size: int, legend: bool = False) -> list[alt.Chart]:
    """Band, line at 1, intervals and signs; rows without a ratio keep their place and stay empty."""
    base = alt.Chart()
    at = alt.Scale(type="log", domain=scale.domain, nice=False)
    x = alt.X("ratio:Q", title=None, scale=at, axis=alt.Axis(values=scale.ticks, format="~g", grid=True))
    low = alt.X("low:Q", title=None, scale=at)
    axis = alt.Axis(grid=False, labelColor=COLOURS["ink"], labelLimit=200)
    y = alt.Y("cell:N", sort=_distinct(row["cell"] for row in rows), title=None, axis=axis)
    words, shapes, colours = zip(*_SIGNS.values(), strict=True)
    key = alt.Legend() if legend else None
    shape = alt.Shape("sign:N", scale=alt.Scale(domain=words, range=shapes), legend=key)
    colour = alt.Color("sign:N", scale=alt.Scale(domain=words, range=colours), legend=key)
    band = base.mark_rect(color=COLOURS["band"]).encode(x=alt.XDatum(1 / (1 + margin)), x2=alt.X2Datum(1 + margin))
    one = base.mark_rule(color=COLOURS["muted"]).encode(x=alt.XDatum(1))
    spans = base.mark_rule(strokeWidth=2.5).encode(x=low, x2="high:Q", y=y, color=colour)
    points = base.mark_point(filled=True, size=size, opacity=1).encode(x=x, y=y, color=colour, shape=shape)
    return [band, one, spans.transform_filter("isValid(datum.low)"), points.transform_filter("isValid(datum.ratio)")]


def _labels(plot: int, rows: list[Row]) -> Any:
    y = alt.Y("cell:N", sort=_distinct(row["cell"] for row in rows))
    text = alt.Chart().mark_text(align="left", fontSize=13, color=COLOURS["ink"])
    return text.encode(x=alt.value(plot + 12), y=y, text="label:N")


def log_scale(rows: Sequence[Row], margin: float, most_ticks: int) -> Scale:
    """A domain that holds every interval and some room about the margin, with at most so many ticks."""
    found = [row[name] for row in rows for name in ("ratio", "low", "high") if name in row]
    low = min([*found, 1 / (1 + 2 * margin)]) / 1.06
    high = max([*found, 1 + 2 * margin]) * 1.06
    for step in _STEPS:
        below, above = math.floor(-math.log(low, step)), math.floor(math.log(high, step))
        if below + 1 + above <= max(3, most_ticks):
            return Scale([low, high], [float(f"{step**power:.3g}") for power in range(-below, above + 1)])
    return Scale([low, high], [1])


def _names_width(rows: list[Row]) -> int:
    return 14 + 7 * max((len(row["cell"]) for row in rows), default=0)


def _data(rows: list[Row]) -> alt.InlineData:
    return alt.InlineData(values=rows)


def _distinct(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))
