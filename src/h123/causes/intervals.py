"""Describes a sender's time as a sequence of moments, with the cause that begins at each one."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from h123.causes.cause import CAUSES, NUMBER, UNATTRIBUTED, Cause, Nanoseconds
from h123.causes.spans import Times

Numbers = NDArray[np.int8]
"""Indices of causes in CAUSES."""


@dataclass(frozen=True)
class Course:
    """The causes of a sender's time in chronological order. There is no cause before the first edge or after the last
    one."""

    edges: Times
    """The times in ns at which causes begin or end, in ascending order. There is one more than there are causes."""
    numbers: Numbers

    @classmethod
    def cut(cls, edges: Times, tell: Callable[[Times], Numbers]) -> Self:
        """Build a course. `edges` are all times at which a cause may begin or end. `tell` gets a moment between each
        edge and the next, and returns the number of the cause at each moment."""
        moments = np.unique(edges)
        return cls(moments, tell(moments[:-1] + (moments[1:] - moments[:-1]) // 2))

    @cached_property
    def _sums(self) -> NDArray[np.int64]:
        """The ns that each cause took up to each edge, as an array of shape (causes, edges)."""
        sums = np.zeros((len(CAUSES), len(self.edges)), np.int64)
        lengths = np.diff(self.edges)
        sums[self.numbers, np.arange(1, len(self.edges))] = lengths
        return np.cumsum(sums, axis=1)

    def between(self, begin: int, end: int) -> Nanoseconds:
        """Return how many ns each cause took between two times. Time before the first edge or after the last one is
        unattributed."""
        durations = np.zeros(len(CAUSES))
        if end <= begin:
            return durations
        if len(self.edges) > 1:
            durations = self._until(end) - self._until(begin)
        durations[NUMBER[UNATTRIBUTED]] += (end - begin) - durations.sum()
        return durations

    def last(self, cause: Cause, begin: int, end: int) -> int:
        """Return the end of the cause's last span between two times, or `begin` if there is no such span."""
        first, after = np.searchsorted(self.edges, [begin, end])
        places = np.flatnonzero(self.numbers[max(int(first) - 1, 0) : int(after)] == NUMBER[cause])
        if not len(places):
            return begin
        return min(max(int(self.edges[max(int(first) - 1, 0) + int(places[-1]) + 1]), begin), end)

    def causes_at(self, moments: Times) -> Numbers:
        """Return the number of the cause at each moment. It is UNATTRIBUTED's before the first edge and after the
        last."""
        place = np.searchsorted(self.edges, moments, side="right")
        none = numbers(UNATTRIBUTED, 1)
        return np.concatenate([none, self.numbers, none])[np.minimum(place, len(self.numbers) + 1)]

    def _until(self, time: int) -> Nanoseconds:
        place = int(np.searchsorted(self.edges, time, side="right")) - 1
        if place < 0:
            return np.zeros(len(CAUSES))
        sums = self._sums[:, place].astype(float)
        if place < len(self.numbers):
            sums[self.numbers[place]] += time - self.edges[place]
        return sums


def numbers(cause: Cause, count: int) -> Numbers:
    """Return an array that contains the number of one cause `count` times."""
    return np.full(count, NUMBER[cause], np.int8)
