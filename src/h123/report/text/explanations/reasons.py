"""Gives the reasons next to an answer: what causes its differences."""

from collections.abc import Iterator, Sequence

from h123.analysis import CONFIDENCE, headline
from h123.analysis.comparisons.rows import JudgedComparison, Later
from h123.analysis.explanations.causes import CausesRow
from h123.analysis.sections import Verdicts
from h123.report.text.difference import unfit
from h123.report.text.explanations import causes
from h123.report.text.headline import ENOUGH_TO_READ
from h123.report.text.words import cause, decided, level, opened, place, standing, unbroken

_MOST = 12
"""The largest number of short reasons in an answer."""
_OTHERWISE = "The answer compares medians, which differ the other way."


def reason_lines(verdicts: Verdicts) -> list[str]:
    """Return sentences about the causes of the answer's differences. If there are many, the sentences are short and
    leave out undecided differences."""
    comparisons = [c for c in verdicts["comparisons"] if not c["twin"]]
    rows = list(reason_rows(causes.cause_rows(verdicts), headline(comparisons), comparisons))
    late = later_lines(comparisons)
    if len(rows) <= ENOUGH_TO_READ:
        return [*(_with_median_caveat(causes.sentence(row), row, comparisons) for row in rows), *late]
    short = [*_short(rows, comparisons), *late]
    more = len(short) - _MOST
    return [*short[:_MOST], *([f"{more} more reasons are in `h123 why` and in the report."] if more > 0 else [])]


def later_lines(comparisons: Sequence[JudgedComparison]) -> list[str]:
    """Say why first responses begin later with one level: `On far, base takes one more round trip than new until
    ...`"""
    return [_later(c, later) for c in comparisons if (later := c.get("later")) and decided(c) and not c["twin"]]


def _later(c: JudgedComparison, later: Later) -> str:
    slow, quick = map(level, (c["a"], c["b"]) if later["side"] == "a" else (c["b"], c["a"]))
    trips = "one more round trip" if later["round_trips"] == 1 else f"{later['round_trips']} more round trips"
    return unbroken(opened(place(c["cell"]), f"{slow} takes {trips} than {quick} to its first byte: {later['why']}."))


def reason_rows(
    rows: Sequence[CausesRow], headlines: Sequence[JudgedComparison], comparisons: Sequence[JudgedComparison]
) -> Iterator[CausesRow]:
    """Yield the reasons for the answer's differences. If the answer finds no difference between two levels in a cell,
    yield the reasons for their other differences, such as in first requests. Unreliable figures get no reasons."""
    metrics = {c["metric"] for c in headlines}
    differences = [(c["cell"], c["a"], c["b"]) for c in headlines if decided(c)]
    for row in rows:
        if not causes.noticed(row, row["difference"]["seconds"]):
            continue
        answer = _answered(row, comparisons)
        if answer is not None and unfit(answer):
            continue
        differs = answer is not None and decided(answer)
        if row["metric"] in metrics or (differs and (row["cell"], row["a"], row["b"]) not in differences):
            yield row


def _short(rows: Sequence[CausesRow], comparisons: Sequence[JudgedComparison]) -> Iterator[str]:
    for row in rows:
        differs = (answer := _answered(row, comparisons)) and decided(answer)
        parts = causes.main_parts(row) if row.get("told", True) else []
        if differs and parts and row["difference"]["confidence"] >= CONFIDENCE:
            whole, most = row["difference"]["seconds"], parts[0]
            text = f"{level(row['a'])} takes {causes.amount(whole)} than {level(row['b'])} on average, "
            text += f"{causes.amount(most['difference']['seconds'])} for {cause(most['cause'], most['words'])}."
            yield _with_median_caveat(unbroken(opened(place(row["cell"]), text)), row, comparisons)


def _with_median_caveat(text: str, row: CausesRow, comparisons: Sequence[JudgedComparison]) -> str:
    """Add a note if the mean differs in the opposite direction to the answer's median."""
    answer, difference = _answered(row, comparisons), row["difference"]
    if not answer or not decided(answer) or difference["low"] * difference["high"] <= 0:
        return text
    return f"{text} {_OTHERWISE}" if (standing(answer) == "better") != (difference["seconds"] < 0) else text


def _answered(row: CausesRow, comparisons: Sequence[JudgedComparison]) -> JudgedComparison | None:
    """Return the comparison that the row explains, or None."""
    same = row["cell"], row["metric"], row["a"], row["b"]
    return next((c for c in comparisons if (c["cell"], c["metric"], c["a"], c["b"]) == same), None)
