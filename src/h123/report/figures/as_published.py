"""Draws two figures of the REST-API study from a campaign's data: Figure 7 (Mann-Whitney effect sizes) and Figure 8
(Kruskal-Wallis H)."""

from collections.abc import Sequence
from typing import Any

import altair as alt

from h123.analysis.as_published.rows import AsPublished, FactorTest, PublishedRow
from h123.report.figures.axes import RowNames, header, row_names
from h123.report.figures.drawing import Figure, FigureRows
from h123.report.look import COLOURS, NARROW, WIDE, Mark
from h123.report.text.as_published import PUBLISHED_VERDICTS, name
from h123.report.text.words import cell_name, level
from h123.study import metric

_PRACTICAL = 0.3
_SIGNS = {
    "faster": ("triangle-up", COLOURS["better"]),
    "slower": ("triangle-down", COLOURS["worse"]),
    "not practical": ("diamond", COLOURS["dot"]),
    "not significant": ("circle", COLOURS["inconclusive"]),
}
"""The shape and colour of each verdict, in the order of the legend."""


def published_figures(published: AsPublished) -> list[Figure]:
    """Return the equivalents of the published study's figures 7 and 8, each only if there are data for it."""
    compared, tests = published["comparisons"], published["kruskal_wallis"]
    return [*([effects_figure(compared)] if compared else []), *([factors_figure(tests)] if tests else [])]


def effects_figure(comparisons: Sequence[PublishedRow]) -> Figure:
    """Draw the rank-biserial correlation of the pooled requests in each cell, with a panel for each metric and pair."""
    rows: list[Mark] = [
        {
            "panel": f"{metric(c['metric']).title}|{level(c['a'])} / {level(c['b'])}",
            "cell": cell_name(c["cell"]) or "all",
            "effect": c["r_rb"],
            "sign": PUBLISHED_VERDICTS[c["verdict"]],
            "told": f"{name(c)}: r_rb {c['r_rb']:+.2f}, {PUBLISHED_VERDICTS[c['verdict']]}",
        }
        for c in comparisons
    ]
    words = [PUBLISHED_VERDICTS[verdict] for verdict in _SIGNS]
    shapes, colours = zip(*_SIGNS.values(), strict=True)
    cells = list(dict.fromkeys(row["cell"] for row in rows))

    def draw(width: int) -> Any:
        axis = alt.Axis(values=[-1, -0.5, 0, 0.5, 1], format="~g", grid=True)
        x = alt.X("effect:Q", title=None, scale=alt.Scale(domain=[-1, 1]), axis=axis)
        names = row_names(cells, 176)
        y = alt.Y("cell:N", sort=cells, title=None, axis=names.axis)
        base = alt.Chart()
        band = base.mark_rect(color=COLOURS["band"]).encode(x=alt.XDatum(-_PRACTICAL), x2=alt.X2Datum(_PRACTICAL))
        none = base.mark_rule(color=COLOURS["muted"]).encode(x=alt.XDatum(0))
        points = base.mark_point(filled=True, size=70, opacity=1, aria=True).encode(
            x=x,
            y=y,
            color=alt.Color("sign:N", scale=alt.Scale(domain=words, range=colours), legend=_legend(width)),
            shape=alt.Shape("sign:N", scale=alt.Scale(domain=words, range=shapes), legend=_legend(width)),
            description=alt.Description("told:N"),
        )
        layers = alt.layer(band, none, points).properties(height=alt.Step(max(18, names.row)))
        return _panels(layers, rows, width, names)

    caption = (
        f"Rank-biserial correlation of pooled requests, one symbol per cell. Below 0, the first of the pair has lower "
        f"values. Shaded: less than {_PRACTICAL:g}, which the study does not call practical. The same quantity as its "
        "Figure 7; it counts requests, not trials."
    )
    return Figure("published-effects", "As published: Mann-Whitney effect sizes", caption, draw(WIDE), draw(NARROW))


def factors_figure(tests: Sequence[FactorTest]) -> Figure:
    """Draw each factor's Kruskal-Wallis H by metric, separately for each HTTP method if there are several."""
    rows: list[Mark] = [
        {
            "panel": "|".join([metric(t["metric"]).title, *t["within"].values()]),
            "factor": t["factor"],
            "h": t["h"],
            "label": f"{t['h']:.2f}" if t["h"] < 10 else f"{t['h']:.0f}",
            "sign": "p < 0.05" if t["p"] < 0.05 else "not significant",
        }
        for t in tests
    ]
    factors = list(dict.fromkeys(row["factor"] for row in rows))
    signs, colours = ["p < 0.05", "not significant"], [COLOURS["dot"], COLOURS["inconclusive"]]

    def draw(width: int) -> Any:
        # Leave room for the label at the end of the longest bar. The square root keeps small bars visible.
        top = 1.9 * max(row["h"] for row in rows) or 1.0
        scale = alt.Scale(type="sqrt", domain=[0, top], nice=False)
        x = alt.X("h:Q", title=None, scale=scale, axis=alt.Axis(labels=False, grid=False))
        names = row_names(factors, 160)
        y = alt.Y("factor:N", sort=factors, title=None, axis=names.axis)
        base = alt.Chart().encode(x=x, y=y)
        colour = alt.Color("sign:N", scale=alt.Scale(domain=signs, range=colours), legend=_legend(width))
        bars = base.mark_bar(height=11).encode(color=colour)
        labels = base.mark_text(align="left", dx=5, color=COLOURS["ink"]).encode(text=alt.Text("label:N"))
        layers = alt.layer(bars, labels).properties(height=alt.Step(max(20, names.row)))
        return _panels(layers, rows, width, names)

    caption = (
        "Kruskal-Wallis H of each factor over the requests of all levels of the others; the axis is a square root. The "
        "same quantity as the study's Figure 8. H grows with the number of requests: it does not measure how much a "
        "factor matters."
    )
    return Figure("published-factors", "As published: Kruskal-Wallis H", caption, draw(WIDE), draw(NARROW))


def _legend(width: int) -> alt.Legend:
    return alt.Legend(columns=4 if width > NARROW else 1)


def _panels(layers: Any, rows: list[Mark], width: int, names: RowNames) -> Any:
    """Arrange the panels in the order of the rows, with as many side by side as remain readable."""
    panels = list(dict.fromkeys(row["panel"] for row in rows))
    columns = max(1, min(3, len(panels), width // (names.width + 160))) if width > NARROW else 1
    plot = width // columns - names.width - 22
    facet = alt.Facet("panel:N", sort=panels, header=header(panels, plot))
    chart = layers.properties(width=plot)
    panels_chart = chart.facet(facet=facet, columns=columns, data=FigureRows(rows), spacing=20)
    return panels_chart.resolve_axis(x="independent", y="independent")
