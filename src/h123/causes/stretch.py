"""Describes a period of a trial that a metric measures, such as a visit to a page, and what its time was spent on."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from h123.causes.cause import NUMBER, UNATTRIBUTED

SUMS_UP = 0.02
"""The share of the measured time by which the sum of the attributed parts may differ from it if they are said to add
up."""
_Any = TypeVar("_Any")


@dataclass(frozen=True)
class Stretch:
    """A period of a trial, divided into the causes that its time was spent on."""

    seconds: NDArray[np.float64]
    """The seconds of each cause, in the order of CAUSES."""
    head_of_line: float
    """The estimated seconds during which data that had already arrived waited for repairs of other requests' losses on
    the connection."""
    duration: float
    """The duration in seconds, as the client measured it."""

    @property
    def sums_up(self) -> bool:
        """Whether the sum of the attributed parts differs from the duration by at most the share SUMS_UP."""
        (share,) = missed(self.seconds[np.newaxis], np.array([self.duration]))
        return bool(share <= SUMS_UP)


def missed(seconds: NDArray[np.float64], durations: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how much the sum of the attributed parts differs from each duration, as a share of the duration. `seconds`
    has the shape (durations, causes)."""
    attributed = seconds.sum(axis=1) - seconds[:, NUMBER[UNATTRIBUTED]]
    shares: NDArray[np.float64] = np.abs(attributed - durations) / durations
    return shares


def middle(ordered: Sequence[_Any]) -> Sequence[_Any]:
    """Return the middle element of a sequence that is ordered by duration, or the two in the middle, whose mean
    duration is the median."""
    return ordered[(len(ordered) - 1) // 2 : len(ordered) // 2 + 1]
