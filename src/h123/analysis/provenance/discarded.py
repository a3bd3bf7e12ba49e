"""What servers and clients wrote outside the folders that they may write to, which went with the lab."""

from collections.abc import Sequence

from h123.analysis.document import DiscardedRow
from h123.measures import Attempt

CODE = "files-discarded"
"""Of the lab's remark."""


def discarded(attempts: Sequence[Attempt]) -> list[DiscardedRow]:
    """A row for each server in whose trials something was written."""
    rows = dict[str, DiscardedRow]()
    for attempt in attempts:
        remarks = [warning["detail"] for warning in attempt.report.warnings if warning["code"] == CODE]
        if remarks:
            server = str(attempt.parameters["server"])
            files = ", ".join(remark.partition(": ")[2] for remark in remarks)
            row = rows.setdefault(server, {"server": server, "trials": 0, "files": files})
            row["trials"] += 1
    return list(rows.values())
