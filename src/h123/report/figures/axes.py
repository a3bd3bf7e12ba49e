"""Makes axes: ticks at round numbers, and row names that are broken into lines if they are long."""

import itertools
import json
import math
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import altair as alt

from h123.report.look import COLOURS, Mark

CHARACTER = 6.6
"""The assumed width in pixels of a character at a font size of 12 pixels. Most characters are narrower."""
LINE = 14
"""The distance between lines in pixels."""
_GAP = 14
_NEAREST = 36
"""The smallest distance in pixels between ticks with labels of four digits."""
_MOST = 12
"""The largest number of ticks on one axis."""
_ABOUT_ONE: tuple[tuple[float, ...], ...] = (
    (0.33, 0.5, 0.67, 0.8, 0.9, 1, 1.1, 1.25, 1.5, 2, 3),
    (0.33, 0.5, 0.67, 0.8, 1, 1.25, 1.5, 2, 3),
    (0.33, 0.5, 0.67, 1, 1.5, 2, 3),
    (0.33, 0.5, 1, 2, 3),
)
"""Ticks near 1, from fine to coarse. Further ticks follow on both sides: 0.2, 0.1, 0.05... and 5, 10, 20..."""


@dataclass(frozen=True)
class Scale:
    """A logarithmic axis of ratios."""

    domain: list[float]
    ticks: list[float]


def log_scale(rows: Sequence[Mark], margin: float, plot: int) -> Scale:
    """Return an axis that contains `ratio`, `low` and `high` of every row and some space around the equivalence margin,
    with the finest ticks that fit into `plot` pixels."""
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
    """Yield sorted sets of ticks that include 1, from the finest to a set with no other tick in the domain."""
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
    """Return the powers of ten within the domain, or a selection if there are many. If there is at most one, also
    return 2 and 5 times each power."""
    low, high = (math.log10(value) for value in domain)
    powers = range(math.ceil(low), math.floor(high) + 1)
    step = max(1, math.ceil(len(powers) / max(1, most)))
    if len(powers) > 1:
        return [10.0**power for power in powers[::step]]
    steps = [digit * 10.0**power for power in range(math.floor(low), math.ceil(high) + 1) for digit in (1, 2, 5)]
    return [value for value in steps if domain[0] <= value <= domain[1]]


@dataclass(frozen=True)
class RowNames:
    """The axis to the left of a picture, with a name for each row."""

    axis: alt.Axis
    width: int
    """The width of the axis in pixels."""
    row: int
    """The minimum height of a row in pixels."""


def row_names(names: Iterable[str], most: int) -> RowNames:
    """Return an axis with the names, each broken into lines of at most `most` pixels."""
    lines_by_name = {name: lines(name, most - _GAP) for name in names}
    longest = max((len(line) for name_lines in lines_by_name.values() for line in name_lines), default=0)
    label = f"{json.dumps(lines_by_name)}[datum.label]"
    axis = alt.Axis(grid=False, labelColor=COLOURS["ink"], labelExpr=label, labelLimit=0, labelLineHeight=LINE - 1)
    width = min(most, _GAP + round(CHARACTER * longest))
    return RowNames(axis, width, LINE * max((len(name_lines) for name_lines in lines_by_name.values()), default=1) + 3)


def lines(name: str, pixels: int) -> list[str]:
    """Break a name into lines of at most `pixels` pixels. A word is broken only if it is longer than a line."""
    return textwrap.wrap(name, max(8, int(pixels / CHARACTER))) or [""]


def header(names: Iterable[str], pixels: int) -> alt.Header:
    """Return the titles of a picture's panels, each above its panel. A `|` in a name starts a new line."""
    lines_by_name = {name: [line for part in name.split("|") for line in lines(part, pixels)] for name in names}
    return alt.Header(
        labelAnchor="start", labelPadding=6, labelExpr=f"{json.dumps(lines_by_name)}[datum.label]", labelLimit=0
    )
