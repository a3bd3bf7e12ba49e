"""What a campaign's samples say: estimates, tests and audits; pure functions of the results' tables."""

from h123.analysis.analyse import analyse, decide_claims, measure_width
from h123.analysis.bounds import blocks_to_part, reliable
from h123.analysis.decisions import decide
from h123.analysis.families import headline
from h123.analysis.looks import next_look, plan_looks
from h123.analysis.remedy import Remedy
from h123.analysis.signedrank import CONFIDENCE
from h123.analysis.spreads import known_spreads

__all__ = [
    "CONFIDENCE",
    "Remedy",
    "analyse",
    "blocks_to_part",
    "decide",
    "decide_claims",
    "document",
    "foreseen",
    "headline",
    "known_spreads",
    "measure_width",
    "next_look",
    "plan_looks",
    "precision",
    "reliable",
    "width",
]
