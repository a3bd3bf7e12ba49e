"""Computes facts about all requests of an attempt together: how many were in progress at once, the longest time in
which none ended, and how many rows repeat another one. Only warm requests are included, with those that the client
abandons."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from h123.store.rows import Rows
from h123.study.workload import LEAVING

_MOST = 0.99
"""The quantile of the number of requests in flight (the lower value if it falls between two ranks). The maximum would
include a user too many if a client records a start some microseconds early."""
_SHORTER = 0.02
"""The fraction by which requests are assumed to be shorter, because clients may record a start slightly early."""
_SHARP_NS = 100_000
"""The shortest tick of a clock, in ns, with which different requests can have equal times."""
_SOME = (50, 1000)
"""How many rows to examine: first the smaller number, which almost always suffices, and then the larger one."""
_WINDOW, _DIFFERENT = 12, 8
"""A series of this many consecutive rows, with at least this many different values, does not occur twice by chance.
Series with fewer different values prove nothing."""
_ENOUGH = 20
"""The smallest number of different values for which a common divisor of their counts is no coincidence."""

Times = NDArray[np.int64]


@dataclass(frozen=True)
class Timeline:
    """The facts about one attempt. A fact is None if it cannot be known, for example if requests have only a
    duration."""

    in_flight: int | None = None
    """The number of requests in progress at the same time: the 99th percentile over the moments at which requests
    began."""
    still_ns: int | None = None
    """The longest time in which no request ended."""
    pace_ns: float | None = None
    """The median time between the ends of successive requests."""
    gap_ns: int | None = None
    """The longest time in which no request began."""
    repeats: int | None = None
    """The number of rows that repeat another request's row."""
    sums: tuple[int, ...] | None = None
    """Sums that distinguish the attempt's durations from those of other attempts. None if there are too few different
    values."""


def timeline(rows: Rows, *, timed: bool) -> Timeline:
    """Return the timeline of an attempt's rows. `timed` says whether the starts of the requests are known."""
    starts, ends, user = rows["start_ns"], rows["end_ns"], rows["user"]
    valid = (rows.phase("warm") | rows.phase(LEAVING)) & starts.valid & ends.valid
    if not valid.any():
        return Timeline()
    waited = rows["first_byte_ns"] - starts
    marks = np.where(user.valid, user.values, np.where(waited.valid, waited.values, -1))
    return course(starts.values[valid], ends.values[valid], marks[valid], timed=timed)


def course(starts: Times, ends: Times, marks: Times, *, timed: bool) -> Timeline:
    """Return the timeline of requests, given in the order of their rows. Two requests with the same times repeat each
    other only if their `marks` are equal too. A mark is the user or, if users are unknown, the time to the first
    byte."""
    durations = ends - starts
    sums = _sums(durations)
    tick = _tick(starts, durations)
    sharp = timed and tick < _SHARP_NS
    sorted_starts = np.sort(starts)
    repeats = _repeated_rows(sorted_starts, starts, ends, marks) if sharp else _repeated_series(durations, marks)
    if not timed:
        return Timeline(repeats=repeats, sums=sums)
    sorted_ends = np.sort(ends)
    pauses = np.diff(sorted_ends, prepend=sorted_starts[0])
    gap = int(np.diff(sorted_starts).max()) if len(sorted_starts) > 1 else None
    flying = _in_flight(sorted_starts, np.sort(ends - (_SHORTER * durations).astype(np.int64) - 2 * tick))
    return Timeline(flying, int(pauses.max()), float(np.median(pauses)), gap, repeats, sums)


def _in_flight(starts: Times, ends: Times) -> int:
    """Return the number of requests in progress, from sorted times: the quantile `_MOST`, over all starts, of the
    number begun minus the number ended."""
    flying = np.arange(1, len(starts) + 1) - np.searchsorted(ends, starts, side="right")
    rank = int((len(flying) - 1) * _MOST)
    return int(np.partition(flying, rank)[rank])


def _tick(starts: Times, durations: Times) -> int:
    """Return the resolution of the clock: the largest number that divides all durations and all distances between
    starts. The first rows usually show it, so at most a thousand are read."""
    for some in _SOME:
        tick = max(1, int(np.gcd.reduce(starts[:some] - starts[0])), int(np.gcd.reduce(durations[:some])))
        if tick == 1:
            break
    return tick


def _sums(durations: Times) -> tuple[int, ...] | None:
    """Return the number of durations and their power sums modulo 2^64, which do not depend on the order of the rows."""
    if all(len(set(durations[:some].tolist())) < _ENOUGH for some in _SOME):
        return None
    unsigned = durations.astype(np.uint64)
    powers = (unsigned, unsigned * unsigned, unsigned * unsigned * unsigned)
    return (len(durations), *(int(np.sum(power, dtype=np.uint64)) for power in powers))


def _repeated_rows(sorted_starts: Times, starts: Times, ends: Times, marks: Times) -> int:
    """Count the rows with the start, end and mark of another row."""
    twice = sorted_starts[1:][sorted_starts[1:] == sorted_starts[:-1]]
    if not len(twice):
        return 0
    suspects = twice[np.searchsorted(twice, starts).clip(max=len(twice) - 1)] == starts
    rows = list(zip(*(column[suspects].tolist() for column in (starts, ends, marks)), strict=True))
    return len(rows) - len(set(rows))


def _repeated_series(durations: Times, marks: Times) -> int | None:
    """Count the rows in series of `_WINDOW` rows that repeat an earlier series. If the counts of all values have a
    common divisor, the whole file was repeated that often; then count the surplus rows instead."""
    _, values, counts = np.unique(np.stack([durations, marks], axis=1), axis=0, return_inverse=True, return_counts=True)
    often = int(np.gcd.reduce(counts))
    if often > 1 and len(counts) >= _ENOUGH:
        return len(values) - len(values) // often
    if len(values) < 2 * _WINDOW:
        return None
    windows = np.lib.stride_tricks.sliding_window_view(values.ravel(), _WINDOW)
    ordered = np.sort(windows, axis=1)
    telling = windows[(np.diff(ordered, axis=1) > 0).sum(axis=1) + 1 >= _DIFFERENT]
    if not len(telling):
        return None
    again = len(telling) - len(np.unique(telling, axis=0))
    return again + _WINDOW - 1 if again else 0
