"""Draws the cumulative distribution of latency in each attempt."""

from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np

from h123.report.figures.distribution import panel
from h123.report.figures.drawing import Figure
from h123.report.look import COLOURS, NARROW, SERIES, WIDE, Mark
from h123.report.quantiles import SHARES
from h123.report.trial_view.arm import Arm

_PHASES = {"cold": "cold requests, each on a new connection", "warm": "warm requests"}


def latency_figure(arms: Sequence[Arm]) -> Figure | None:
    """Draw a panel for cold requests and one for warm requests, with a curve for each attempt. A panel is left out if
    no attempt has more than one such request."""
    panels = {words: _curves(arms, phase) for phase, words in _PHASES.items()}
    panels = {words: curves for words, curves in panels.items() if any(curve["of"] > 1 for curve in curves)}
    if not panels:
        return None
    colours = {arm.name: SERIES[number] for number, arm in enumerate(arms)}

    def draw(width: int) -> Any:
        columns = len(panels) if width > NARROW else 1
        plot = width // columns - 62
        titles = {words: alt.TitleParams(words, anchor="start", fontSize=12, color=COLOURS["ink"]) for words in panels}
        drawn = [
            panel(curves, [], plot, colours).properties(width=plot, height=160, title=titles[words])
            for words, curves in panels.items()
        ]
        return alt.concat(*drawn, columns=columns, spacing=20)

    caption = "The share of successful requests that took at most this long; dots at 50, 95 and 99 %."
    return Figure("latency", "Latency, cumulative distribution", caption, draw(WIDE), draw(NARROW))


def _curves(arms: Sequence[Arm], phase: str) -> list[Mark]:
    curves = []
    for arm in arms:
        took = [row["end_ns"] - row["start_ns"] for row in arm.requests if row["phase"] == phase and not row["error"]]
        if took:
            seconds = np.quantile(np.array(took) / 1e9, SHARES).tolist()
            curve = {"series": arm.name, "level": arm.name, "where": f"{phase}, of {len(took)}"}
            curves.append(curve | {"seconds": seconds, "of": len(took)})
    return curves
