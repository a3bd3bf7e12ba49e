"""Divides a series into equal consecutive spans of time, because a figure has a limited number of pixels."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from h123.causes import Times

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Series:
    """A series of values, each with its time. nan means that there is no value."""

    times: Times
    values: Numbers


@dataclass(frozen=True)
class Bins:
    """Consecutive spans of time of equal length. All times are in ns."""

    begin: int
    width: int
    count: int

    @classmethod
    def covering(cls, begin: int, end: int, most: int) -> Self:
        """Return at most `most` bins that cover the time from `begin` to `end`. Their width is 1, 2 or 5 times a power
        of ten."""
        least = max((end - begin) // most + 1, 1)
        power = 10 ** (len(str(least)) - 1)
        width = next(step * power for step in (1, 2, 5, 10) if step * power >= least)
        return cls(begin, width, (end - begin) // width + 1)

    @property
    def begins(self) -> Times:
        return self.begin + self.width * np.arange(self.count, dtype=np.int64)

    def sums(self, times: ArrayLike, amounts: ArrayLike) -> Numbers:
        """Return the sum of the amounts in each bin, ignoring amounts outside all bins."""
        places, inside = self._places(times)
        return np.bincount(places[inside], np.asarray(amounts, float)[inside], self.count).astype(float)

    def counts(self, times: ArrayLike) -> Times:
        """Return how many of the times fall into each bin."""
        places, inside = self._places(times)
        return np.bincount(places[inside], minlength=self.count).astype(np.int64)

    def medians(self, times: ArrayLike, values: ArrayLike) -> Numbers:
        """Return the median of the values in each bin; nan for a bin without values."""
        return self._each(times, values, lambda group: float(np.median(group)))

    def largest(self, times: ArrayLike, values: ArrayLike) -> Numbers:
        """Return the largest of the values in each bin; nan for a bin without values."""
        return self._each(times, values, lambda group: float(group.max()))

    def highest(self, times: ArrayLike, changes: ArrayLike) -> Numbers:
        """Return the highest level in each bin. The level begins at 0 and changes by the given amounts at the given
        times. The times may be unsorted, and changes at the same time are combined."""
        when, inverse = np.unique(np.asarray(times, np.int64), return_inverse=True)
        levels = np.cumsum(np.bincount(inverse, np.asarray(changes, float), len(when)))
        before = np.searchsorted(when, self.begins, side="right")
        maxima = np.concatenate([[0.0], levels])[before]
        places, inside = self._places(when)
        np.maximum.at(maxima, places[inside], levels[inside])
        return maxima

    def _each(self, times: ArrayLike, values: ArrayLike, of: Callable[[Numbers], float]) -> Numbers:
        places, inside = self._places(times)
        order = np.argsort(places[inside], kind="stable")
        sorted_values, sorted_places = np.asarray(values, float)[inside][order], places[inside][order]
        results = np.full(self.count, np.nan)
        firsts = np.flatnonzero(np.diff(sorted_places, prepend=-1))
        for first, last in pairwise(np.append(firsts, len(sorted_values))):
            results[sorted_places[first]] = of(sorted_values[first:last])
        return results

    def _places(self, times: ArrayLike) -> tuple[Times, NDArray[np.bool_]]:
        places = (np.asarray(times, np.int64) - self.begin) // self.width
        return places, (places >= 0) & (places < self.count)
