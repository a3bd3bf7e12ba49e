"""Draws a study's own charts: values as bars, grouped by the levels of a factor, with each trial on its bar."""

import statistics
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import altair as alt

from h123.analysis.provenance.values import ValueRow
from h123.base.units import common_unit
from h123.measures import quantiles
from h123.report.figures.axes import CHARACTER, header, row_names
from h123.report.figures.drawing import Figure, FigureRows
from h123.report.look import COLOURS, NARROW, SERIES, WIDE, Mark
from h123.report.text.words import cell_name, level
from h123.study import Chart, metric

_PITCH = 17
"""The distance in pixels from one bar to the next."""
_BETWEEN = 14
"""The distance in pixels between groups."""
_ABREAST = 3
"""The number of names per line of the legend on a phone."""


def bars_figures(values: Sequence[ValueRow], charts: Iterable[Chart], factor: str) -> list[Figure]:
    """Return a figure for each chart that has a value. `values` come from verdicts.json."""
    groups_by_chart = ((chart, _groups(values, chart, factor)) for chart in charts)
    return [_figure(chart, groups) for chart, groups in groups_by_chart if groups]


def _groups(values: Sequence[ValueRow], chart: Chart, factor: str) -> list[Mark]:
    names = {place: name for name, place in chart.at.items()}
    trials: dict[tuple[str, str, str], list[Mark]] = {}
    for row in values:
        cell, value = row["cell"], row["metrics"].get(chart.metric)
        if value is not None and not row["twin"] and cell[factor] in chart.levels and cell[chart.along] in names:
            panel = cell_name(
                {name: level_name for name, level_name in cell.items() if name not in (factor, chart.along)}
            )
            where = (panel, names[cell[chart.along]], cell[factor])
            trials.setdefault(where, []).append({"block": row["block"], "value": value})
    return [
        {"panel": panel, "group": group, "level": level_name, "trials": bar_trials}
        for (panel, group, level_name), bar_trials in trials.items()
    ]


def _figure(chart: Chart, groups: Sequence[Mark]) -> Figure:
    wording = metric(chart.metric)
    numbers = [trial["value"] for group in groups for trial in group["trials"]]
    scale, unit = common_unit(numbers, wording.unit)
    marks = [mark for group in groups for mark in _marks(group, chart, scale)]
    panels = list(dict.fromkeys(mark["panel"] for mark in marks))
    top, longest = max(numbers) / scale, max(len(mark.get("label", "")) for mark in marks)

    def draw(width: int) -> Any:
        abreast = 2 if width > NARROW and len(panels) > 1 else 1
        names = row_names(chart.at, 120 if width > NARROW else 80)
        label = 10 + round(CHARACTER * longest)
        plot = width // abreast - 20 * (abreast - 1) - names.width - label
        axis = alt.Axis(tickCount=max(3, plot // 90), grid=True)
        x = {"title": unit, "axis": axis, "scale": alt.Scale(domain=[0, top * 1.02], nice=False)}
        legend = alt.Legend(columns=len(chart.levels) if width > NARROW else _ABREAST)
        layers = alt.layer(*_layers(chart, names.axis, x, plot, legend))
        height = len(chart.at) * (_PITCH * len(chart.levels) + _BETWEEN)
        facet = alt.Facet("panel:N", sort=panels, header=header(panels, plot))
        drawn = layers.properties(width=plot, height=height).facet(
            facet=facet, columns=abreast, data=FigureRows(marks), spacing=22
        )
        return drawn.resolve_axis(x="independent", y="independent")

    caption = (
        f"{wording.title}: {wording.meaning}. A dot is a trial, a bar the trials' median, a line its 95 % interval "
        "(none for fewer than 6 trials). Bars may differ even if their intervals overlap: pairs are compared within "
        "blocks, above."
    )
    return Figure(f"chart-{chart.name}", chart.title, caption, draw(WIDE), draw(NARROW))


def _marks(group: Mark, chart: Chart, scale: float) -> Iterator[Mark]:
    """Yield the bar with its interval, followed by its trials."""
    wording = metric(chart.metric)
    bar_name = ", ".join(name for name in (level(group["level"]), group["group"], group["panel"]) if name)
    place = {"panel": group["panel"], "group": group["group"], "level": level(group["level"])}
    ordered = sorted(trial["value"] for trial in group["trials"])
    between = quantiles.ranks(len(ordered), 0.5)
    median = wording.format(statistics.median(ordered))
    ends = [ordered[rank - 1] for rank in (between.low, between.high)] if between else []
    ends_text = f" ({' to '.join(map(wording.format, ends))})" if ends else ""
    yield place | {
        "median": statistics.median(ordered) / scale,
        **{name: end / scale for name, end in zip(("low", "high"), ends, strict=False)},
        "label": median,
        "told": f"{bar_name}: {median}{ends_text}, the median of {len(ordered)} trials",
    }
    for trial in group["trials"]:
        sentence = f"{bar_name}, block {trial['block']}: {wording.format(trial['value'])}"
        yield place | {"trial": trial["value"] / scale, "told": sentence}


def _layers(chart: Chart, names: alt.Axis, x: Mark, plot: int, legend: alt.Legend) -> list[Any]:
    levels = [level(name) for name in chart.levels]
    scale = alt.Scale(paddingInner=_BETWEEN / (_PITCH * len(levels) + _BETWEEN), paddingOuter=0.05)
    y = alt.Y("group:N", sort=list(chart.at), title=None, axis=names, scale=scale)
    offset = alt.YOffset("level:N", scale=alt.Scale(domain=levels, paddingInner=0.15))
    colour = alt.Color("level:N", scale=alt.Scale(domain=levels, range=SERIES), legend=legend)

    def part(mark: Any, kind: str) -> Any:
        return mark.encode(y=y, yOffset=offset).transform_filter(f"isValid(datum.{kind})")

    base = alt.Chart()
    bars = part(base.mark_bar(opacity=0.45, aria=True), "median")
    spans = part(base.mark_rule(color=COLOURS["ink"], strokeWidth=1.5), "low")
    dots = part(base.mark_point(filled=True, size=16, opacity=1, aria=True), "trial")
    text = part(base.mark_text(align="left", color=COLOURS["ink"], fontSize=12), "median")

    return [
        bars.encode(x=alt.X("median:Q", **x), color=colour, description=alt.Description("told:N")),
        spans.encode(x=alt.X("low:Q", **x), x2=alt.X2("high:Q")),
        dots.encode(x=alt.X("trial:Q", **x), color=colour, description=alt.Description("told:N")),
        text.encode(x=alt.value(plot + 8), text=alt.Text("label:N")),
    ]
