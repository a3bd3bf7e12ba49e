"""Finds attempts that failed because of the treatment's server or client, including attempts with wrong responses.

Failed attempts are repeated, so all measured values come from attempts that succeeded. If many attempts failed, these
values do not represent the treatment, so it is not judged.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NotRequired

from typing_extensions import TypedDict

from h123.analysis.case import Case, once
from h123.analysis.comparisons.rows import Cell
from h123.analysis.section import Section
from h123.analysis.trials import ANSWERS, loss
from h123.documents.events import Event, superseded


class FailedAttemptsRow(TypedDict):
    """The number of a treatment's attempts that failed because of its server or client."""

    cell: Cell
    attempts: int
    """The number of all attempts, including the A/A twin's."""
    failed: int
    """The number of attempts in which the server or client failed, or responses were wrong. Attempts that failed
    because of the machine are not included."""
    reasons: Mapping[str, int]
    """The number of failed attempts by the first reason of each."""
    wrong: NotRequired[Mapping[str, str]]
    """For each reason, a description of the wrong responses in the first attempt that failed for this reason."""


Treatment = tuple[tuple[str, str], ...]
OFTEN, AGAIN = 0.1, 2
"""The smallest share and number of a treatment's attempts that must fail for the others not to represent the
treatment."""


def failed_attempts(events: Iterable[Event]) -> list[FailedAttemptsRow]:
    """Return a row for each treatment with a failed attempt. The attempts of A/A twins count too; failures that the
    machine caused do not."""
    attempts, codes = Counter[Treatment](), defaultdict[Treatment, Counter[str]](Counter)
    wrong = defaultdict[Treatment, dict[str, str]](dict)
    for event in events:
        if event["event"] != "trial" or superseded(event):
            continue
        cell = tuple(event["cell"].items())
        attempts[cell] += 1
        if code := loss(event):
            codes[cell][code["code"]] += 1
            if code["code"] in ANSWERS:
                wrong[cell].setdefault(code["code"], code["detail"])
    return [
        {
            "cell": dict(cell),
            "attempts": attempts[cell],
            "failed": code.total(),
            "reasons": dict(code),
            "wrong": wrong[cell],
        }
        for cell, code in codes.items()
    ]


@once
def failed_of(case: Case) -> list[FailedAttemptsRow]:
    return failed_attempts(case.facts.events)


def fails_often(row: FailedAttemptsRow) -> bool:
    """Return whether so many attempts failed that the others do not represent the treatment."""
    return row["failed"] >= max(AGAIN, OFTEN * row["attempts"])


def never_succeeds(row: FailedAttemptsRow) -> bool:
    return row["failed"] == row["attempts"]


def failed_words(row: FailedAttemptsRow, factor: str) -> str:
    """Describe the failures, for example as `b failed in 9 of 19 attempts (at first: 2 of 6 responses had a body of 0
    bytes instead of 20000), and the figures come from the other attempts`."""
    details = "; ".join(row.get("wrong", {}).values())
    first = f" (at first: {details})" if details else ""
    rest = ", so it has no figures" if never_succeeds(row) else ", and the figures come from the other attempts"
    who = row["cell"].get(factor, "the server or its client")
    return f"{who} failed in {row['failed']} of {row['attempts']} attempts{first}{rest}"


@once
def unmeasured(case: Case) -> Mapping[Treatment, Counter[str]]:
    """Return the treatments that have attempts, but no valid one. For each, count the attempts by the first reason why
    they are invalid, including reasons that are not the treatment's fault."""
    codes_by_treatment, measured = defaultdict[Treatment, Counter[str]](Counter), set[Treatment]()
    for event in case.facts.events:
        if event["event"] == "trial" and not superseded(event):
            cell = tuple(event["cell"].items())
            measured |= {cell} if event["valid"] else set()
            codes_by_treatment[cell].update(reason["code"] for reason in event["reasons"][:1])
    return {cell: codes for cell, codes in codes_by_treatment.items() if cell not in measured}


class FailedAttemptsPart(TypedDict):
    failed_attempts: NotRequired[Sequence[FailedAttemptsRow]]


def _compute(case: Case) -> FailedAttemptsPart:
    return {"failed_attempts": failed_of(case)}


SECTION = Section(FailedAttemptsPart, _compute)
