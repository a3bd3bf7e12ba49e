"""How long it took until answers came again after the client had moved to another place (docs/contracts/network.md)."""

import math
from collections.abc import Sequence

import numpy as np

from h123.results.lab_report import Report
from h123.results.rows import Rows
from h123.results.trial_files import Link


def moves_of(link: Link, report: Report) -> list[int]:
    """When the client moved over the link during a trial, on the clock of its samples."""
    return [report.main_began_ns + move.at_ns for move in link.moves]


def recoveries_of(moves: Sequence[int], rows: Rows, statuses: Sequence[int]) -> list[float]:
    """Of each move during a trial with these samples, ns from it until the first whole answer after it; infinite where
    none came. None where the client never moved, or nobody knows when answers came."""
    ended = rows["end_ns"]
    if not moves or not (ended.known & rows["start_ns"].known).any():
        return []
    answers = np.sort(ended.of(rows.ok(statuses)))
    found = []
    for at in moves:
        after = answers[np.searchsorted(answers, at, side="right") :]
        found.append(float(after[0] - at) if len(after) else math.inf)
    return found
