"""Attempts that a treatment's server or client failed. They are repeated, so that whatever is measured is of others."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NotRequired

from typing_extensions import TypedDict

from h123.analysis.case import Case
from h123.analysis.comparisons.judged import Cell
from h123.analysis.section import Section
from h123.analysis.trials import LOSSES
from h123.documents.events import Event, superseded


class FailedAttemptsRow(TypedDict):
    """A treatment's attempts that its server or client failed, by the first reason of each."""

    cell: Cell
    attempts: int
    """All of it, with those that its twin had."""
    failed: int
    reasons: Mapping[str, int]


Treatment = tuple[tuple[str, str], ...]
OFTEN, AGAIN = 0.1, 2
"""The share and the number of a treatment's attempts from which what is left of them is no fair picture of it."""


def failed_attempts(events: Iterable[Event]) -> list[FailedAttemptsRow]:
    """A row for each treatment that failed in one; its twin is it. Those that the machine disturbed count as none."""
    attempts, codes = Counter[Treatment](), defaultdict[Treatment, Counter[str]](Counter)
    for event in events:
        if event["event"] != "trial" or superseded(event):
            continue
        cell = tuple(event["cell"].items())
        attempts[cell] += 1
        found = [reason["code"] for reason in event["reasons"] if reason["code"] in LOSSES]
        if not event["valid"] and found and not event.get("disturbed"):
            codes[cell][found[0]] += 1
    return [
        {"cell": dict(cell), "attempts": attempts[cell], "failed": found.total(), "reasons": dict(found)}
        for cell, found in codes.items()
    ]


def fails_often(row: FailedAttemptsRow) -> bool:
    """Whether it failed in so many that nobody may miss it."""
    return row["failed"] >= max(AGAIN, OFTEN * row["attempts"])


def failing_treatments(
    verdicts: Mapping[str, Any], cell: Mapping[str, str], levels: Sequence[str]
) -> list[FailedAttemptsRow]:
    """Of a comparison's two levels in a cell, the treatments that did. A cell may leave other factors open."""
    sides = [{**cell, verdicts["factor"]: level}.items() for level in levels]
    rows: Sequence[FailedAttemptsRow] = verdicts.get("failed_attempts", [])
    return [row for row in rows if fails_often(row) and any(side <= row["cell"].items() for side in sides)]


class FailedAttemptsPart(TypedDict):
    failed_attempts: NotRequired[Sequence[FailedAttemptsRow]]


def _compute(case: Case) -> FailedAttemptsPart:
    return {"failed_attempts": failed_attempts(case.facts.events)}


SECTION = Section(FailedAttemptsPart, _compute)
