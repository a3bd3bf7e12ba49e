"""A gate: whether a campaign's ratios are what somebody requires, for builds that must not get slower."""

from h123.gate.document import Gate
from h123.gate.files import write_gate
from h123.gate.passage import STATUS, Cell, Passage, judge, worst
from h123.gate.ratio import Ratio, ratios_between, ratios_of

__all__ = ["STATUS", "Cell", "Gate", "Passage", "Ratio", "judge", "ratios_between", "ratios_of", "worst", "write_gate"]
