"""Determines how busy a role kept its processor, from the lab's samples of processor time."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from h123.documents.lab_report import Report

_BUSY = 0.5
"""If a role computes or waits for a processor for at least this share of a span, the whole span counts as its
processing."""


@dataclass(frozen=True)
class Work:
    times: Sequence[int]
    """Times of the samples in ns, ascending."""
    usage: Sequence[float]
    """Processor time up to each sample in ns, including an estimate of the time that the role's threads waited for a
    processor."""

    def fills(self, begin: int, end: int) -> bool:
        """Return whether the role computed or waited for a processor for at least half of the time from `begin` to
        `end`, judged by the nearest samples."""
        if len(self.times) < 2 or end <= begin:
            return False
        low = max(int(np.searchsorted(self.times, begin, side="right")) - 1, 0)
        high = min(int(np.searchsorted(self.times, end)), len(self.times) - 1)
        if high <= low:
            return False
        return self.usage[high] - self.usage[low] >= _BUSY * (self.times[high] - self.times[low])


def work(report: Report, name: str) -> Work:
    """Return the processor time of a role over time. Empty if the report has no samples of the role."""
    cpu = next((role.cpu for role in report.roles if role.name == name and role.cpu), None)
    if cpu is None or not cpu.main_over_time:
        return Work([], [])
    waits = 1 + (cpu.main_wait_ns or 0) / max(cpu.main_ns, 1)
    return Work([at for at, _ in cpu.main_over_time], [time * waits for _, time in cpu.main_over_time])
