"""Computes statistics that depend on no single machine: leaves out each machine in turn, and reports the widest
interval and the largest p.

If one machine is off by any amount, the p without that machine is valid, and the largest p is at least as large
(intersection-union test: Berger, Technometrics 24, 1982).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from h123.analysis.statistics.signedrank import IntervalEstimate

FEWEST_MACHINES = 3
"""The fewest machines with which one is left out. With two, only half of the blocks would remain."""


class Statistic(Protocol):
    """A statistic of paired differences."""

    def estimate(self, confidence: float) -> IntervalEstimate:
        """Return the estimated centre of the differences, with an interval."""

    def p(self) -> float:
        """Return the two-sided p value for the null hypothesis of no difference."""

    def p_equivalent(self, margin: float) -> float:
        """Return the p value for the null hypothesis of a difference beyond the margin."""


@dataclass(frozen=True)
class WithoutOne:
    """One statistic, computed from all blocks, and again with each machine's blocks left out in turn."""

    whole: Statistic
    parts: Sequence[Statistic]
    blocks: int
    """The smallest number of blocks that remain when one machine is left out."""

    def estimate(self, confidence: float) -> IntervalEstimate:
        """Return the centre of all blocks, with an interval that contains every interval computed without one of the
        machines."""
        estimates = [statistic.estimate(confidence) for statistic in (self.whole, *self.parts)]
        return IntervalEstimate(
            estimates[0].centre,
            min(estimate.low for estimate in estimates),
            max(estimate.high for estimate in estimates),
            min(estimate.confidence for estimate in estimates),
        )

    def p(self) -> float:
        """Return the largest p value for the null hypothesis of no difference, with all machines or without one of
        them."""
        return max(statistic.p() for statistic in (self.whole, *self.parts))

    def p_equivalent(self, margin: float) -> float:
        """Return the largest p value for the null hypothesis of a difference beyond the margin, with all machines or
        without one of them."""
        return max(statistic.p_equivalent(margin) for statistic in (self.whole, *self.parts))


def without_one(
    statistic: Callable[[Sequence[float]], Statistic], differences: Mapping[int, float], homes: Mapping[int, str]
) -> WithoutOne:
    """Return the statistic of all blocks, and of the blocks that remain without each machine in turn. `differences` has
    one value for each block; `homes` has each block's machine. With fewer than three machines, none is left out."""
    values = list(differences.values())
    machines = sorted({homes[block] for block in differences if block in homes})
    parts = [[d for block, d in differences.items() if homes.get(block) != name] for name in machines]
    if len(machines) < FEWEST_MACHINES:
        return WithoutOne(statistic(values), [], len(values))
    return WithoutOne(statistic(values), [statistic(part) for part in parts], min(map(len, parts)))
