"""Defines how strictly a study judges: its margin, and the part of alpha that the current look at its campaign may
spend."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from h123.analysis.statistics.families import blocks_needed
from h123.analysis.statistics.looks import Looks
from h123.analysis.statistics.remedy import Remedy


@dataclass(frozen=True)
class Rule:
    """The rule by which a campaign's comparisons are decided at its current look."""

    margin: float
    alpha: float
    """The significance level across all looks."""
    looks: Looks
    remedy: Remedy = field(default_factory=Remedy)
    """Advice on how to get more blocks, for notes."""
    homes: Mapping[int, str] = field(default_factory=dict)
    """The machine of each block, if no answer may rest on a single machine."""

    @property
    def level(self) -> float:
        """The significance level that an adjusted p must not exceed at the current look, with a tolerance for
        rounding."""
        return self.looks.level(self.alpha) * (1 + 1e-9)

    def blocks_needed(self, size: float, correction: str) -> int:
        """Return the number of blocks with which a p can be small enough for a verdict. Blocks beyond the plan are
        judged at the next look, whose significance level may be lower than the current one's."""
        needed = blocks_needed(size, correction, self.level)
        if needed <= self.looks.blocks[-1]:
            return needed
        return blocks_needed(size, correction, self.looks.next_level(self.alpha))

    @property
    def confidence(self) -> float:
        """The confidence of the intervals at this look."""
        return 1 - self.looks.level(self.alpha)
