"""Compares two campaigns from different days or machines, treatment by treatment. Their values are not paired, and the
output says so."""

from h123.diff.difference import differ
from h123.diff.document import Diff, DiffRow
from h123.diff.unpaired import CONFIDENCE, FEWEST, blocks_to_part, interval

__all__ = ["CONFIDENCE", "FEWEST", "Diff", "DiffRow", "blocks_to_part", "differ", "interval"]
