"""What a campaign's samples say: estimates, tests and audits; pure functions of the results' tables."""

from h123.analysis.analyse import analyse, decide_claims, measure_width, record_gate
from h123.analysis.answers import answers_words
from h123.analysis.asked import Level, levels_asked, ratios_asked
from h123.analysis.bounds import blocks_to_part, blocks_to_part_value, reliable
from h123.analysis.case import Case, gather
from h123.analysis.causes import explained_phase
from h123.analysis.decisions import decide
from h123.analysis.document import read_verdicts
from h123.analysis.failed_attempts import failing_treatments, fails_often
from h123.analysis.families import headline
from h123.analysis.limited import Limited, limited
from h123.analysis.looks import next_look, plan_looks
from h123.analysis.remedy import Remedy
from h123.analysis.signedrank import CONFIDENCE, ratio_of
from h123.analysis.spreads import known_spreads
from h123.analysis.treatments import Measured, Treatment, by_pairing, treatments

__all__ = [
    "CONFIDENCE",
    "Case",
    "Level",
    "Limited",
    "Measured",
    "Remedy",
    "Treatment",
    "analyse",
    "answers_words",
    "blocks_to_part",
    "blocks_to_part_value",
    "by_pairing",
    "decide",
    "decide_claims",
    "document",
    "explained_phase",
    "failing_treatments",
    "fails_often",
    "foreseen",
    "gather",
    "headline",
    "known_spreads",
    "levels_asked",
    "limited",
    "measure_width",
    "next_look",
    "plan_looks",
    "precision",
    "ratio_of",
    "ratios_asked",
    "read_verdicts",
    "record_gate",
    "reliable",
    "treatments",
    "width",
]
