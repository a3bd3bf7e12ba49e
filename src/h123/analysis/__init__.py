"""What a campaign's samples say: estimates, tests and audits; pure functions of the results' tables."""

from h123.analysis.analyse import analyse, decide_claims, measure_width
from h123.analysis.decisions import decide
from h123.analysis.looks import next_look, plan_looks

__all__ = ["analyse", "decide", "decide_claims", "measure_width", "next_look", "plan_looks"]
