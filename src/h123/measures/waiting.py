"""How long a trial's roles waited for a processor."""

from typing import NamedTuple

from h123.documents.lab_report import Report


class Waiting(NamedTuple):
    """Of the role whose ready threads waited longest, on average."""

    mean_ns: float
    role: str


def longest_waiting(report: Report) -> Waiting | None:
    """During the main role's run; None where the report does not tell."""
    cpus = [(role.cpu, role.name) for role in report.roles if role.cpu]
    waited = (Waiting((cpu.main_wait_ns or 0) / cpu.main_turns, name) for cpu, name in cpus if cpu.main_turns)
    return max(waited, default=None)
