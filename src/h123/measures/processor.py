"""Divides a trial's processor time into two parts: opening the connections, and the requests after that.

The lab samples the usage of each role at increasing intervals (docs/contracts/trial.md). Between two samples, usage is
assumed to grow evenly. The time that a role takes to start, before the first request, is in neither part.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from h123.documents.lab_report import Report
from h123.measures.summary import Summary

TICKS_MEASURABLE_NS, SHARES_MEASURABLE_NS = 100_000_000, 500_000_000
"""The machine's processor time is counted in ticks of 10 ms. If a run is shorter than the first value (ns), its usage
is unknown. If it is shorter than the second, its utilisation is unreliable, partly because the run has not reached its
usual pace."""
_LOOKS = 8
"""The smallest number of samples within a part. With fewer, the part's usage is not known precisely enough."""


@dataclass(frozen=True)
class Usage:
    """The processor time that several roles have used in total, in ns, at increasing times."""

    at_ns: NDArray[np.int64]
    used_ns: NDArray[np.float64]

    @classmethod
    def of(cls, report: Report, roles: Sequence[str]) -> "Usage | None":
        """Return the usage of these roles, or None if the report lacks that of one of them."""
        usages = [role.cpu for role in report.roles if role.name in roles and role.cpu]
        courses = [np.array(cpu.main_over_time, np.int64).reshape(-1, 2) for cpu in usages]
        if len(courses) < len(roles) or not all(map(len, courses)):
            return None
        at = np.unique(np.concatenate([course[:, 0] for course in courses]))
        total = sum(np.interp(at, course[:, 0], course[:, 1]) for course in courses)
        return cls(at, np.asarray(total, np.float64))

    def between(self, begin_ns: int, end_ns: int) -> float | None:
        """Return the processor time used in a part of the trial, in ns. None if the lab took too few samples in that
        part."""
        if np.count_nonzero((self.at_ns > begin_ns) & (self.at_ns < end_ns)) < _LOOKS:
            return None
        begin, end = np.interp([begin_ns, end_ns], self.at_ns, self.used_ns)
        return float(end - begin)


def of_request(summary: Summary, report: Report, roles: Sequence[str]) -> float | None:
    """Return the processor time per request once all connections are open, in ns."""
    usage = Usage.of(report, roles)
    if usage is None or summary.open_ns is None or summary.warm_end_ns is None or not summary.once_open:
        return None
    time = usage.between(summary.open_ns, summary.warm_end_ns)
    return time / summary.once_open if time else None


def of_handshake(summary: Summary, report: Report, roles: Sequence[str]) -> float | None:
    """Return the mean processor time of opening a connection, in ns: the time used until the last connection was open,
    minus the time of the requests in that period, divided by the number of connections. None if unknown."""
    each, usage = of_request(summary, report, roles), Usage.of(report, roles)
    if each is None or usage is None or summary.start_ns is None or summary.open_ns is None or not summary.handshakes:
        return None
    time = usage.between(summary.start_ns, summary.open_ns)
    if time is None:
        return None
    beyond = time - each * (summary.rows - (summary.once_open or 0))
    return beyond / summary.handshakes if beyond > 0 else None


class Waiting(NamedTuple):
    """The role whose threads waited longest for a processor, on average."""

    mean_ns: float
    role: str


def longest_waiting(report: Report) -> Waiting | None:
    """Return the role whose threads waited longest for a processor, on average, while the main role ran. None if the
    report has no such times."""
    cpus = [(role.cpu, role.name) for role in report.roles if role.cpu]
    waited = (Waiting((cpu.main_wait_ns or 0) / cpu.main_turns, name) for cpu, name in cpus if cpu.main_turns)
    return max(waited, default=None)
