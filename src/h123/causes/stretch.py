"""A stretch of a trial's time behind a metric, such as a visit of a page, and what it was spent on."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from h123.causes.cause import NUMBER, UNATTRIBUTED

SUMS_UP = 0.02
"""How much the parts may differ from a time, as a share of it, and still count as adding up to it."""
_Any = TypeVar("_Any")


@dataclass(frozen=True)
class Stretch:
    """A stretch of time, and what it was spent on."""

    seconds: NDArray[np.float64]
    """Seconds of each cause, in the order of CAUSES."""
    head_of_line: float
    """Seconds of `detecting and repairing losses` in which data of others on the connection had arrived and was held
    back."""
    duration: float
    """Seconds, as its client measured it."""

    @property
    def sums_up(self) -> bool:
        """Whether the parts add up to it, within SUMS_UP."""
        (share,) = missed(self.seconds[np.newaxis], np.array([self.duration]))
        return bool(share <= SUMS_UP)


def missed(seconds: NDArray[np.float64], durations: NDArray[np.float64]) -> NDArray[np.float64]:
    """How far the parts, shape (times, causes), are from each time, as a share of it."""
    attributed = seconds.sum(axis=1) - seconds[:, NUMBER[UNATTRIBUTED]]
    shares: NDArray[np.float64] = np.abs(attributed - durations) / durations
    return shares


def middle(ordered: Sequence[_Any]) -> Sequence[_Any]:
    """The middle one in the order of their lengths, or both in the middle, whose mean length is the median of all."""
    return ordered[(len(ordered) - 1) // 2 : len(ordered) // 2 + 1]
