"""Defines the figure that a condition tests: the ratio of two levels, or one level's value, in one cell."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from h123.analysis import (
    Case,
    Level,
    blocks_to_part,
    blocks_to_part_value,
    condition_levels,
    condition_ratios,
    earlier_looks,
    meaningful,
    no_interval,
    reliable,
)
from h123.analysis import answers_words as answers_words_of
from h123.analysis.comparisons.rows import JudgedComparison
from h123.analysis.sections import Verdicts
from h123.base.relative import signed, signed_with_interval
from h123.base.units import Unit, format_value
from h123.diff import FEWEST, Diff, DiffRow
from h123.diff import blocks_to_part as blocks_to_part_unpaired
from h123.study import METRICS, Condition


@dataclass(frozen=True)
class GateFigure:
    """A figure with its interval. An end of the interval is None if there is no interval, or no bound on that side."""

    metric: str
    subject: str
    """The two levels of a ratio, such as `new/base`, or the single level, such as `new`."""
    cell: Mapping[str, str]
    value: float | None
    low: float | None
    high: float | None
    confidence: float | None
    reliable: bool
    """Whether the confidence is at least the required one; for two campaigns, whether there are enough blocks."""
    blocks: int
    """The number of blocks with a value, or for a ratio, with a value of both levels. For two campaigns, the smaller of
    their numbers."""
    withheld: str | None
    """The reason why the figure cannot decide anything, or None."""
    needed: Callable[[float], int | None]
    """Takes a bound, and returns the number of blocks with which the interval would probably lie on one side of it.
    None if that is more than is practical."""
    unit: Unit | None = None
    """The unit of a value. None for a ratio."""
    timeless: bool = False
    """Whether nothing takes time in the figure's trials, so that no value is shown."""
    required: float | None = None
    """The confidence that the campaign's present look requires. None for two campaigns, which have no looks."""
    earlier: Sequence[int] = ()
    """The numbers of blocks at earlier looks, which raise the confidence that the present look requires."""

    @property
    def place(self) -> str:
        """The cell in words: `cellular, h3`."""
        return ", ".join(self.cell.values())

    @property
    def words(self) -> str:
        """The figure in words: `+7.3 % (+6.1 % to +9 %)`, `187 ms (181 ms to 193 ms)` or `187 ms (2 blocks, too few for
        an interval)`."""
        if self.value is None:
            return "not known"
        if self.timeless:
            return "–"
        if not meaningful(self.confidence):
            value = signed(self.value) if self.unit is None else format_value(self.value, self.unit)
            return f"{value} ({no_interval(self.blocks)})".replace("\u00a0", " ")
        if self.unit is None:
            return signed_with_interval(self.value, self.low, self.high).replace("\u00a0", " ")
        low, high = (
            "without bound" if bound is None else format_value(bound, self.unit) for bound in (self.low, self.high)
        )
        return f"{format_value(self.value, self.unit)} ({low} to {high})"


@dataclass(frozen=True)
class GateFigures:
    verdicts: Verdicts
    gathered: Callable[[], Case]
    """Returns the campaign's trials. It is called only if the study's own comparisons are not enough."""

    def of(self, condition: Condition) -> list[GateFigure]:
        """Return the figures that a condition tests, one for each cell. Empty if no trial has such a value, or if no
        such level exists."""
        if len(condition.levels) == 1:
            figures = [
                self._value(level, condition)
                for level in condition_levels(self._case, condition.metric, *condition.levels)
            ]
        else:
            figures = [self._ratio(level) for level in self._compared(condition)]
        had = any(level.blocks or level.withheld for level in figures)
        return figures if had or not all(map(self._measured, condition.levels)) else []

    def _measured(self, level: str) -> bool:
        return any(row["cell"].get(self.verdicts["factor"]) == level for row in self.verdicts["values"])

    @cached_property
    def _case(self) -> Case:
        return self.gathered()

    def _compared(self, condition: Condition) -> Sequence[JudgedComparison]:
        """Return the study's own comparisons of the condition's levels by its metric. If there are none, compute
        them."""
        a, b = condition.levels
        key = (condition.metric, a, b)
        mine = [
            comparison
            for comparison in self.verdicts["comparisons"]
            if (comparison["metric"], comparison["a"], comparison["b"]) == key and not comparison["twin"]
        ]
        return mine or condition_ratios(self._case, *key)

    def _ratio(self, comparison: JudgedComparison) -> GateFigure:
        return GateFigure(
            metric=comparison["metric"],
            subject=f"{comparison['a']}/{comparison['b']}",
            cell=comparison["cell"],
            value=comparison["ratio"],
            low=comparison["low"],
            high=comparison["high"],
            confidence=comparison["confidence"],
            reliable=reliable(comparison["confidence"], self.verdicts),
            required=self._required,
            earlier=earlier_looks(self.verdicts["looks"]),
            blocks=comparison["blocks"],
            withheld=comparison["withheld"]["why"] if comparison["withheld"] else None,
            timeless=comparison["withheld"] is not None and comparison["withheld"]["kind"] == "timeless",
            needed=lambda bound: blocks_to_part(comparison, bound, self.verdicts),
        )

    def _value(self, single_level: Level, condition: Condition) -> GateFigure:
        (level,) = condition.levels
        return GateFigure(
            metric=condition.metric,
            subject=level,
            cell=single_level.cell,
            value=single_level.value,
            low=single_level.low,
            high=single_level.high,
            confidence=single_level.confidence,
            reliable=reliable(single_level.confidence, self.verdicts),
            required=self._required,
            earlier=earlier_looks(self.verdicts["looks"]),
            blocks=len(single_level.values),
            withheld=single_level.withheld or self._other_answers(single_level.cell, level),
            needed=lambda bound: blocks_to_part_value(single_level.values, bound, self.verdicts),
            unit=METRICS[condition.metric].unit,
            timeless=single_level.timeless,
        )

    @property
    def _required(self) -> float:
        return 1 - self.verdicts["looks"]["level"]

    def _other_answers(self, cell: Mapping[str, str], level: str) -> str | None:
        """Return a reason if the level's responses differ from another level's, otherwise None. The level's value then
        cannot decide the condition, because a build must not pass only because its responses are smaller."""
        for row in self.verdicts.get("answers", []):
            if row["cell"] == cell and level in (row["a"], row["b"]) and self._must_be_alike:
                return answers_words_of(row)
        return None

    @property
    def _must_be_alike(self) -> bool:
        return any(c["withheld"] and c["withheld"]["kind"] == "answers" for c in self.verdicts["comparisons"])


def unpaired_figures(diff: Diff, condition: Condition) -> list[GateFigure]:
    """Return the figures that a condition on two campaigns tests. Their levels are `after` and `before`."""
    return [_unpaired(row) for row in diff["rows"] if row["metric"] == condition.metric]


def _unpaired(row: DiffRow) -> GateFigure:
    blocks = min(len(row["before"]), len(row["after"]))
    return GateFigure(
        metric=row["metric"],
        subject="after/before",
        cell=row["cell"],
        value=row["ratio"],
        low=row["low"],
        high=row["high"],
        confidence=row["confidence"],
        reliable=blocks >= FEWEST,
        blocks=blocks,
        withheld=row["withheld"],
        timeless=row.get("timeless", False),
        needed=lambda bound: blocks_to_part_unpaired(row["before"], row["after"], bound),
    )


def spoiled(figures: Sequence[GateFigure], why: str | None) -> list[GateFigure]:
    """Return the figures with `why` as the reason why they cannot decide anything. If `why` is None, return them
    unchanged."""
    return [replace(figure, withheld=why) if why else figure for figure in figures]
