"""Logarithmic axes with numbers that people use: of ratios, about 1; and of values, in 1, 2 and 5."""

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

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


def log_scale(rows: Sequence[Mapping[str, Any]], margin: float, plot: int) -> Scale:
    """A domain that holds `ratio`, `low` and `high` of every row and some room about the equivalence margin, with the
    finest ticks for which an axis of `plot` pixels has room.
    """
    found = [row[name] for row in rows for name in ("ratio", "low", "high") if row.get(name) is not None]
    low = min([*found, 1 / (1 + 2 * margin)]) / 1.06
    high = max([*found, 1 + 2 * margin]) * 1.06
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
    """Powers of ten within the domain, not all where they are many; 2 and 5 between where they are few."""
    low, high = (math.log10(value) for value in domain)
    powers = range(math.ceil(low), math.floor(high) + 1)
    step = max(1, math.ceil(len(powers) / max(1, most)))
    if len(powers) > 1:
        return [10.0**power for power in powers[::step]]
    steps = [digit * 10.0**power for power in range(math.floor(low), math.ceil(high) + 1) for digit in (1, 2, 5)]
    return [value for value in steps if domain[0] <= value <= domain[1]]
