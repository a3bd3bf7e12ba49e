"""Names in pictures: broken into lines where they are long, and the room that they then take."""

import json
import textwrap
from collections.abc import Iterable
from dataclasses import dataclass

import altair as alt

from h123.report.drawing import COLOURS

CHARACTER = 6.6
"""Pixels of a character of 12 pixels: more than most have, for nobody measures the reader's font."""
LINE = 14
"""Pixels from line to line."""
_GAP = 14


@dataclass(frozen=True)
class RowNames:
    """The names at the left of a picture's rows, all of them on an axis."""

    axis: alt.Axis
    width: int
    """Pixels that the axis takes."""
    row: int
    """Pixels that a row needs at least."""


def row_names(names: Iterable[str], most: int) -> RowNames:
    """The names in as many lines each as keep them within `most` pixels."""
    shown = {name: lines(name, most - _GAP) for name in names}
    longest = max((len(line) for found in shown.values() for line in found), default=0)
    label = f"{json.dumps(shown)}[datum.label]"
    axis = alt.Axis(grid=False, labelColor=COLOURS["ink"], labelExpr=label, labelLimit=0, labelLineHeight=LINE - 1)
    width = min(most, _GAP + round(CHARACTER * longest))
    return RowNames(axis, width, LINE * max((len(found) for found in shown.values()), default=1) + 3)


def lines(name: str, pixels: int) -> list[str]:
    """A name in lines no longer than that; a word is broken only where it alone is too long."""
    return textwrap.wrap(name, max(8, int(pixels / CHARACTER))) or [""]


def header(names: Iterable[str], pixels: int) -> alt.Header:
    """The titles of a picture's panels, each above its own; a bar in a name parts its lines."""
    shown = {name: [line for part in name.split("|") for line in lines(part, pixels)] for name in names}
    return alt.Header(labelAnchor="start", labelPadding=6, labelExpr=f"{json.dumps(shown)}[datum.label]", labelLimit=0)
