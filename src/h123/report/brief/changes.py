"""Prints what each change does to an answer's differences, briefly enough for a ticket."""

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from h123.analysis.explanations.changes import ChangesRow
from h123.analysis.sections import Verdicts
from h123.report.text.explanations.causes import title
from h123.report.text.explanations.changes import (
    ChangeLine,
    above_words,
    agreement_words,
    all_lines,
    as_is_line,
    change_lines,
    change_rows,
    difference_words,
    other_changes,
    shapley_words,
    withheld_words,
)
from h123.report.text.sections import first_lines
from h123.report.text.trust.completeness import count_lines
from h123.report.text.words import level

_WORDS, _TIME = 34, 9
"""The widths of the columns for words and for times, in characters."""
_HEAD, _CHANGES = 3, 4
"""The number of lines above a comparison's changes, and the number of changes that take precedence over notes."""
_LEAST_WITH_ALL = 2
"""The room, in lines, above which the last line is about all changes together."""
_LEAST = _HEAD + 2
"""The smallest number of lines printed for one comparison."""


def print_changes(verdicts: Verdicts, console: Console, *, most: int | None = None) -> None:
    """Print the changes of every comparison. With `most`, print at most that many lines: the comparisons of the first
    metric, and for each of them the changes with the largest effect."""
    rows = change_rows(verdicts)
    if most is None:
        for row in rows:
            notes = [shapley_words(row), above_words(row), agreement_words(row), withheld_words(row)]
            _print_row(row, console, all_lines(row), notes)
        return
    warnings, lines = first_lines(verdicts), count_lines(verdicts)
    for line in [*warnings, *lines]:
        console.print(Text(line, style="red" if line in warnings else "dim"), soft_wrap=True)
    lines += warnings
    room = most - len(lines) - 1
    first = [row for row in rows if row["metric"] == rows[0]["metric"]]
    shown = first[: max(1, room // _LEAST)]
    for row in shown:
        lines_for_row = room // len(shown) - _HEAD
        notes = [
            note for note in (withheld_words(row), above_words(row), other_changes(row), shapley_words(row)) if note
        ]
        notes = notes[: max(0, lines_for_row - _CHANGES)]
        _print_row(row, console, _shortened(change_lines(row), lines_for_row - len(notes)), notes)
    if len(rows) > len(shown):
        left = ", ".join(title(row) for row in rows if row not in shown)
        console.print(Text(f"Not shown (--details): {left}.", style="dim"))


def _shortened(lines: Sequence[ChangeLine], most: int) -> Sequence[ChangeLine]:
    """Return at most `most` lines: the first ones and, if there is room, the last one, which is about all changes."""
    return lines if len(lines) <= most else [*lines[: most - 1], lines[-1 if most > _LEAST_WITH_ALL else most - 1]]


def _print_row(row: ChangesRow, console: Console, lines: Sequence[ChangeLine], notes: Sequence[str]) -> None:
    console.print(Text(difference_words(row), style="bold"), soft_wrap=True)
    names = f"{level(row['a']):>{_TIME}}{level(row['b']):>{_TIME}}"
    console.print(Text(f"  {'What if ...':<{_WORDS}}{names}  of the difference", style="dim"), soft_wrap=True)
    for line in [as_is_line(row), *lines]:
        expected = f" (why: {line.why})" if line.why else ""
        text = f"  {line.words:<{_WORDS}}{line.a:>{_TIME}}{line.b:>{_TIME}}  {line.effect}"
        console.print(Text(text).append(expected, style="dim"), soft_wrap=True)
    for note in filter(None, notes):
        console.print(Text(f"  {note}"), soft_wrap=True)
