"""The campaign's projection: what would decide its question."""

from typing_extensions import TypedDict

from h123.analysis.case import Case
from h123.analysis.comparisons.projection import Outlook, outlook
from h123.analysis.section import Section
from h123.analysis.statistics.pace import seconds_per_trial
from h123.analysis.verdicts.judgement import comparisons


class OutlookPart(TypedDict):
    projection: Outlook


def _compute(case: Case) -> OutlookPart:
    pace = seconds_per_trial(case.facts.events)
    found = outlook(comparisons(case), len(case.plan.blocks[0]), len(case.attempts), pace, case.rule.remedy)
    return {"projection": found}


SECTION = Section(OutlookPart, _compute)
