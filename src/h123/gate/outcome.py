"""Decides the outcome of a condition: passed, failed or undecided, in each cell of a campaign and as a whole.

A condition passes if the whole interval of its figure is within the bound, and fails if the whole interval is beyond
it. So a build fails by chance no more often than the interval misses the true value. If the interval includes the
bound, the condition is undecided, and more blocks may decide it. With `by: estimate`, every known figure decides, but
close to the bound the outcome depends on chance.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from h123.analysis import meaningful
from h123.analysis.provenance.gate import GateRow
from h123.base.errors import UserError
from h123.base.units import counted
from h123.gate.document import Word
from h123.gate.figure import GateFigure
from h123.study import Condition

STATUS: Mapping[Word, int] = {"passed": 0, "undecided": 98, "failed": 99}
"""The exit status of each outcome. Errors have other statuses."""


@dataclass(frozen=True)
class GateCell:
    figure: GateFigure
    word: Word
    why: str
    blocks_needed: int | None = None
    """The number of blocks that would probably decide an undecided condition. None if it is unknown or not
    practical."""

    @property
    def place(self) -> str:
        """The cell in words: `cellular, h3`."""
        return self.figure.place

    @property
    def figures(self) -> str:
        """The figure in words: `+7.3 % (+6.1 % to +9 %)`."""
        return self.figure.words


@dataclass(frozen=True)
class ConditionOutcome:
    condition: Condition
    cells: Sequence[GateCell]
    unmeasured: Sequence[GateFigure] = ()
    """The figures of cells in which requests take no time. Empty if there are no other cells, because `cells` then
    contains them."""

    @property
    def word(self) -> Word:
        return worst([cell.word for cell in self.cells])

    @property
    def open(self) -> list[GateCell]:
        """The cells in which more blocks may decide the condition."""
        return [cell for cell in self.cells if cell.word == "undecided" and not cell.figure.withheld]


def worst(words: Sequence[Word]) -> Word:
    """Return the worst of the outcomes. `failed` is worse than `undecided`, and `undecided` is worse than `passed`."""
    return min(words, key=_order)


def judge(condition: Condition, figures: Sequence[GateFigure], *, unfinished: str | None = None) -> ConditionOutcome:
    """Judge a condition in all cells in which requests take time. If there are none, the condition is undecided.
    `unfinished`: why no cell can pass yet, if there is a reason. Raises UserError if there are no figures."""
    if not figures:
        raise UserError(
            f"{condition.holds!r}: the campaign has no trial with such a value",
            remedy="docs/contracts/metrics.md says what each metric needs; `h123 export DIR` writes available values",
        )
    measured = [figure for figure in figures if not figure.timeless]
    cells = [_cell(condition, figure, unfinished) for figure in measured or figures]
    return ConditionOutcome(condition, cells, [figure for figure in figures if figure.timeless] if measured else [])


def _cell(condition: Condition, figure: GateFigure, unfinished: str | None) -> GateCell:
    cell = _judge_cell(condition, figure)
    return replace(cell, word="undecided", why=unfinished) if unfinished and cell.word == "passed" else cell


def _judge_cell(condition: Condition, figure: GateFigure) -> GateCell:
    if figure.withheld:
        return GateCell(figure, "undecided", f"not judged: {figure.withheld}")
    if figure.value is None:
        sides = "no block has a value" if figure.unit is not None else "no block has a value for both sides"
        return GateCell(figure, "undecided", sides)
    if condition.by == "estimate":
        within = condition.allows(figure.value)
        return GateCell(
            figure, "passed" if within else "failed", f"the estimate is {'within' if within else 'beyond'} the bound"
        )
    return _by_interval(condition, figure)


def _by_interval(condition: Condition, figure: GateFigure) -> GateCell:
    needed = figure.needed(condition.bound)
    if not figure.reliable:
        return GateCell(figure, "undecided", f"{_unsure(figure)}: {_cure(figure.blocks, needed)}", needed)
    near, far = (figure.low, figure.high) if condition.upper else (figure.high, figure.low)
    if near is not None and not condition.allows(near):
        return GateCell(figure, "failed", "the whole interval is beyond the bound")
    if far is not None and condition.allows(far):
        return GateCell(figure, "passed", "the whole interval is within the bound")
    return GateCell(
        figure, "undecided", f"the interval lies on both sides of the bound: {_cure(figure.blocks, needed)}", needed
    )


def _unsure(figure: GateFigure) -> str:
    """Return why the interval cannot decide: `1 block is too few`, or its confidence is below the required one."""
    if figure.required is None or figure.confidence is None or not meaningful(figure.confidence):
        return f"{figure.blocks} {'block is' if figure.blocks == 1 else 'blocks are'} too few"
    had, required = _apart(figure.confidence, figure.required)
    why = f" because of an earlier look with {figure.earlier[-1]} blocks" if figure.earlier else ""
    return f"the interval has {had} confidence from {figure.blocks} blocks, and {required} is needed{why}"


def _apart(less: float, more: float) -> tuple[str, str]:
    """Format two confidences so that they differ, with at least one decimal and no more decimals than necessary."""
    texts = ((f"{100 * less:.{digits}f} %", f"{100 * more:.{digits}f} %") for digits in range(1, 9))
    return next(pair for pair in texts if pair[0] != pair[1])


def _cure(have: int, needed: int | None) -> str:
    if needed is None:
        return "the value is so close to the bound that no practical number of blocks would decide"
    return f"about {counted(needed - have, 'more block')} would probably decide ({needed} in all)"


UNMEASURED = "without delay or rate limit, requests take no time under the virtual clock"
"""The reason why a gate does not check a cell."""
_SHOWN = 8
"""The maximum number of cells per condition that get a line each, the worst first."""


def gate_row(outcomes: Sequence[ConditionOutcome]) -> GateRow:
    """Return the gate's outcome in the form that verdicts.json, the terminal and the page use."""
    word = worst([outcome.word for outcome in outcomes])
    ordered = sorted(outcomes, key=lambda outcome: _order(outcome.word))
    return {"verdict": word, "lines": [f"Gate: {word}", *(line for outcome in ordered for line in _lines(outcome))]}


def _order(word: Word) -> int:
    """Return a sort key that puts the worst outcome first."""
    return ("failed", "undecided", "passed").index(word)


def _lines(outcome: ConditionOutcome) -> Iterator[str]:
    yield f"Required, {outcome.condition}: {outcome.word}"
    cells = sorted(outcome.cells, key=lambda cell: _order(cell.word))
    for cell in cells[:_SHOWN]:
        yield f"{cell.place or 'all'}: {cell.figures}, {cell.word}: {cell.why}"
    if more := cells[_SHOWN:]:
        counts = Counter(cell.word for cell in more)
        yield f"and {len(more)} more, {', '.join(f'{count} {word}' for word, count in counts.items())}: gate.json"
    if outcome.unmeasured:
        yield f"Not checked: {'; '.join(figure.place for figure in outcome.unmeasured)} ({UNMEASURED})"
