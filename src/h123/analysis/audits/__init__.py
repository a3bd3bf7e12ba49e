"""Audits every trial and the campaign: checks by physics and arithmetic whether the data is plausible."""

from collections.abc import Sequence
from typing import NamedTuple

from h123.analysis.audits import course, design, files, machine, order, peers, physics, requests, round_trips
from h123.analysis.audits.files import files_changed
from h123.analysis.audits.finding import Audit, AuditCount, AuditRow, CampaignAudit, Finding, PeerAudit
from h123.analysis.audits.order import of_order
from h123.analysis.case import Case, once
from h123.analysis.comparisons.rows import JudgedComparison
from h123.analysis.statistics.rule import Rule
from h123.analysis.trials import Treated, treated
from h123.measures import Attempt
from h123.study import Plan

AUDITS: list[Audit] = [*physics.AUDITS, *round_trips.AUDITS, *course.AUDITS, *requests.AUDITS, *machine.AUDITS]
"""The audits of single trials. To add one, add it to its module's list."""
_ALL: list[Audit | PeerAudit] = [*AUDITS, *peers.AUDITS]
SPOILS = {check.name: check.spoils for check in _ALL}
MEANINGS = {
    **{check.name: check.meaning for check in _ALL},
    **design.MEANINGS,
    **order.MEANINGS,
    **files.MEANINGS,
}
"""What a passed audit shows, by the audit's name."""
REMEDIES = {check.name: check.remedy for check in _ALL if check.remedy}
"""Short advice for a failure, by the audit's name. Audits without such advice are left out."""

__all__ = [
    "AUDITS",
    "MEANINGS",
    "REMEDIES",
    "SPOILS",
    "Failed",
    "TrialAudits",
    "audit_campaign",
    "audit_trials",
    "files_changed",
    "finding",
    "of_order",
    "order_audits",
    "trial_audits",
]


class Failed(NamedTuple):
    """A failed audit, and the trial that failed it."""

    audit: str
    trial: Treated


class TrialAudits(NamedTuple):
    """The `audits` and `audit_summary` parts of verdicts.json for single trials, and the failures among them."""

    rows: list[AuditRow]
    summary: list[AuditCount]
    failed: list[Failed]


def audit_trials(attempts: Sequence[Attempt], plan: Plan) -> TrialAudits:
    rows, summary, failures = list[AuditRow](), list[AuditCount](), list[Failed]()
    for check in _ALL:
        findings_of = check.findings(attempts, plan)
        rows += [_row(check.name, attempt.name, finding) for attempt, finding in findings_of]
        failed = [Failed(check.name, treated(attempt)) for attempt, finding in findings_of if not finding.passed]
        which = f"{len(findings_of)} {'trial' if len(findings_of) == 1 else 'trials'}"
        if len(findings_of) < len(attempts):
            which = f"the {which} that this audit can check ({len(attempts)} in all)"
        sentence = f"In {len(failed)} of {which} {check.failure}"
        findings = [finding for _, finding in findings_of]
        summary.append(_summary(check.name, check.meaning, sentence, findings, of=len(attempts)))
        failures += failed
    return TrialAudits(rows, summary, failures)


@once
def trial_audits(case: Case) -> TrialAudits:
    return audit_trials(case.attempts, case.plan)


@once
def order_audits(case: Case) -> list[CampaignAudit]:
    return of_order(case.attempts, case.plan)


def audit_campaign(
    attempts: Sequence[Attempt],
    comparisons: Sequence[JudgedComparison],
    more: Sequence[CampaignAudit] = (),
    *,
    plan: Plan,
    rule: Rule,
) -> tuple[list[AuditRow], list[AuditCount]]:
    """Run the audits of the campaign as a whole. In the rows of their findings, `trial` is null.

    `more`: findings of audits that ran before the comparisons were judged.
    """
    rows, summary = list[AuditRow](), list[AuditCount]()
    for whole in [*design.of_campaign(attempts, comparisons, plan=plan, rule=rule), *more]:
        rows += [_row(whole.name, None, finding) for finding in whole.findings]
        summary.append(_summary(whole.name, whole.meaning, whole.failure, whole.findings))
    return rows, summary


def _row(name: str, trial: str | None, finding: Finding) -> AuditRow:
    return {
        "audit": name,
        "trial": trial,
        "passed": finding.passed,
        "value": finding.value,
        "limit": finding.limit,
        "detail": finding.detail,
    }


def _summary(name: str, meaning: str, failure: str, findings: Sequence[Finding], of: int | None = None) -> AuditCount:
    """Summarise an audit. `failure` is included only if a finding failed; `of` is the number of trials."""
    failed = sum(not finding.passed for finding in findings)
    return {
        "audit": name,
        "result": "failed" if failed else "passed" if findings else "nothing to check",
        "checked": len(findings),
        "of": of,
        "failed": failed,
        "meaning": meaning,
        "failure": failure if failed else None,
    }
