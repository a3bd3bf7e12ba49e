"""Defines the trials that are analysed, and the machines whose trials are left out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from typing_extensions import TypedDict

from h123.analysis.trials import TrialSet


class MachineDifference(TypedDict):
    """A machine that differs from the others by more than the margin and by more than chance allows."""

    machine: str
    by: Literal["ratio", "twin", "level"]
    """What differs: the machine's ratios; its A/A pairs, whose ratio should be 1; or only its values, which leaves
    ratios unchanged."""
    cell: Mapping[str, str]
    metric: str
    a: str
    b: str
    ratio: float
    """The machine's ratio divided by that of the other machines; for an A/A pair, the ratio itself."""
    p: float
    """The p value, corrected for the number of tests."""
    left_out: bool
    """Whether the blocks of this machine are left out."""


class MachineSpread(TypedDict):
    """The variation of a comparison's ratios, as standard deviations of their logarithms."""

    cell: Mapping[str, str]
    metric: str
    a: str
    b: str
    between: float
    """The standard deviation between machines."""
    within: float
    """The standard deviation from block to block on one machine."""


@dataclass(frozen=True)
class Selection:
    """The trials that answers are computed from, and why others are left out."""

    trials: TrialSet
    differences: Sequence[MachineDifference] = ()
    spreads: Sequence[MachineSpread] = ()
    homes: Mapping[int, str] = field(default_factory=dict)
    """The machine of each block. Empty with a single machine, or if machines cannot differ (virtual clock)."""

    @property
    def left_out(self) -> list[str]:
        return [difference["machine"] for difference in self.differences if difference["left_out"]]
