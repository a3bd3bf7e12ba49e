"""Checks a campaign's figures against the conditions of a gate, for example that a new build is not slower."""

from h123.gate.document import Gate
from h123.gate.figure import GateFigure, GateFigures, spoiled, unpaired_figures
from h123.gate.files import GATE_FILES, gate_document, write_gate
from h123.gate.outcome import STATUS, ConditionOutcome, gate_row, judge, worst

__all__ = [
    "GATE_FILES",
    "STATUS",
    "ConditionOutcome",
    "Gate",
    "GateFigure",
    "GateFigures",
    "gate_document",
    "gate_row",
    "judge",
    "spoiled",
    "unpaired_figures",
    "worst",
    "write_gate",
]
