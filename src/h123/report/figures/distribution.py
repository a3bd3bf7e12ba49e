"""Draws the cumulative distribution of single requests' times, for each compared level in each cell."""

from collections.abc import Sequence
from typing import Any

import altair as alt

from h123.base.units import common_unit, figures
from h123.report.figures.axes import lines, log_ticks
from h123.report.figures.drawing import Figure, FigureRows
from h123.report.figures.spread import balanced
from h123.report.look import COLOURS, NARROW, SERIES, WIDE, Mark
from h123.report.quantiles import SHARES
from h123.report.text.words import level, other_factors

_TRIAL_STEP = 4
"""Every fourth point is enough for a trial's curve, which is thin and in the background."""
_MOST_TRIALS = 150
"""The largest number of trials whose curves are drawn. More would only blacken the figure."""
_MARKED = {50: "half of the requests", 95: "95 % of the requests", 99: "99 % of the requests"}
_WIDE_RANGE = 8
"""The ratio of the longest to the shortest time above which an axis is logarithmic."""
_OTHERS = "others"
_ROLES = {"fastest": COLOURS["better"], "slowest": COLOURS["worse"], _OTHERS: COLOURS["inconclusive"]}


def distribution_figure(quantiles: Sequence[Mark], factor: str, base: str | None) -> Figure:
    """Draw a panel for each cell and a curve for each level. If there are many levels, only the fastest, the slowest
    and `base`, with which all are compared, get their own colours. `quantiles` come from `latency_quantiles`, in the
    order of the panels."""
    rows = [
        row | {"where": other_factors(row["cell"], factor), "level": row["cell"][factor]}
        for row in quantiles
        if not row["twin"]
    ]
    trials = sum(row["trial"] is not None for row in rows)
    levels = sorted({row["level"] for row in rows})
    few = len(levels) <= len(SERIES)
    colours = dict(zip(map(level, levels), SERIES, strict=False)) if few else _ROLES
    if base and not few:
        colours = {level(base): COLOURS["ink"]} | colours
    panels = {
        where: [row for row in rows if row["where"] == where] for where in dict.fromkeys(r["where"] for r in rows)
    }

    def draw(width: int) -> Any:
        columns = balanced(len(panels)) if width > NARROW else 1
        plot = width // columns - 62
        drawn = []
        for where, mine in panels.items():
            curves = [row for row in mine if row["trial"] is None]
            behind = [row for row in mine if row["trial"] is not None] if trials <= _MOST_TRIALS else []
            legend, roles = _levels(curves) if few else _roles(curves, base)
            heading = [line for part in (where, legend) if part for line in lines(part, plot)]
            title = alt.TitleParams(heading, anchor="start", fontSize=12, color=COLOURS["ink"])
            both = panel(_with_series(curves, roles), _with_series(behind, roles), plot, colours)
            drawn.append(both.properties(width=plot, height=160, title=title))
        return alt.concat(*drawn, columns=columns, spacing=20)

    which, thin = "One curve per level", 0 < trials <= _MOST_TRIALS
    if not few:
        which = "Named: the level that all are compared with, the fastest and the slowest by median; grey: all others"
    caption = (
        f"The share of all warm requests of the analysed trials that took at most this long. {which}"
        f"{', each trial thin behind it' if thin else ''}; dots at 50, 95 and 99 %. Requests of one "
        "trial depend on one another, so this figure decides nothing."
    )
    return Figure("distribution", "Latency, cumulative distribution", caption, draw(WIDE), draw(NARROW))


def _levels(curves: Sequence[Mark]) -> tuple[str, dict[str, str]]:
    """Return the legend above a panel in which every level has a colour, and the name of each curve."""
    return "", {row["level"]: level(row["level"]) for row in curves}


def _roles(curves: Sequence[Mark], base: str | None) -> tuple[str, dict[str, str]]:
    """Return the legend above a panel with too many levels for a colour each, and the name of each curve."""
    ordered = [row["level"] for row in sorted(curves, key=lambda row: row["seconds"][50])]
    roles = dict.fromkeys(ordered, _OTHERS) | {ordered[-1]: "slowest", ordered[0]: "fastest"}
    roles |= {base: level(base)} if base else {}
    return f"fastest {level(ordered[0])}, slowest {level(ordered[-1])}", roles


def _with_series(rows: Sequence[Mark], roles: dict[str, str]) -> list[Mark]:
    return [row | {"series": roles[row["level"]]} for row in rows]


def panel(curves: list[Mark], thin: list[Mark], plot: int, colours: dict[str, str]) -> Any:
    """Draw the curves with their dots, and the `thin` curves behind them. Each curve has `seconds` (the quantiles at 0,
    1 ... 100 %), the name of its `series`, its `level`, and `where` it was measured."""
    unit_seconds, unit = common_unit((row["seconds"][50] for row in curves), "s")
    x = _times([row["seconds"] for row in [*curves, *thin]], unit_seconds, unit, plot)
    ticks = alt.Axis(values=[0, 0.25, 0.5, 0.75, 1], labelExpr="format(100 * datum.value, '~g') + ' %'")
    y = alt.Y("share:Q", title=None, scale=alt.Scale(domain=[0, 1]), axis=ticks)
    scale = alt.Scale(domain=list(colours), range=list(colours.values()))
    colour = alt.Color("series:N", scale=scale, legend=alt.Legend(symbolOpacity=1, labelLimit=0))

    def drawn(rows: list[Mark], width: float, opacity: float = 1, step: int = 1) -> list[Any]:
        points = [
            {"curve": place, "series": row["series"], "share": share, "value": seconds / unit_seconds}
            for place, row in enumerate(rows)
            for share, seconds in list(zip(SHARES, row["seconds"], strict=True))[::step]
        ]
        chart = alt.Chart(FigureRows(points)).mark_line(strokeWidth=width, opacity=opacity)
        detail, order = alt.Detail("curve:N"), alt.Order("share:Q")
        return [chart.encode(x=x, y=y, color=colour, detail=detail, order=order)] if points else []

    marks = [_mark(row, percent, unit_seconds, unit) for row in curves for percent in _MARKED]
    dots = alt.Chart(FigureRows(marks)).mark_point(filled=True, size=26, opacity=1, aria=True)
    return alt.layer(
        *drawn(thin, 1, 0.25, _TRIAL_STEP),
        *drawn([row for row in curves if row["series"] == _OTHERS], 1, 0.6),
        *drawn([row for row in curves if row["series"] != _OTHERS], 1.8),
        dots.encode(x=x, y=y, color=colour, description=alt.Description("told:N")),
    )


def _times(seconds: Sequence[Sequence[float]], unit_seconds: float, unit: str, plot: int) -> alt.X:
    """Return the axis of times, which is logarithmic if the times differ by a large factor."""
    least, most = min(times[0] for times in seconds) / unit_seconds, max(times[-1] for times in seconds) / unit_seconds
    domain = [least / 1.02, most * 1.02]
    wide = most > _WIDE_RANGE * least > 0
    scale = alt.Scale(type="log" if wide else "linear", domain=domain, nice=False, zero=False)
    ticks = {"values": log_ticks(domain, plot // 50)} if wide else {"tickCount": 4}
    return alt.X("value:Q", title=unit, scale=scale, axis=alt.Axis(format=".6~g", **ticks))


def _mark(row: Mark, percent: int, scale: float, unit: str) -> Mark:
    value = row["seconds"][percent] / scale
    name = ", ".join(part for part in (level(row["level"]), row["where"]) if part)
    sentence = f"{name}: {_MARKED[percent]} within {figures(value)} {unit}"
    return {"series": row["series"], "share": percent / 100, "value": value, "told": sentence}
