"""A statistic of differences that does not rest on one machine: each machine is left out in turn, and the widest
interval and the largest p count.

Where one machine is off by whatever, the p without it is valid, and the largest is no smaller (intersection-union test:
Berger, Technometrics 24, 1982).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from h123.analysis.statistics.signedrank import IntervalEstimate

FEWEST_MACHINES = 3
"""Without one of two machines, half of the blocks would be left."""


class Statistic(Protocol):
    """A statistic of paired differences."""

    def estimate(self, confidence: float) -> IntervalEstimate:
        """The centre with its interval."""

    def p(self) -> float:
        """Two-sided p against no difference."""

    def p_equivalent(self, margin: float) -> float:
        """p against a difference beyond the margin."""


@dataclass(frozen=True)
class WithoutOne:
    """A statistic of all blocks, and the same without each machine."""

    whole: Statistic
    parts: Sequence[Statistic]
    blocks: int
    """The number of blocks in the smallest part."""

    def estimate(self, confidence: float) -> IntervalEstimate:
        """The centre of all blocks, and an interval that contains all others."""
        estimates = [statistic.estimate(confidence) for statistic in (self.whole, *self.parts)]
        return IntervalEstimate(
            estimates[0].centre,
            min(estimate.low for estimate in estimates),
            max(estimate.high for estimate in estimates),
            min(estimate.confidence for estimate in estimates),
        )

    def p(self) -> float:
        """The largest p."""
        return max(statistic.p() for statistic in (self.whole, *self.parts))

    def p_equivalent(self, margin: float) -> float:
        """The largest p for equivalence."""
        return max(statistic.p_equivalent(margin) for statistic in (self.whole, *self.parts))


def without_one(
    statistic: Callable[[Sequence[float]], Statistic], differences: Mapping[int, float], homes: Mapping[int, str]
) -> WithoutOne:
    """`differences` by block; `homes`: the machine of each block. With fewer than three machines, none is left out."""
    values = list(differences.values())
    machines = sorted({homes[block] for block in differences if block in homes})
    parts = [[d for block, d in differences.items() if homes.get(block) != name] for name in machines]
    if len(machines) < FEWEST_MACHINES:
        return WithoutOne(statistic(values), [], len(values))
    return WithoutOne(statistic(values), [statistic(part) for part in parts], min(map(len, parts)))
