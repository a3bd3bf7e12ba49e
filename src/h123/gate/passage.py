"""What became of a condition: passed, failed or undecided, in each cell of a campaign and altogether.

A ratio is beyond the bound, or within it, if its whole interval is. So chance fails a build as rarely as the interval
misses the truth; where it lies on both sides nobody knows, and more blocks would tell. Held on the estimate alone, all
but a missing one is decided, and near the bound by chance.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from h123.errors import UserError
from h123.gate.document import Word
from h123.gate.ratio import Ratio
from h123.study import Condition

STATUS: Mapping[Word, int] = {"passed": 0, "undecided": 98, "failed": 99}
"""Exit statuses, none of which an error has."""


@dataclass(frozen=True)
class Cell:
    """What became of it in one place."""

    held: Ratio
    word: Word
    why: str
    blocks_needed: int | None = None
    """Of an undecided one."""

    @property
    def place(self) -> str:
        """`cellular, h3`."""
        return ", ".join(self.held.cell.values())

    @property
    def figures(self) -> str:
        """`1.073 (1.061 to 1.090)`."""
        if self.held.ratio is None:
            return "not known"
        low, high = ("without bound" if bound is None else f"{bound:.3f}" for bound in (self.held.low, self.held.high))
        return f"{self.held.ratio:.3f} ({low} to {high})"


@dataclass(frozen=True)
class Passage:
    """What became of one condition."""

    condition: Condition
    cells: Sequence[Cell]

    @property
    def word(self) -> Word:
        """The worst of its cells."""
        return worst([cell.word for cell in self.cells])

    @property
    def open(self) -> bool:
        """Whether more blocks may decide it."""
        return any(cell.word == "undecided" and not cell.held.withheld for cell in self.cells)


def worst(words: Sequence[Word]) -> Word:
    """failed before undecided before passed."""
    order: tuple[Word, ...] = ("failed", "undecided", "passed")
    return next(word for word in order if word in words)


def judge(condition: Condition, ratios: Sequence[Ratio]) -> Passage:
    """Raises UserError where nothing of the kind is compared."""
    of_metric = [one for one in ratios if one.metric == condition.metric]
    mine = [one for one in of_metric if one.pair == condition.pair]
    if not mine:
        known = ", ".join(dict.fromkeys(one.pair for one in of_metric))
        has = f"of {condition.metric} the campaign compares {known}" if known else "the campaign does not compare it"
        told = ", ".join(dict.fromkeys(f"{one.metric} {one.pair}" for one in ratios)) or "nothing"
        raise UserError(f"{condition.holds!r}: nothing to hold against it: {has}", remedy=f"it compares {told}")
    return Passage(condition, [_cell(condition, one) for one in mine])


def _cell(condition: Condition, one: Ratio) -> Cell:
    if one.withheld:
        return Cell(one, "undecided", f"not judged: {one.withheld}")
    if one.ratio is None:
        return Cell(one, "undecided", "no block has a value for both sides")
    if condition.by == "estimate":
        within = condition.allows(one.ratio)
        return Cell(one, "passed" if within else "failed", f"the estimate is {'within' if within else 'beyond'} it")
    return _by_interval(condition, one)


def _by_interval(condition: Condition, one: Ratio) -> Cell:
    needed = one.needed(condition.bound)
    if not one.reliable:
        had = f"{one.confidence or 0:.0%} confidence from {one.blocks} block{'s' * (one.blocks != 1)}"
        return Cell(one, "undecided", f"an interval has only {had}: {_cure(one.blocks, needed)}", needed)
    near, far = (one.low, one.high) if condition.upper else (one.high, one.low)
    if near is not None and not condition.allows(near):
        return Cell(one, "failed", "the whole interval is beyond it")
    if far is not None and condition.allows(far):
        return Cell(one, "passed", "the whole interval is within it")
    return Cell(one, "undecided", f"the interval lies on both sides of it: {_cure(one.blocks, needed)}", needed)


def _cure(have: int, needed: int | None) -> str:
    if needed is None:
        return "more blocks would decide than anybody runs, so near to it is the ratio"
    return f"about {needed - have} more blocks would probably decide ({needed} in all)"
