"""Writes sentences about servers that respond differently to the same request. The sentences are shown first, because
such servers do different work."""

from collections.abc import Sequence

from h123.analysis import answers_words
from h123.analysis.comparisons.answers import AnswersRow
from h123.analysis.sections import Verdicts
from h123.report.text.words import listed, opened, place

_NAMED = 3


def other_answers_lines(verdicts: Verdicts) -> list[str]:
    """Return a sentence for each pair of servers whose responses differ, with the cells in which they differ."""
    rows: Sequence[AnswersRow] = verdicts.get("answers", [])
    cells: dict[str, list[AnswersRow]] = {}
    for row in rows:
        cells.setdefault(answers_words(row), []).append(row)
    withheld = any(c["withheld"] and c["withheld"]["kind"] == "answers" for c in verdicts["comparisons"])
    cost = (
        "They do different work, so they are not compared."
        if withheld
        else ("They do different work, and the study asks to compare them all the same.")
    )
    return [f"{opened(_where(places), sentence)}. {cost}" for sentence, places in cells.items()]


def _where(rows: Sequence[AnswersRow]) -> str:
    names = [where for row in rows if (where := place(row["cell"]))]
    more = [f"{len(names) - _NAMED} more"] if len(names) > _NAMED else []
    return listed([*names[:_NAMED], *more], "and")
