"""Computes the section of verdicts.json on how much the machines of a campaign differ, and which of them are left
out."""

from collections.abc import Sequence
from typing import NotRequired

from typing_extensions import TypedDict

from h123.analysis.case import Case
from h123.analysis.section import Section
from h123.analysis.selected_trials import MachineDifference, MachineSpread


class MachinesRow(TypedDict):
    """The machines of a campaign in which several machines ran trials in real time."""

    machines: int
    left_out: Sequence[str]
    """The machines whose blocks are left out of the analysis."""
    differences: Sequence[MachineDifference]
    spreads: Sequence[MachineSpread]
    """The spreads of the comparisons that answer the question. Empty if each machine ran one block."""


class MachinesPart(TypedDict):
    machines: NotRequired[MachinesRow]
    """Absent with a single machine, or if all trials use the virtual clock."""


def _compute(case: Case) -> MachinesPart:
    selection = case.selection
    if not selection.homes:
        return {}
    return {
        "machines": {
            "machines": len(set(selection.homes.values())),
            "left_out": selection.left_out,
            "differences": selection.differences,
            "spreads": selection.spreads,
        }
    }


SECTION = Section(MachinesPart, _compute)
