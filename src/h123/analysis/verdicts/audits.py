"""Computes the section with the findings of audits, about trials and about the campaign as a whole."""

from collections.abc import Sequence

from typing_extensions import TypedDict

from h123.analysis.audits import audit_campaign, files_changed, order_audits, trial_audits
from h123.analysis.audits.finding import AuditCount, AuditRow
from h123.analysis.case import Case
from h123.analysis.section import Section
from h123.analysis.verdicts.judgement import comparisons


class AuditsPart(TypedDict):
    audits: Sequence[AuditRow]
    audit_summary: Sequence[AuditCount]


def _compute(case: Case) -> AuditsPart:
    of_trials, more = trial_audits(case), [*order_audits(case), files_changed(case)]
    rows, summary = audit_campaign(case.attempts, comparisons(case), more, plan=case.plan, rule=case.rule)
    return {"audits": of_trials.rows + rows, "audit_summary": of_trials.summary + summary}


SECTION = Section(AuditsPart, _compute)
