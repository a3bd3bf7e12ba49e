"""The figures over time: what each shows of the arms."""

from collections.abc import Sequence

import numpy as np

from h123.closeup.arm import Arm
from h123.closeup.over_time import FATES, Line, Lost, Panel, over_time
from h123.flow import Bins, Numbers, Series, capacity, gone, throughput
from h123.report.drawing import Figure
from h123.results.packets import DOWN, UP, Packets
from h123.units import format_rate, format_span

MOST = 400
"""Bins of a picture: two pixels each on a desk."""
WAYS = {DOWN: "down, to the client", UP: "up, to the server"}
RATE = "the link's rate"
_FAR = 4
"""Times what was reached at most: a rate above is named, for drawn it would flatten the rest."""


def bins_of(arms: Sequence[Arm]) -> Bins:
    """From when the clients began, which is 0 of every arm's time, to the end of the arm that took longest."""
    return Bins.over(0, max(arm.ended - arm.began for arm in arms), MOST)


def lost_marks(arms: Sequence[Arm], bins: Bins, ways: Sequence[int] = (DOWN, UP)) -> list[Lost]:
    """Of all arms and fates, a mark for each bin in which there was one."""
    marks = []
    for number, arm in enumerate(arms):
        for fate in FATES:
            times = np.concatenate([gone(arm.of_way(way), fate) for way in ways]) - arm.began
            if len(full := np.flatnonzero(bins.counts(times))):
                marks.append(Lost(number, fate, bins.begins[full] / 1e9))
    return marks


def throughput_figure(arms: Sequence[Arm], bins: Bins) -> Figure:
    """Both ways."""
    caption = (
        f"What left the link in each {width(bins)}, whole IP packets, as the link's rate (dashed) counts them. "
        f"{marked(bins)}"
    )
    panels = [_throughput(arms, bins, way) for way in WAYS]
    return over_time("throughput", "Throughput", caption, bins, panels, lost_marks(arms, bins))


def _throughput(arms: Sequence[Arm], bins: Bins, way: int) -> Panel:
    measured = [throughput(shifted(arm, way), bins) for arm in arms]
    rates = [capacity(arm.way(way), 0, bins.width * bins.count) for arm in arms]
    rates = [r for n, r in enumerate(rates) if len(r.times) and not any(_same(r, other) for other in rates[:n])]
    most = max(float(values.max()) for values in measured)
    near = [rate for rate in rates if rate.values.min() <= _FAR * most]
    one, unit = rate_unit(max([most, *(rate.values.max() for rate in near)]))
    lines = [line(arm.name, number, bins, measured[number] / one) for number, arm in enumerate(arms)]
    lines += [Line(RATE, None, rate.times / 1e9, rate.values / one, dashed=True, steps=True) for rate in near]
    told = " or ".join(format_rate(rate.values[0]) for rate in rates if all(rate is not other for other in near))
    return Panel(f"{WAYS[way]} ({RATE}: {told})" if told else WAYS[way], unit, lines)


def _same(one: Series, other: Series) -> bool:
    return np.array_equal(one.times, other.times) and np.array_equal(one.values, other.values)


def shifted(arm: Arm, way: int) -> Packets:
    """Its packets of a way, in time since its client began."""
    packets = arm.of_way(way).copy()
    packets["at_ns"] -= arm.began
    packets["left_ns"][packets["left_ns"] > 0] -= arm.began
    return packets


def line(name: str, arm: int, bins: Bins, values: Numbers) -> Line:
    """A value a bin, which holds until the next."""
    return Line(name, arm, bins.begins / 1e9, values, steps=True)


def rate_unit(most: float) -> tuple[float, str]:
    """In which so many bits a second read best."""
    return next((step for step in ((1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s")) if most >= step[0]), (1, "bit/s"))


def width(bins: Bins) -> str:
    """Of a bin, for a person."""
    return f"{bins.width / 1e6:g} ms" if bins.width < 10**9 else format_span(bins.width / 1e9)


def marked(bins: Bins) -> str:
    """What the marks above a figure are."""
    return f"Marks above: packets that the link lost or had no room for, one for each {width(bins)} that had any."
