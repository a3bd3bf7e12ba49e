"""Writes sentences about attempts that failed because of a treatment's server or client, and were repeated."""

from collections.abc import Sequence

from h123.analysis import fails_often, never_succeeds
from h123.analysis.comparisons.failed_attempts import FailedAttemptsRow
from h123.analysis.sections import Verdicts
from h123.report.text.words import level, listed, opened, place, reason

_OTHERS, _NONE = "Every figure here is of the others.", "So there is no figure of it."


def often_failed_lines(verdicts: Verdicts) -> list[str]:
    """Return sentences about treatments that failed often. They come before any answer, because a server that sometimes
    hangs may have good figures otherwise."""
    return [
        f"{_sentence(row, verdicts['factor'])}. {_NONE if never_succeeds(row) else _OTHERS}"
        for row in _rows(verdicts)
        if fails_often(row)
    ]


def failed_attempt_lines(verdicts: Verdicts) -> list[str]:
    """Return sentences for the summary, about treatments that failed rarely."""
    return [_sentence(row, verdicts["factor"]) for row in _rows(verdicts) if not fails_often(row)]


def _rows(verdicts: Verdicts) -> Sequence[FailedAttemptsRow]:
    rows: Sequence[FailedAttemptsRow] = verdicts.get("failed_attempts", [])
    return rows


def _sentence(row: FailedAttemptsRow, factor: str) -> str:
    """Describe one treatment's failures: `On lan, HTTP/3 failed in 4 of 16 attempts (the client did not finish in
    time)`."""
    elsewhere = {name: value for name, value in row["cell"].items() if name != factor}
    who = level(row["cell"][factor]) if factor in row["cell"] else "the server or its client"
    why = listed([_reason(code, row) for code in row["reasons"]], "or")
    return opened(place(elsewhere), f"{who} failed in {row['failed']} of {row['attempts']} attempts ({why})")


def _reason(code: str, row: FailedAttemptsRow) -> str:
    wrong = row.get("wrong", {}).get(code)
    return f"at first: {wrong}" if wrong else reason(code)
