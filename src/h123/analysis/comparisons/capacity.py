"""Measures latency against load: each treatment's values at each rate, the knee of its curve, and its maximum rate.

The steps are levels of one factor that each set a `rate`. They are fixed before anything runs and are the same for all
treatments, so each step is paired within its block, and no block depends on the results of an earlier one. Knees and
maxima are found in each block.

The knee is the rate with the greatest ratio of requests per second to the 99th percentile of latency: Kleinrock's power
(ICC 1979). Below the knee, a higher rate gains more throughput than it costs in waiting; above the knee, it costs more
than it gains. To find knees between steps, a parabola is drawn through the logarithms of the greatest power and its
neighbours; the knee is its vertex. A knee at the first or last step is only a bound.

The maximum is the highest rate of answered requests at any step, or in a closed loop.

The knee and the maximum are reported as medians over the blocks, with exact intervals by order statistics
(measures/quantiles.py). A median, or an end of its interval, may be only a bound.
"""

import math
import statistics
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NotRequired

from typing_extensions import TypedDict

from h123.analysis.case import Case
from h123.analysis.comparisons.rows import Cell
from h123.analysis.section import Section
from h123.measures import Attempt, quantiles
from h123.study import METRICS, Plan, split_pair
from h123.study.metrics.quantity import Quantity, RequestRate, RequestTime, TimeFromSend

Bound = Literal["at most", "at least"]


class Middle(TypedDict):
    """A median over blocks, with its interval. With fewer than 6 blocks, the interval is null."""

    value: float
    low: float | None
    high: float | None
    confidence: float | None


class RateLimit(Middle):
    """A knee or a maximum, in requests per second. A knee at the first or last step is only a bound."""

    bound: Bound | None
    """`at most` for a knee at the first step, `at least` for one at the last step, else null."""


class CapacityStep(TypedDict):
    """A treatment at one step, as medians over its trials. A value is null if failed requests leave it unknown."""

    level: str
    rate: float | None
    """The scheduled requests per second; null for a closed loop."""
    blocks: int
    achieved: float | None
    """The number of answered requests per second."""
    latency: float | None
    tail: float | None
    """`latency` and `tail` are the median and the 99th percentile of the time from when a request was due until it
    ended, in s."""
    sent_tail: float | None
    """The 99th percentile of the time from when a request was sent until it ended, in s."""
    client: float | None
    """The share of one processor that the client used; null under the virtual clock."""


class CapacityRow(TypedDict):
    """One treatment: its steps in increasing order of rate, and its closed loops, which are listed separately."""

    cell: Cell
    blocks: int
    """The number of blocks with all steps."""
    steps: Sequence[CapacityStep]
    closed: Sequence[CapacityStep]
    knee: RateLimit | None
    """The median of the knees in blocks with all steps; null if no block has a knee."""
    maximum: RateLimit | None
    """The median of the highest rates of answered requests in blocks with all steps; null if there is no such block."""
    saturated: bool
    """Whether the highest step exceeded the treatment's capacity in all blocks. If not, the steps limit the maximum."""


class CapacityRatio(Middle):
    """The ratio of two levels' knees or maxima, paired within blocks."""

    cell: Cell
    a: str
    b: str
    what: str
    """`knee` or `maximum`. There is no ratio of knees if any of them is only a bound, and no ratio of maxima unless
    both levels are saturated."""
    blocks: int


class Capacity(TypedDict):
    """The part of verdicts.json on latency against load."""

    factor: str
    """The factor whose levels are the steps."""
    rows: Sequence[CapacityRow]
    ratios: Sequence[CapacityRatio]


FEWEST_STEPS = 3
"""The fewest steps that make a curve."""
KEPT_UP = 0.95
"""The smallest share of the offered rate that must be answered for no backlog to grow."""


def _metric_name(of: Quantity) -> str:
    return next(name for name, metric in METRICS.items() if metric.of == of)


RATE = _metric_name(RequestRate())
MEDIAN = _metric_name(RequestTime("warm", "end_ns"))
TAIL = _metric_name(RequestTime("warm", "end_ns", 0.99, requests=300))
SENT_TAIL = _metric_name(TimeFromSend(0.99, requests=300))


@dataclass(frozen=True)
class LoadSteps:
    """The levels of a factor, as steps of the rate."""

    factor: str
    rates: Mapping[str, float]
    """The rate of each level, in increasing order."""
    closed: Sequence[str]
    """The levels without a rate, which are closed loops."""


def steps_of(plan: Plan) -> LoadSteps | None:
    """Return the steps of the first factor that has enough of them in the plan. None if there is no such factor."""
    for factor, levels in plan.study.factors.items():
        planned = {trial.cell[factor] for trial in plan.trials()}
        rates = {
            name: level["rate"]
            for name, level in levels.items()
            if name in planned and isinstance(level.get("rate"), int | float)
        }
        if len(set(rates.values())) >= FEWEST_STEPS and factor != plan.study.compare.factor:
            ordered = dict(sorted(rates.items(), key=lambda item: item[1]))
            return LoadSteps(factor, ordered, [name for name in levels if name in planned and name not in rates])
    return None


def capacity(attempts: Sequence[Attempt], plan: Plan) -> Capacity | None:
    """Return the `capacity` part of verdicts.json. None if no factor has steps, or if no trial is valid."""
    steps = steps_of(plan)
    treatments = _treatments(attempts, steps.factor) if steps else {}
    if steps is None or not treatments:
        return None
    places = {factor: list(levels) for factor, levels in plan.study.factors.items()}
    ordered = sorted(treatments, key=lambda place: [places[factor].index(level) for factor, level in place])
    by_place = {place: _CapacityBlocks(steps, treatments[place]) for place in ordered}
    return {
        "factor": steps.factor,
        "rows": [_row(dict(place), blocks, steps) for place, blocks in by_place.items()],
        "ratios": list(_ratios(by_place, plan)),
    }


_Place = tuple[tuple[str, str], ...]
_AtSteps = Mapping[str, Attempt]
"""A treatment's attempts in one block, by step."""


def _treatments(attempts: Iterable[Attempt], factor: str) -> dict[_Place, dict[int, dict[str, Attempt]]]:
    """Group attempts by all levels except the step, and then by block. A/A twins are left out."""
    attempts_by_step: dict[_Place, dict[int, dict[str, Attempt]]] = defaultdict(lambda: defaultdict(dict))
    for attempt in attempts:
        if not attempt.twin:
            place = tuple((name, level) for name, level in attempt.cell.items() if name != factor)
            attempts_by_step[place][attempt.block][attempt.cell[factor]] = attempt
    return attempts_by_step


class _CapacityBlocks:
    """The knees and maxima of a treatment in each block."""

    def __init__(self, steps: LoadSteps, blocks: Mapping[int, _AtSteps]) -> None:
        self.blocks = blocks
        at_all = {number: at for number, at in blocks.items() if at.keys() >= {*steps.rates}}
        rates = steps.rates
        knees = {number: _knee([(rate, at[name]) for name, rate in rates.items()]) for number, at in at_all.items()}
        self.knees = {number: knee for number, knee in knees.items() if knee is not None}
        self.maxima = {
            number: max(_value(attempt, RATE) or 0.0 for attempt in at.values()) for number, at in at_all.items()
        }
        self.ends = (min(rates.values()), max(rates.values()))
        last = list(rates)[-1]
        self.saturated = bool(at_all) and all(
            (_value(at[last], RATE) or 0.0) < KEPT_UP * rates[last] for at in at_all.values()
        )


def _value(attempt: Attempt, name: str) -> float | None:
    return attempt.metrics[name]


def _knee(at: Sequence[tuple[float, Attempt]]) -> float | None:
    """Return the knee in one block, from its steps in increasing order of rate. None if a step has no 99th
    percentile."""
    tails = [(rate, _value(attempt, RATE), _value(attempt, TAIL)) for rate, attempt in at]
    if any(tail is None for _, _, tail in tails):
        return None
    return knee([(rate, (achieved or 0.0) / (tail or math.inf)) for rate, achieved, tail in tails])


def knee(powers: Sequence[tuple[float, float]]) -> float | None:
    """Return the rate with the greatest power, from (rate, power) pairs in increasing order of rate. None if all
    powers are 0."""
    best = max(range(len(powers)), key=lambda index: powers[index][1])
    if powers[best][1] <= 0:
        return None
    near = powers[max(0, best - 1) : best + 2]
    if len(near) < FEWEST_STEPS or any(power <= 0 for _, power in near):
        return powers[best][0]
    return math.exp(_vertex([(math.log(rate), math.log(power)) for rate, power in near]))


def _vertex(points: Sequence[tuple[float, float]]) -> float:
    """Return the x at which the parabola through three points is highest. The middle point must be the highest of the
    three."""
    (x0, y0), (x1, y1), (x2, y2) = points
    rise, fall = (y1 - y0) / (x1 - x0), (y2 - y1) / (x2 - x1)
    if rise == fall:  # all three points are equal
        return x1
    middle = (x0 + x1) / 2 + rise * (x2 - x0) / 2 / (rise - fall)
    return min(max(middle, x0), x2)


def _row(cell: Cell, blocks: _CapacityBlocks, steps: LoadSteps) -> CapacityRow:
    return {
        "cell": cell,
        "blocks": len(blocks.maxima),
        "steps": list(_steps(blocks, steps.rates)),
        "closed": list(_steps(blocks, dict.fromkeys(steps.closed))),
        "knee": _rate_limit(blocks.knees.values(), blocks.ends),
        "maximum": _rate_limit(blocks.maxima.values(), None),
        "saturated": blocks.saturated,
    }


def _steps(blocks: _CapacityBlocks, rates: Mapping[str, float | None]) -> Iterator[CapacityStep]:
    """Yield medians for each step, over all blocks that contain it."""
    for name, rate in rates.items():
        if trials := [at[name] for at in blocks.blocks.values() if name in at]:
            yield {
                "level": name,
                "rate": rate,
                "blocks": len(trials),
                "achieved": _median(_value(trial, RATE) for trial in trials),
                "latency": _median(_value(trial, MEDIAN) for trial in trials),
                "tail": _median(_value(trial, TAIL) for trial in trials),
                "sent_tail": _median(_value(trial, SENT_TAIL) for trial in trials),
                "client": _median(_busy(trial) for trial in trials),
            }


def _busy(attempt: Attempt) -> float | None:
    """Return the share of one processor that the client used, or None under the virtual clock, where processing takes
    no time."""
    wall = attempt.report.machine.wall_ns
    used = [role.cpu.main_ns for role in attempt.report.roles if role.name == "client"]
    return used[0] / wall if used and wall and not attempt.virtual else None


def _median(values: Iterable[float | None]) -> float | None:
    numbers = [value for value in values if value is not None]
    middle = statistics.median(numbers) if numbers else None
    return middle if middle is not None and math.isfinite(middle) else None


def _middle(values: Iterable[float]) -> Middle | None:
    ordered = sorted(values)
    if not ordered:
        return None
    between = quantiles.ranks(len(ordered), 0.5)
    return {
        "value": statistics.median(ordered),
        "low": ordered[between.low - 1] if between else None,
        "high": ordered[between.high - 1] if between else None,
        "confidence": between.confidence if between else None,
    }


def _rate_limit(values: Iterable[float], ends: tuple[float, float] | None) -> RateLimit | None:
    middle = _middle(values)
    if middle is None:
        return None
    bounds: dict[float, Bound] = {} if ends is None else {ends[0]: "at most", ends[1]: "at least"}
    return {**middle, "bound": bounds.get(middle["value"])}


def _ratios(by_place: Mapping[_Place, _CapacityBlocks], plan: Plan) -> Iterator[CapacityRatio]:
    """Yield the ratios of knees and of maxima, paired within blocks. There is no ratio of knees if any of them is only
    a bound, and no ratio of maxima if a treatment kept up with the highest rate."""
    compared = plan.study.compare.factor
    for place, first in by_place.items():
        cell = dict(place)
        level = cell.pop(compared)
        for a, b in map(split_pair, plan.pairs):
            second = by_place.get(tuple((name, b if name == compared else at) for name, at in place))
            if a != level or second is None:
                continue
            for what, sides in _sides(first, second).items():
                ratios = [sides[0][block] / sides[1][block] for block in sides[0].keys() & sides[1].keys()]
                if middle := _middle(ratios):
                    yield {"cell": cell, "a": a, "b": b, "what": what, "blocks": len(ratios), **middle}


def _sides(
    first: _CapacityBlocks, second: _CapacityBlocks
) -> dict[str, tuple[Mapping[int, float], Mapping[int, float]]]:
    sides: dict[str, tuple[Mapping[int, float], Mapping[int, float]]] = {}
    if not any(knee in side.ends for side in (first, second) for knee in side.knees.values()):
        sides["knee"] = (first.knees, second.knees)
    if first.saturated and second.saturated:
        sides["maximum"] = (first.maxima, second.maxima)
    return sides


class CapacityPart(TypedDict):
    capacity: NotRequired[Capacity | None]
    """Null unless a factor other than the compared one has at least three levels that each set a `rate`."""


def _compute(case: Case) -> CapacityPart:
    return {"capacity": capacity(case.attempts, case.plan)}


SECTION = Section(CapacityPart, _compute)
