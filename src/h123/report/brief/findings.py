"""Lists the findings of a campaign, with one line for each comparison and each cause."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from h123.analysis import CONFIDENCE, headline
from h123.analysis.comparisons.rows import JudgedComparison
from h123.analysis.explanations.causes import CausesRow
from h123.analysis.sections import Verdicts
from h123.base.units import format_seconds
from h123.report.text.answer import cold
from h123.report.text.difference import sentence, sentence_of_several, timeless, unfit
from h123.report.text.explanations import causes
from h123.report.text.explanations.reasons import reason_rows
from h123.report.text.headline import headline_sentences
from h123.report.text.words import (
    cause,
    cell_name,
    decided,
    level,
    listed,
    opened,
    place,
    standing,
    verdict_word,
    withheld,
)
from h123.study import METRICS

_ONE_BY_ONE = 9
"""The number of comparisons above which the answer summarises them."""


class AnswerLine(NamedTuple):
    """A line of the answer, with the standing of the comparison's first level, such as `better`."""

    standing: str
    text: str
    short: str = ""


def comparison_lines(verdicts: Verdicts) -> list[AnswerLine]:
    asked = headline(verdicts["comparisons"])
    if len(asked) > _ONE_BY_ONE:
        lines = [AnswerLine(*line) for line in headline_sentences(asked)]
        return [*lines, *_unjudged(list(filter(timeless, asked)))]
    lines = [AnswerLine(standing(c), sentence(c, verdicts["margin"]), _short(c)) for c in asked if not unfit(c)]
    return [*lines, *_unjudged([c for c in asked if unfit(c)])]


def _short(c: JudgedComparison) -> str:
    """Return a short version of a comparison: `HTTP/3 v HTTP/2 on poor, slower`."""
    where = place(c["cell"])
    return f"{level(c['a'])} v {level(c['b'])}{f' {where}' if where else ''}, {verdict_word(c)}"


def _unjudged(comparisons: Sequence[JudgedComparison]) -> Iterator[AnswerLine]:
    """Yield one line for each reason why comparisons are not judged: `lan is not judged: the machine was too busy.`"""
    cells: dict[str, dict[str, JudgedComparison]] = {}
    for c in comparisons:
        name = cell_name(c["cell"]) or f"{level(c['a'])} v {level(c['b'])}"
        cells.setdefault(_why(c), {}).setdefault(name, c)
    for why, by_name in cells.items():
        verb = "is" if len(by_name) == 1 else "are"
        yield AnswerLine("inconclusive", f"{listed(list(by_name), 'and')} {verb} not judged: {why}.")


def _why(c: JudgedComparison) -> str:
    """Return why a comparison is not judged, in a few words if they are enough, otherwise in full."""
    held_back = c["withheld"]
    return withheld(held_back["kind"]) or held_back["why"] if held_back else "its data cannot be relied on"


def cold_lines(verdicts: Verdicts) -> list[AnswerLine]:
    """Return lines about cold requests: `Cold requests (medium, poor): HTTP/3 is 34 to 38 % faster than HTTP/2.`"""
    return list(_cold_lines(cold(verdicts)))


def _cold_lines(comparisons: Sequence[JudgedComparison]) -> Iterator[AnswerLine]:
    """Yield one line for each pair of levels and each direction of the difference."""
    first = comparisons[0]["metric"] if comparisons else ""
    warm = next((name for name, each in METRICS.items() if each.cold == first), first)
    groups: dict[tuple[str, str, str], list[JudgedComparison]] = {}
    for c in comparisons:
        if c["metric"] == first and decided(c):
            groups.setdefault((c["a"], c["b"], c["verdict"]), []).append(c)
    for members in groups.values():
        where = ", ".join(filter(None, (cell_name(c["cell"]) for c in members)))
        text = sentence_of_several(members, of=warm)
        yield AnswerLine(standing(members[0]), f"Cold requests{f' ({where})' if where else ''}: {text}.")


def cause_title(verdicts: Verdicts) -> str:
    """Return the title of the lines about causes: `Main causes of differences in the mean request time:`"""
    names = [f"the {name} time" for name in dict.fromkeys(map(causes.typical, _main_rows(verdicts)))]
    return f"Main causes of differences in {listed(names, 'and')}:"


def cause_lines(verdicts: Verdicts, width: int) -> list[str]:
    """Return a line for each difference and its main causes. A line names as many causes as fit in `width` columns, but
    at least one: `On medium, HTTP/2 takes 135 ms longer than HTTP/3, mainly because of slow start (120 ms).`"""
    return [line for row in _main_rows(verdicts) if (line := _cause_line(row, width))]


def _main_rows(verdicts: Verdicts) -> list[CausesRow]:
    """Return the rows about the differences that the answer states."""
    comparisons = [c for c in verdicts["comparisons"] if not c["twin"]]
    return list(reason_rows(causes.cause_rows(verdicts), headline(comparisons), comparisons))


def _cause_line(row: CausesRow, width: int) -> str:
    """Return the sentence about the slower side and what slows it down; empty if nothing slows it noticeably."""
    longer = row["difference"]["seconds"]
    parts = causes.main_parts(row) if row.get("told", True) else []
    parts = [part for part in parts if part["difference"]["seconds"] * longer > 0]
    if not parts or row["difference"]["confidence"] < CONFIDENCE:
        return ""
    slower, faster = (row["a"], row["b"]) if longer > 0 else (row["b"], row["a"])
    named = [
        f"{cause(part['cause'], part['words'])} ({format_seconds(abs(part['difference']['seconds']))})"
        for part in parts
    ]
    took = f"{level(slower)} takes {format_seconds(abs(longer))} longer than {level(faster)}, mainly because of "
    whole, shown = opened(place(row["cell"]), took), 1
    while shown < len(named) and len(f"{whole}{listed(named[: shown + 1], 'and')}.") <= width:
        shown += 1
    return f"{whole}{listed(named[:shown], 'and')}."
