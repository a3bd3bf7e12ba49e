"""Axes: ticks with round numbers, and names of rows broken into lines if they are long."""

import itertools
import json
import math
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import altair as alt

from h123.report.look import COLOURS, Mark

CHARACTER = 6.6
"""Pixels of a character of 12 pixels. Most are narrower; the reader's font is unknown."""
LINE = 14
"""Pixels from line to line."""
_GAP = 14
_NEAREST = 36
"""Pixels from tick to tick that labels of four digits need."""
_MOST = 12
"""Ticks on one axis."""
_ABOUT_ONE: tuple[tuple[float, ...], ...] = (
    (0.33, 0.5, 0.67, 0.8, 0.9, 1, 1.1, 1.25, 1.5, 2, 3),
    (0.33, 0.5, 0.67, 0.8, 1, 1.25, 1.5, 2, 3),
    (0.33, 0.5, 0.67, 1, 1.5, 2, 3),
    (0.33, 0.5, 1, 2, 3),
)
"""Ticks near 1, from fine to coarse; beyond them follow 0.2, 0.1, 0.05... and 5, 10, 20..."""


@dataclass(frozen=True)
class Scale:
    """A logarithmic axis of ratios."""

    domain: list[float]
    ticks: list[float]


def log_scale(rows: Sequence[Mark], margin: float, plot: int) -> Scale:
    """A domain that contains `ratio`, `low` and `high` of every row and some room around the equivalence margin, with
    the finest ticks that fit on an axis of `plot` pixels.
    """
    numbers = [row[name] for row in rows for name in ("ratio", "low", "high") if row.get(name) is not None]
    low = min([*numbers, 1 / (1 + 2 * margin)]) / 1.06
    high = max([*numbers, 1 + 2 * margin]) * 1.06
    pixels = plot / math.log(high / low)
    for ladder in _ladders(low, high):
        ticks = [tick for tick in ladder if low <= tick <= high]
        if len(ticks) <= _MOST and all(math.log(b / a) * pixels >= _NEAREST for a, b in itertools.pairwise(ticks)):
            break
    return Scale([low, high], ticks)


def _ladders(low: float, high: float) -> Iterator[list[float]]:
    """Sets of ticks from fine to coarse, each in order and with a 1; in the end the 1 stands alone in the domain."""
    for parts in (50, 20, 10) if high < 4 else ():
        yield [part / parts for part in range(max(1, math.ceil(low * parts)), math.floor(high * parts) + 1)]
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    fives, threes = ([_digit(d, decade) for decade in decades for d in digits] for digits in ((1, 2, 5), (1, 3)))
    for near in _ABOUT_ONE:
        yield sorted({*near, *(tick for tick in fives if not near[0] <= tick <= near[-1])})
    yield fives
    yield threes
    for stride in itertools.count(1):
        yield [_digit(1, decade) for decade in decades if decade % stride == 0]


def _digit(digit: int, decade: int) -> float:
    return float(f"{digit}e{decade}")


def log_ticks(domain: Sequence[float], most: int) -> list[float]:
    """Powers of ten within the domain, not all if there are many; with 2 and 5 between them if there are few."""
    low, high = (math.log10(value) for value in domain)
    powers = range(math.ceil(low), math.floor(high) + 1)
    step = max(1, math.ceil(len(powers) / max(1, most)))
    if len(powers) > 1:
        return [10.0**power for power in powers[::step]]
    steps = [digit * 10.0**power for power in range(math.floor(low), math.ceil(high) + 1) for digit in (1, 2, 5)]
    return [value for value in steps if domain[0] <= value <= domain[1]]


@dataclass(frozen=True)
class RowNames:
    """The names to the left of a picture's rows, all of them on one axis."""

    axis: alt.Axis
    width: int
    """Pixels that the axis takes."""
    row: int
    """The minimum height of a row in pixels."""


def row_names(names: Iterable[str], most: int) -> RowNames:
    """The names, each in as many lines as keep them within `most` pixels."""
    lines_by_name = {name: lines(name, most - _GAP) for name in names}
    longest = max((len(line) for name_lines in lines_by_name.values() for line in name_lines), default=0)
    label = f"{json.dumps(lines_by_name)}[datum.label]"
    axis = alt.Axis(grid=False, labelColor=COLOURS["ink"], labelExpr=label, labelLimit=0, labelLineHeight=LINE - 1)
    width = min(most, _GAP + round(CHARACTER * longest))
    return RowNames(axis, width, LINE * max((len(name_lines) for name_lines in lines_by_name.values()), default=1) + 3)


def lines(name: str, pixels: int) -> list[str]:
    """A name in lines of at most that length; a word is broken only if it is too long by itself."""
    return textwrap.wrap(name, max(8, int(pixels / CHARACTER))) or [""]


def header(names: Iterable[str], pixels: int) -> alt.Header:
    """The titles of a picture's panels, each above its own; a bar in a name separates its lines."""
    lines_by_name = {name: [line for part in name.split("|") for line in lines(part, pixels)] for name in names}
    return alt.Header(
        labelAnchor="start", labelPadding=6, labelExpr=f"{json.dumps(lines_by_name)}[datum.label]", labelLimit=0
    )
