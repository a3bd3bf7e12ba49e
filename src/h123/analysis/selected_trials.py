"""Which trials answers rest on, and which machines are the reason that others do not count."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from typing_extensions import TypedDict

from h123.analysis.trials import TrialSet


class MachineDifference(TypedDict):
    """A machine that differs from the others by more than the margin and chance."""

    machine: str
    by: Literal["ratio", "twin", "level"]
    """The kind of difference: its ratios, its A/A pairs (from 1), or its values, on which no ratio depends."""
    cell: Mapping[str, str]
    metric: str
    a: str
    b: str
    ratio: float
    """How many times as large as on the others; for a twin, the ratio itself."""
    p: float
    """Corrected for the number of tests."""
    left_out: bool
    """Whether its blocks are otherwise left out here."""


class MachineSpread(TypedDict):
    """How much the ratios of a comparison vary: standard deviations of their logarithms."""

    cell: Mapping[str, str]
    metric: str
    a: str
    b: str
    between: float
    """Between machines."""
    within: float
    """From block to block on one machine."""


@dataclass(frozen=True)
class Selection:
    """The trials that answers rest on, and why the others do not count."""

    trials: TrialSet
    differences: Sequence[MachineDifference] = ()
    spreads: Sequence[MachineSpread] = ()
    homes: Mapping[int, str] = field(default_factory=dict)
    """The machine of each block. Empty if there was one, or if none can differ (virtual clock)."""

    @property
    def left_out(self) -> list[str]:
        """The machines whose blocks do not count."""
        return [difference["machine"] for difference in self.differences if difference["left_out"]]
