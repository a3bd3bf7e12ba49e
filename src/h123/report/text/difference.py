"""Describes a comparison in everyday words: as a percentage or, beyond a factor of two, as `2.8 times as long`.

No-break spaces join numbers that belong together, so that no line ends within an interval.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from typing_extensions import ReadOnly, TypedDict

from h123.analysis import meaningful, no_interval
from h123.analysis.comparisons.rows import VerdictRow, Withheld
from h123.base.relative import factor, in_percent, percentage, span
from h123.report.text.words import (
    confidence_words,
    level,
    opened,
    percent,
    place,
    standing,
    unbroken,
)
from h123.study import Metric, metric

_UNFIT = ("attempts", "unmeasured", "failures", "audits", "timeless", "answers")
"""The kinds of reasons for a missing verdict that also make the row's figures unreliable."""


class WithheldRow(TypedDict):
    """A row that may have no verdict."""

    withheld: ReadOnly[Withheld | None]


def unfit(row: WithheldRow) -> bool:
    """Return whether the row's figures are unreliable."""
    return row["withheld"] is not None and row["withheld"]["kind"] in _UNFIT


def timeless(row: WithheldRow) -> bool:
    """Return whether the row has no verdict because its requests take no time under the virtual clock."""
    return row["withheld"] is not None and row["withheld"]["kind"] == "timeless"


def sentence(comparison: VerdictRow, margin: float) -> str:
    """Describe a comparison's result, with its verdict and interval. `margin` is the equivalence margin (0.05: 5 %)."""
    where, phrases, estimate = place(comparison["cell"]), _Phrases(comparison), comparison["ratio"]
    if withheld := comparison["withheld"]:
        so_far = f"so far {phrases.between(*phrases.bounds)}, but " if phrases.bounds and not unfit(comparison) else ""
        return opened(where, f"not judged: {so_far}{withheld['why']}.")
    if not comparison["blocks"]:
        return opened(where, f"no answer: no block has a value for both {phrases.a} and {phrases.b}.")
    if estimate is None:
        return opened(where, f"{phrases.by_failures()}.")
    if comparison["verdict"] == "equivalent":
        if comparison["small"]:
            small = f"{phrases.difference(estimate)}{phrases.interval(estimate)}"
            return unbroken(opened(where, f"no difference above the margin of {percent(margin)}: {small}."))
        return unbroken(opened(where, f"{phrases.same()} within {percent(margin)}."))
    if comparison["verdict"] != "inconclusive":
        return opened(where, f"{phrases.difference(estimate)}{phrases.interval(estimate)}.")
    if phrases.bounds is None:
        return opened(where, f"cannot tell yet: so far {phrases.difference(estimate)} ({phrases.without_bounds()}).")
    if not phrases.bounds[0] < 1 < phrases.bounds[1]:
        why = comparison.get("undecided") or "that may be chance"
        return opened(where, f"cannot tell yet: so far {phrases.between(*phrases.bounds)}, but {why}.")
    return opened(where, f"cannot tell yet: {phrases.between(*phrases.bounds)}.")


def confidence(comparisons: Sequence[VerdictRow]) -> str:
    """Explain the intervals in the sentences about these comparisons. Empty if they have none."""
    shared = shared_confidence(comparisons)
    return f"The ranges hold with {unbroken(shared)} confidence." if shared else ""


def shared_confidence(comparisons: Sequence[VerdictRow]) -> str:
    """Return the confidence that all intervals shown for these comparisons attain: `95 %`. Empty if none is shown."""
    shown = (c["confidence"] for c in comparisons if c["low"] is not None and not unfit(c))
    sure = [confidence for confidence in shown if confidence is not None and meaningful(confidence)]
    return confidence_words(min(sure)) if sure else ""


def sentence_of_several(comparisons: Sequence[VerdictRow], *, of: str) -> str:
    """Describe several comparisons of one pair that found differences in the same direction, in words that fit the
    metric `of`: `HTTP/3 is 34 to 38 % faster than HTTP/2`."""
    phrases = _Phrases(comparisons[0], of)
    ratios = sorted(c["ratio"] for c in comparisons if c["ratio"] is not None)
    return phrases.between(ratios[0], ratios[-1]) if ratios else phrases.by_failures()


def by(ratios: Sequence[float]) -> str:
    """Say how far ratios are from 1 if all are on the same side of 1: `by 18 to 38 %`, `2.1 to 3.6 times`. Otherwise
    empty."""
    away = sorted(max(ratio, 1 / ratio) for ratio in ratios)
    if not away or min(ratios) < 1 < max(ratios):
        return ""
    if not in_percent(away[-1]):
        return f"{span(factor(away[0]), factor(away[-1]))}\u00a0times"
    changes = sorted(abs(1 - ratio) for ratio in ratios)
    return f"by {span(percentage(changes[0]), percentage(changes[-1]))}\u00a0%"


@dataclass(frozen=True)
class _Phrases:
    comparison: VerdictRow
    of: str | None = None
    """The metric whose words are used, if not the comparison's own metric."""

    @property
    def a(self) -> str:
        return level(self.comparison["a"])

    @property
    def b(self) -> str:
        return level(self.comparison["b"])

    @property
    def metric(self) -> Metric:
        return metric(self.of or self.comparison["metric"])

    @property
    def bounds(self) -> tuple[float, float] | None:
        """The interval, if it is worth reporting."""
        low, high = self.comparison["low"], self.comparison["high"]
        sure = meaningful(self.comparison["confidence"])
        return (low, high) if low is not None and high is not None and sure else None

    def without_bounds(self) -> str:
        """Return why there is no interval, in words."""
        blocks, failed = self.comparison["blocks"], self.comparison["failed"]
        if not meaningful(self.comparison["confidence"]):
            return no_interval(blocks)
        failures = [
            f"{name} failed in {len(failed[side])}" for side, name in (("a", self.a), ("b", self.b)) if failed[side]
        ]
        return f"the range has no bound: {' and '.join(failures)} of {blocks} blocks"

    def same(self) -> str:
        noun = self.metric.noun
        return f"{self.a}'s and {self.b}'s {noun} are the same" if noun else f"{self.a} and {self.b} are the same"

    def difference(self, ratio: float) -> str:
        """Describe the ratio: `HTTP/3 is 24 % faster than HTTP/2`, `HTTP/3 takes 2.8 times as long as HTTP/2`."""
        if in_percent(ratio):
            return f"{self._of_a()} is {percentage(abs(1 - ratio))}\u00a0% {self._word(ratio)} than {self._of_b()}"
        times = f"{factor(max(ratio, 1 / ratio))}\u00a0times"
        if not self.metric.noun:
            return (
                f"{self.a} takes {times} as long as {self.b}"
                if ratio > 1
                else f"{self.a} is {times} as fast as {self.b}"
            )
        first, second = (self.a, self.b) if ratio > 1 else (self.b, self.a)
        return f"{first}'s {self.metric.noun} is {times} {second}'s"

    def by_failures(self) -> str:
        """Describe the result if too many blocks failed for a ratio: `HTTP/2 is faster than HTTP/3, which failed in 7
        of 12 blocks`."""
        failed, blocks = self.comparison["failed"], self.comparison["blocks"]
        loser_side = {"better": "b", "worse": "a"}.get(standing(self.comparison))
        if loser_side is None:
            both = f"{self.a} failed in {len(failed['a'])} and {self.b} in {len(failed['b'])} of {blocks} blocks"
            return f"cannot tell yet: {both}"
        winner, loser = (self.a, self.b) if loser_side == "b" else (self.b, self.a)
        better, times, noun = self.metric.words.better, len(failed[loser_side]), self.metric.noun
        sides = f"{winner}'s {noun} is {better} than that of {loser}" if noun else f"{winner} is {better} than {loser}"
        return f"{sides}, which failed in {times} of {blocks} blocks"

    def interval(self, ratio: float) -> str:
        """Return the interval in brackets, in the unit and direction of `difference`. Empty if, rounded, it equals the
        estimate."""
        if self.bounds is None:
            return ""
        low, high = self.bounds
        if not in_percent(ratio):
            ends = (low, high) if ratio > 1 else (1 / high, 1 / low)
            if {*map(factor, ends)} == {factor(max(ratio, 1 / ratio))}:
                return ""
            return f" ({span(*map(factor, ends))}\u00a0times)"
        if {percentage(abs(1 - end)) for end in (low, high)} == {percentage(abs(1 - ratio))}:
            return ""
        if low < 1 < high:
            return f" (from {self._end(high if ratio < 1 else low)} to {self._end(low if ratio < 1 else high)})"
        ends = (1 - high, 1 - low) if ratio < 1 else (low - 1, high - 1)
        return f" ({span(*map(percentage, ends))}\u00a0%)"

    def between(self, low: float, high: float) -> str:
        """Describe an interval: `HTTP/3 is between 30 % faster and 5 % slower than HTTP/2`."""
        if not (in_percent(low) and in_percent(high)):
            if low == high:
                return self.difference(low)
            range_text = f"between {factor(low)}\u00a0and\u00a0{factor(high)}\u00a0times"
            noun = self.metric.noun
            if noun:
                return f"{self.a}'s {noun} is {range_text} {self.b}'s"
            return f"{self.a} takes {range_text} as long as {self.b}"
        if low < 1 < high:
            return f"{self._of_a()} is between {self._end(low)} and {self._end(high)} than {self._of_b()}"
        ends = sorted((abs(1 - low), abs(1 - high)))
        range_text = f"{span(*map(percentage, ends))}\u00a0% {self._word(max(low, high, key=lambda end: abs(1 - end)))}"
        return f"{self._of_a()} is {range_text} than {self._of_b()}"

    def _end(self, ratio: float) -> str:
        return f"{percentage(abs(1 - ratio))}\u00a0%\u00a0{self._word(ratio)}"

    def _word(self, ratio: float) -> str:
        return self.metric.words.less if ratio < 1 else self.metric.words.more

    def _of_a(self) -> str:
        return f"{self.a}'s {self.metric.noun}" if self.metric.noun else self.a

    def _of_b(self) -> str:
        return f"{self.b}'s" if self.metric.noun else self.b
