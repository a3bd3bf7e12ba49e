"""Represents spans of time as two sorted arrays, of their beginnings and of their ends. Spans do not overlap."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from h123.causes.cause import Cause

Times = NDArray[np.int64]


@dataclass(frozen=True)
class Spans:
    """Spans in ascending order, which do not touch each other."""

    begins: Times
    ends: Times

    @classmethod
    def union(cls, begins: ArrayLike, ends: ArrayLike) -> Self:
        """Return the union of the spans from `begins` to `ends`. The given spans may overlap and have any order. Empty
        spans are left out."""
        first, last = np.asarray(begins, np.int64), np.asarray(ends, np.int64)
        positive = last > first
        order = np.argsort(first[positive], kind="stable")
        first, last = first[positive][order], np.maximum.accumulate(last[positive][order])
        if not len(first):
            return cls(first, last)
        apart = first[1:] > last[:-1]
        return cls(first[np.r_[True, apart]], last[np.r_[apart, True]])

    def hold(self, times: Times) -> NDArray[np.bool_]:
        """Return, for each time, whether one of the spans contains it."""
        place = np.searchsorted(self.begins, times, side="right") - 1
        return (place >= 0) & (times < self.ends[place]) if len(self.begins) else np.zeros(len(times), bool)

    def with_(self, other: Self) -> Self:
        """Return all times that are in either set of spans."""
        begins, ends = np.concatenate([self.begins, other.begins]), np.concatenate([self.ends, other.ends])
        return type(self).union(begins, ends)

    def without(self, other: Self) -> Self:
        edges = np.unique(np.concatenate([self.edges, other.edges]))
        moments = edges[:-1] + np.diff(edges) // 2
        remaining = self.hold(moments) & ~other.hold(moments)
        return type(self).union(edges[:-1][remaining], edges[1:][remaining])

    @property
    def edges(self) -> Times:
        """All beginnings and ends, unsorted."""
        return np.concatenate([self.begins, self.ends])


Limits = Sequence[tuple[Cause, Spans]]
"""Causes, each with the spans of time during which it limited a sender."""
