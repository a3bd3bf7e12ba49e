"""Analyses a campaign's samples: estimates, tests and audits. All of them are pure functions of the result tables."""

from typing import TYPE_CHECKING

from h123.base.late_loading import load_late

if TYPE_CHECKING:
    from h123.analysis.analyse import analyse, decide_claims, measure_width, record_gate
    from h123.analysis.bounds import blocks_to_part, blocks_to_part_value, reliable
    from h123.analysis.case import Case
    from h123.analysis.claims.decisions import decide
    from h123.analysis.comparisons.answers import answers_words
    from h123.analysis.comparisons.failed_attempts import failed_of, failed_words, fails_often, never_succeeds
    from h123.analysis.comparisons.rows import headline
    from h123.analysis.explanations.bottlenecks import Bottlenecks, bottlenecks
    from h123.analysis.explanations.causes import explained_phase
    from h123.analysis.explanations.changes import leading_changes
    from h123.analysis.gathering import gather
    from h123.analysis.provenance.looks import next_look, undecided_answers
    from h123.analysis.sections import read_verdicts
    from h123.analysis.statistics.confidence import meaningful, no_interval
    from h123.analysis.statistics.looks import earlier_looks, plan_looks
    from h123.analysis.statistics.remedy import Remedy
    from h123.analysis.statistics.signedrank import CONFIDENCE, ratio_of
    from h123.analysis.statistics.spreads import known_spreads
    from h123.analysis.verdicts.conditions import Level, condition_levels, condition_ratios
    from h123.analysis.verdicts.margin import p_beyond
    from h123.analysis.verdicts.treatments import Treatment, TreatmentMetric, by_pairing, treatments

__all__ = [
    "CONFIDENCE",
    "Bottlenecks",
    "Case",
    "Level",
    "Remedy",
    "Treatment",
    "TreatmentMetric",
    "analyse",
    "answers_words",
    "as_published",
    "audits",
    "blocks_to_part",
    "blocks_to_part_value",
    "bottlenecks",
    "by_pairing",
    "claims",
    "comparisons",
    "condition_levels",
    "condition_ratios",
    "decide",
    "decide_claims",
    "earlier_looks",
    "explained_phase",
    "explanations",
    "failed_of",
    "failed_words",
    "fails_often",
    "gather",
    "headline",
    "known_spreads",
    "leading_changes",
    "machines",
    "meaningful",
    "measure_width",
    "never_succeeds",
    "next_look",
    "no_interval",
    "p_beyond",
    "plan_looks",
    "provenance",
    "ratio_of",
    "read_verdicts",
    "record_gate",
    "reliable",
    "results",
    "section",
    "sections",
    "selected_trials",
    "statistics",
    "treatments",
    "undecided_answers",
    "verdicts",
]

load_late(__name__)
