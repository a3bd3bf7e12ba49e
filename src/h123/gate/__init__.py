"""A gate: whether a campaign's figures are beyond what somebody allows, for builds that must not get slower."""

from h123.gate.condition import Condition, read_condition
from h123.gate.files import figures, place, write_gate
from h123.gate.passage import STATUS, Passage, judge, worst

__all__ = ["STATUS", "Condition", "Passage", "figures", "judge", "place", "read_condition", "worst", "write_gate"]
