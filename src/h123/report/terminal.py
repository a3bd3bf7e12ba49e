"""Prints the complete answer in a terminal: values, differences in words, tables, and what may make the answer
unreliable."""

import re
import textwrap
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path

from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from h123.analysis import headline
from h123.analysis.comparisons.rows import JudgedComparison
from h123.analysis.explanations.causes import CausesRow
from h123.analysis.sections import Verdicts
from h123.base.paths import typed
from h123.base.relative import signed
from h123.base.terminal.console import with_commands
from h123.base.units import format_seconds
from h123.report.brief.answer import print_gate
from h123.report.brief.changes import print_changes
from h123.report.text.answer import AnswerRow, AnswerTable, answers, cold, findings, no_answer
from h123.report.text.constant_factors import common, common_line, without
from h123.report.text.difference import confidence, sentence
from h123.report.text.explanations import causes
from h123.report.text.explanations.reasons import later_lines
from h123.report.text.headline import ENOUGH_TO_READ, headline_sentences
from h123.report.text.outcomes import outcomes
from h123.report.text.sections import below, first_lines, last, trust
from h123.report.text.words import cell_name, level, standing, unbroken
from h123.study import metric

ABREAST = 3
"""The largest number of pairs that fit side by side in a table 80 characters wide."""
_STYLES = {"better": "blue", "worse": "yellow", "equivalent": "green", "inconclusive": "dim"}

_MARKS = {"better": "\u25b2", "worse": "\u25bc", "equivalent": "=", "inconclusive": "?"}
_MEANINGS = {
    "\u25b2": "better",
    "\u25bc": "worse",
    "=": "the same within the margin",
    "?": "undecided",
    "\u2013": "not judged",
}
_FOLDER = re.compile("(--out[ \u00a0])DIR\\b")


def print_summary(verdicts: Verdicts, console: Console, folder: Path | None = None) -> None:
    """Print verdicts.json in full. Commands in the output name `folder`, the campaign's folder."""
    same = common(verdicts)
    verdicts = without(verdicts, same)
    comparisons = [c for c in verdicts["comparisons"] if not c["twin"]]
    print_gate(verdicts, console)
    _say(console, verdicts["question"], style="bold")
    _say(console, common_line(same), style="dim", indent=2)
    for warning in first_lines(verdicts):
        _say(console, warning, style="red", indent=2)
    print_changes(verdicts, console)
    _print_answer(verdicts, console)
    for line in below(verdicts):
        _say(console, _addressed(line.text, folder), style=line.style, indent=line.indent)
    for cell, members in groupby(comparisons, key=lambda c: c["cell"]):
        console.print(Text(f"\n{cell_name(cell)}".rstrip(), style="bold"))
        for table in _tables(list(members)):
            console.print(table)
    if comparisons:
        _say(console, _legend(comparisons), style="dim")
    console.print()
    for paragraph in trust(verdicts) + last(verdicts):
        _say(console, _addressed(paragraph, folder))


def _addressed(line: str, folder: Path | None) -> str:
    """Insert the campaign's folder into commands, so that you can copy them. Stored results do not name the folder,
    because a campaign can be moved."""
    return _FOLDER.sub(lambda match: match[1] + typed(folder).replace(" ", "\u00a0"), line) if folder else line


def print_causes(verdicts: Verdicts, console: Console, only: Mapping[str, Collection[str]]) -> None:
    """Print what requests spent their time on, in the cells that `only` (the allowed levels of each factor) selects.

    Raises UserError if there is nothing to print.
    """
    rows = chosen_causes(verdicts, only)
    same = common(verdicts)
    _say(console, common_line(same), style="dim")
    for row in without(rows, same):
        _say(console, causes.sentence(row), style="bold")
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="", highlight=False)
        for name in (level(row["a"]), level(row["b"]), "difference"):
            table.add_column(name, justify="right", no_wrap=True)
        table.add_column("interval", no_wrap=True)
        table.add_column("spent on")
        for part in causes.parts(row):
            values = map(format_seconds, (part["a_seconds"], part["b_seconds"]))
            difference = part["difference"]
            table.add_row(*values, causes.signed(difference["seconds"]), causes.between(difference), part["words"])
        console.print(table)
        for remark in (causes.confidence(row), causes.blocking_words(row), causes.sums(row)):
            if remark:
                _say(console, remark, style="dim")
        console.print()
    _say(console, causes.PAIRED, style="dim")
    for line in later_lines(without([c for c in verdicts["comparisons"] if _matches(c["cell"], only)], same)):
        _say(console, line)


def chosen_causes(verdicts: Verdicts, only: Mapping[str, Collection[str]]) -> list[CausesRow]:
    """Return the causes of the requests' times in the cells that `only` (the allowed levels of each factor) selects.
    Raises UserError if there are none."""
    rows = [row for row in causes.cause_rows(verdicts) if _matches(row["cell"], only)]
    if not rows:
        raise causes.no_causes_error(verdicts)
    return rows


def _matches(cell: Mapping[str, str], only: Mapping[str, Collection[str]]) -> bool:
    return all(cell.get(factor) in levels for factor, levels in only.items() if factor in cell)


def _print_answer(verdicts: Verdicts, console: Console) -> None:
    rankings, headline_comparisons = answers(verdicts), headline(verdicts["comparisons"])
    if not rankings:
        _say(console, no_answer(verdicts), indent=2)
    for answer in rankings:
        console.print()
        ratios = len(answer.pairs) <= ABREAST and _fits(_answer_table(answer, ratios=True), console)
        _say(console, answer.title(ratios=ratios), style="dim")
        table = _answer_table(answer, ratios=ratios)
        fits = len(answer.levels) <= ABREAST or _fits(table, console)
        console.print(table if fits else _ranked_table(answer))
        for line in (answer.tally, answer.parting()):
            _say(console, line)
    console.print()
    for stood, words in headline_sentences(headline_comparisons):
        _say(console, words, style=_STYLES[stood], indent=2)
    few = headline_comparisons if rankings and len(headline_comparisons) <= ENOUGH_TO_READ else []
    for outcome in outcomes(few, verdicts["margin"]):
        _say(console, outcome.text, style=_STYLES[outcome.standing], indent=2)
        _say(console, outcome.note, style="dim", indent=4)
    compared = cold(verdicts)
    for stood, words in headline_sentences(compared):
        _say(console, words, style=_STYLES[stood], indent=2)
    few_cold = findings(compared) if len(compared) <= ENOUGH_TO_READ else []
    for comparison in few_cold:
        _say(console, sentence(comparison, verdicts["margin"]), style=_STYLES[standing(comparison)], indent=2)
    _say(console, confidence([*few, *few_cold]), style="dim", indent=2)


def _answer_table(answer: AnswerTable, *, ratios: bool) -> Table:
    pairs = answer.pairs if ratios else []
    heads = [" v\n".join(map(level, pair)) for pair in pairs]
    table = _plain_table("", *map(level, answer.levels), *heads, answer.metric.words.best)
    for row in answer.rows:
        values = [Text(row.value(name), style="bold" if name in row.best.levels else "") for name in answer.levels]
        best = Text(row.words, style="bold" if row.best.levels else "dim")
        table.add_row(_row_name(answer, row), *values, *map(row.change, pairs), best)
    return table


def _row_name(answer: AnswerTable, row: AnswerRow) -> str:
    """Return the row's name. Rows of cold requests are indented below the row of their cell."""
    return answer.name(row) if row.metric is answer.metric else f"  {answer.name(row)}"


def _fits(table: Table, console: Console) -> bool:
    """Return whether the whole table fits. The last column may take several lines."""
    return Measurement.get(console, console.options.update(max_width=1000), table).minimum <= console.width


def _ranked_table(answer: AnswerTable) -> Table:
    """Return a table of the best three levels and the worst, for answers with too many levels to show."""
    table = _plain_table("", "the best three", "the worst", answer.metric.words.best)
    for row in answer.rows:
        values = [f"{level(name)} {row.value(name)}" for name in answer.ranked(row)] or ["–"]
        table.add_row(_row_name(answer, row), "\n".join(values[:3]), values[-1] if len(values) > 3 else "", row.words)
    return table


def _plain_table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="", highlight=False)
    for number, column in enumerate(columns):
        table.add_column(column, no_wrap=number < len(columns) - 1)
    return table


def _say(console: Console, text: str, *, style: str = "", indent: int = 0) -> None:
    """Print a sentence. Text joined by no-break spaces stays on one line, however long it is."""
    margin = " " * indent
    lines = textwrap.wrap(
        unbroken(text),
        console.width,
        initial_indent=margin,
        subsequent_indent=margin,
        break_long_words=False,
        break_on_hyphens=False,
    )
    for line in lines:
        console.print(with_commands(line.replace("\u00a0", " "), style), soft_wrap=True)


def _tables(comparisons: list[JudgedComparison]) -> Iterator[Table]:
    """Yield tables with a row for each metric and a column for each pair. Many pairs need several tables."""
    pairs = list(dict.fromkeys((c["a"], c["b"]) for c in comparisons))
    for first in range(0, len(pairs), ABREAST):
        pairs_of_table = pairs[first : first + ABREAST]
        yield _table([c for c in comparisons if (c["a"], c["b"]) in pairs_of_table], pairs_of_table)


def _table(comparisons: list[JudgedComparison], pairs: list[tuple[str, str]]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 2))
    table.add_column("")
    for a, b in pairs:
        table.add_column(f"{level(a)} / {level(b)}")
    for name in dict.fromkeys(c["metric"] for c in comparisons):
        comparison_by_pair = {(c["a"], c["b"]): c for c in comparisons if c["metric"] == name}
        cells = [_signed(comparison_by_pair[pair]) if pair in comparison_by_pair else Text("") for pair in pairs]
        table.add_row(metric(name).title, *cells)
    return table


def _mark(c: JudgedComparison) -> str:
    return "\u2013" if c["withheld"] or c["ratio"] is None else _MARKS[standing(c)]


def _signed(c: JudgedComparison) -> Text:
    """Return the relative difference and the mark for its direction."""
    mark = _mark(c)
    return Text(mark if mark == "\u2013" else f"{signed(c['ratio'] or 1.0)} {mark}", style=_STYLES[standing(c)])


def _legend(comparisons: Sequence[JudgedComparison]) -> str:
    """Explain the marks that appear: `First against second: ▲ better, ? undecided. ...`"""
    there = set(map(_mark, comparisons))
    meanings = ", ".join(f"{mark} {meaning}" for mark, meaning in _MEANINGS.items() if mark in there)
    return f"First against second: {meanings}. Intervals and p values are in the report."
