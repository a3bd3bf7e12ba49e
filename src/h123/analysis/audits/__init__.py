"""Audits: plausibility checks of every trial and of the campaign, against physics and arithmetic."""

from collections.abc import Sequence
from typing import Any

from h123.analysis.audits import design, machine, physics, requests
from h123.analysis.audits.finding import Audit, Finding
from h123.results import Attempt

AUDITS: list[Audit] = [*physics.AUDITS, *requests.AUDITS, *machine.AUDITS]
"""Those of a trial. Another one is added to its module's list."""

_Rows = list[dict[str, Any]]


def audit(attempts: Sequence[Attempt], comparisons: _Rows, *, compared: str, alpha: float) -> tuple[_Rows, _Rows]:
    """The `audits` and the `audit_summary` of verdicts.json. The campaign's own findings have no trial (null)."""
    rows, summary = [], []
    for check in AUDITS:
        found = [(attempt.name, check.check(attempt)) for attempt in attempts]
        rows += [_row(check.name, trial, finding) for trial, finding in found if finding]
        summary.append(_summary(check.name, check.meaning, [finding for _, finding in found if finding]))
    campaign: dict[str, list[Finding | None]] = {
        design.ORDER_UNRECORDED: [design.order_unrecorded(attempts)],
        design.ORDER_CONFOUNDED: [design.order_confounded(attempts, compared)],
        design.BLOCKS_TOO_FEW: [*design.blocks_too_few(comparisons, alpha)],
    }
    for name, findings in campaign.items():
        known = [finding for finding in findings if finding]
        rows += [_row(name, None, finding) for finding in known]
        summary.append(_summary(name, design.MEANINGS[name], known))
    return rows, summary


def _row(name: str, trial: str | None, finding: Finding) -> dict[str, Any]:
    return {"audit": name, "trial": trial, **vars(finding)}


def _summary(name: str, meaning: str, findings: Sequence[Finding]) -> dict[str, Any]:
    failed = sum(not finding.passed for finding in findings)
    return {"audit": name, "checked": len(findings), "failed": failed, "meaning": meaning}
