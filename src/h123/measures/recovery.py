"""Measures the time until responses resumed after the client's address had changed, or UDP had been blocked
(docs/contracts/network.md)."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from h123.documents.lab_report import Report
from h123.documents.trial_files import Link
from h123.store.rows import Rows


class Break(NamedTuple):
    """A time, on the clock of a trial's samples, after which connections may be cut off."""

    at: int
    lets_in: bool
    """Whether packets already on the link still arrive. If so, only responses to later requests show a recovery."""


def moves_of(link: Link, report: Report) -> list[int]:
    """Return when the client's address or port changed during a trial, on the clock of the trial's samples."""
    return [report.main_began_ns + move.at_ns for move in link.moves]


def breaks_of(link: Link, report: Report) -> list[Break]:
    """Return the times in a trial at which the client's address or port changed, or the link began to block UDP."""
    changes = [change for way in (link.up, link.down) if way for change in way.changes or []]
    stopped = {report.main_began_ns + change.at_ns for change in changes if change.udp in ("drop", "reject")}
    moved = {*moves_of(link, report)}
    return [Break(at, at not in moved) for at in sorted(moved | stopped)]


def recoveries_of(breaks: Sequence[Break], rows: Rows, statuses: Sequence[int]) -> list[float]:
    """Return, for each break during a trial with these samples, the time in ns until the first complete response after
    it; infinite if there was none. Empty if there is no break, or if the times of requests are unknown."""
    ends, started, ok = rows["end_ns"], rows["start_ns"], rows.ok(statuses) & rows["start_ns"].valid
    if not breaks or not (ends.valid & started.valid).any():
        return []
    recoveries = []
    for path_break in breaks:
        after = ends.of(
            ok & (ends.values > path_break.at) & ((started.values >= path_break.at) | (not path_break.lets_in))
        )
        recoveries.append(float(after.min() - path_break.at) if len(after) else math.inf)
    return recoveries
