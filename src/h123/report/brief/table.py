"""Makes the table of an answer: a row for each cell, a column for each level, warm requests before cold ones."""

from rich.table import Table
from rich.text import Text

from h123.report.text.answer import AnswerRow, AnswerTable
from h123.report.text.words import level

ABREAST = 4
"""The largest number of levels that get a column each. If there are more, the table shows the best three and the
worst."""
_BEST = "bold blue"


def answer_table(answer: AnswerTable, *, most: int | None = None) -> Table:
    """Return the table with at most `most` rows."""
    cells = [(row, _cold(answer, row)) for row in answer.main]
    with_cold = any(below for _, below in cells)
    ranked = len(answer.levels) > ABREAST
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim", highlight=False)
    heads = ["best", "second", "third", "worst"] if ranked else [level(name) for name in answer.levels]
    groups = ["warm", "cold"] if with_cold and not ranked else [""]
    table.add_column(f"\n{answer.factors}" if len(groups) > 1 else answer.factors, no_wrap=True)
    for group in groups:
        for number, head in enumerate(heads):
            title = group if number == 0 else ""
            table.add_column(f"{title}\n{head}" if len(groups) > 1 else head, no_wrap=True)
    for row, below in cells[:most]:
        shown = _ranked(answer, row) if ranked else _values(answer, row)
        if len(groups) > 1:
            shown += _values(answer, below) if below else [Text("")] * len(answer.levels)
        table.add_row(answer.name(row), *shown)
    return table


def _cold(answer: AnswerTable, row: AnswerRow) -> AnswerRow | None:
    """Return the row of cold requests in the same cell, or None."""
    below = (other for other in answer.rows if other.cell == row.cell and other.metric.name == answer.metric.cold)
    return next(below, None)


def _values(answer: AnswerTable, row: AnswerRow) -> list[Text]:
    return [Text(row.value(name), style=_BEST if name in row.best.levels else "") for name in answer.levels]


def _ranked(answer: AnswerTable, row: AnswerRow) -> list[Text]:
    names = answer.ranked(row)
    shown = [*names[:3], *names[-1:]] if len(names) > 3 else names
    texts = [Text(f"{level(name)} {row.value(name)}", style=_BEST if name in row.best.levels else "") for name in shown]
    return texts + [Text("" if texts else "–")] * (4 - len(texts))
