"""What became of a condition: passed, failed or undecided, in each cell of a campaign and altogether.

A ratio is beyond the limit, or within it, if its whole interval is. So chance fails a build as rarely as the interval
misses the truth; where it lies on both sides nobody knows, and more blocks would tell.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from h123.analysis.document import Judged, Verdicts
from h123.errors import UserError
from h123.gate.condition import Condition

Word = Literal["failed", "undecided", "passed"]
STATUS: dict[Word, int] = {"passed": 0, "undecided": 98, "failed": 99}
"""Exit statuses, none of which an error has."""


@dataclass(frozen=True)
class Cell:
    """A comparison that a condition is about."""

    cell: dict[str, str]
    ratio: float | None
    low: float | None
    high: float | None
    word: Word
    why: str


@dataclass(frozen=True)
class Passage:
    """What became of one condition."""

    condition: Condition
    cells: Sequence[Cell]

    @property
    def word(self) -> Word:
        """The worst of its cells."""
        return worst([cell.word for cell in self.cells])


def worst(words: Sequence[Word]) -> Word:
    """failed before undecided before passed."""
    order: tuple[Word, ...] = ("failed", "undecided", "passed")
    return next(word for word in order if word in words)


def judge(condition: Condition, verdicts: Verdicts) -> Passage:
    """Raises UserError where the campaign compares nothing of the kind."""
    mine = [one for one in verdicts["comparisons"] if not one["twin"] and one["metric"] == condition.metric]
    pair = [one for one in mine if (one["a"], one["b"]) == (condition.a, condition.b)]
    if not pair:
        known = ", ".join(dict.fromkeys(f"{one['a']}/{one['b']}" for one in mine))
        has = f"of {condition.metric} the campaign compares {known}" if known else "the campaign does not compare it"
        raise UserError(f"--fail-if {condition}: nothing to hold against it: {has}")
    return Passage(condition, [_cell(condition, one) for one in pair])


def _cell(condition: Condition, one: Judged) -> Cell:
    word, why = _word(condition, one)
    return Cell(dict(one["cell"]), one["ratio"], one["low"], one["high"], word, why)


def _word(condition: Condition, one: Judged) -> tuple[Word, str]:
    if withheld := one["withheld"]:
        return "undecided", f"not judged: {withheld['why']}"
    low, high = one["low"], one["high"]
    if one["ratio"] is None or (low is None and high is None):
        return "undecided", "there are too few blocks for an interval"
    beyond, within = (low, high) if condition.above else (high, low)
    if beyond is not None and (beyond > condition.limit) == condition.above and beyond != condition.limit:
        return "failed", "the whole interval is beyond the limit"
    if within is not None and (within <= condition.limit if condition.above else within >= condition.limit):
        return "passed", "the whole interval is within the limit"
    return "undecided", "the interval lies on both sides of the limit: more blocks would tell"
