"""Reports files that servers and clients wrote outside their folders. Such files are lost when the trial ends."""

from collections.abc import Sequence
from typing import NotRequired

from typing_extensions import TypedDict

from h123.analysis.case import Case
from h123.analysis.section import Section
from h123.measures import Attempt


class DiscardedRow(TypedDict):
    """The files that trials of one server wrote outside their folders."""

    server: str
    trials: int
    files: str
    """The paths from the first trial; the lab lists only a few if there are many."""


CODE = "files-discarded"
"""The code of the lab's warning."""


def discarded(attempts: Sequence[Attempt]) -> list[DiscardedRow]:
    """Return a row for each server whose trials wrote files outside their folders."""
    rows = dict[str, DiscardedRow]()
    for attempt in attempts:
        remarks = [warning["detail"] for warning in attempt.report.warnings if warning["code"] == CODE]
        if remarks:
            server = str(attempt.parameters["server"])
            files = ", ".join(remark.partition(": ")[2] for remark in remarks)
            row = rows.setdefault(server, {"server": server, "trials": 0, "files": files})
            row["trials"] += 1
    return list(rows.values())


class DiscardedPart(TypedDict):
    discarded: NotRequired[Sequence[DiscardedRow]]


def _compute(case: Case) -> DiscardedPart:
    return {"discarded": discarded(case.attempts)}


SECTION = Section(DiscardedPart, _compute)
