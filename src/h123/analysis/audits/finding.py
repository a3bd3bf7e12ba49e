"""Defines the finding of an audit about one trial, and how audits are declared."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from typing_extensions import TypedDict

from h123.analysis.comparisons.comparison import PairedComparison
from h123.measures import Attempt
from h123.study import METRICS, Plan
from h123.study.metrics.quantity import RequestTime


class AuditRow(TypedDict):
    """A finding of an audit about a trial, or about the whole campaign if `trial` is null."""

    audit: str
    trial: str | None
    """The trial. Null for an audit of the campaign."""
    passed: bool
    value: float | None
    limit: float | None
    detail: str


class AuditCount(TypedDict):
    audit: str
    result: Literal["passed", "failed", "nothing to check"]
    """`nothing to check` does not count as passed."""
    checked: int
    """The number of checks made. An audit of trials makes one for each trial that it can check."""
    of: int | None
    """The number of all trials; null for an audit of the campaign."""
    failed: int
    meaning: str
    """What the audit shows if it passes."""
    failure: str | None
    """What happened, what it means, and what to do. Null unless a finding failed."""


ALL = frozenset(METRICS)
COLD = frozenset(
    name for name, metric in METRICS.items() if isinstance(metric.of, RequestTime) and metric.of.phase == "cold"
)
UNENCRYPTED = "none"
"""The TLS version recorded for connections without TLS."""


@dataclass(frozen=True)
class Finding:
    """The result of one check. `value` and `limit` are the numbers that it compared, if any; `detail` describes the
    result in words."""

    passed: bool
    value: float | None
    limit: float | None
    detail: str


Found = list[tuple[Attempt, Finding]]


@dataclass(frozen=True)
class Audit:
    """A plausibility check of one trial. `check` returns None if the audit does not apply to the trial."""

    name: str
    meaning: str
    """A description of the check in plain words."""
    failure: str
    """The meaning of a failure in plain words: a clause after `In 2 of 72 trials ` that says what happened, what it
    means, and what to do."""
    check: Callable[[Attempt], Finding | None]
    spoils: frozenset[str] = frozenset()
    """The metrics whose values are unreliable if the audit fails, so that no verdict may rest on them. If empty, a
    failure qualifies verdicts but does not prevent them."""
    remedy: str = ""
    """Advice for a failure, if it fits in a clause. Shown with each comparison that gets no verdict because of the
    failure."""

    def findings(self, attempts: Sequence[Attempt], _: Plan) -> Found:
        """Return the findings for the attempts to which the audit applies."""
        return [(attempt, finding) for attempt in attempts if (finding := self.check(attempt))]


@dataclass(frozen=True)
class PeerAudit:
    """A plausibility check that compares each trial with the others. The fields mean the same as in `Audit`."""

    name: str
    meaning: str
    failure: str
    findings: Callable[[Sequence[Attempt], Plan], Found]
    spoils: frozenset[str] = frozenset()
    remedy: str = ""


@dataclass(frozen=True)
class CampaignAudit:
    """A check of the campaign as a whole. It has no findings if it does not apply."""

    name: str
    meaning: str
    """A description of the check in plain words."""
    failure: str
    """The meaning of a failure in plain words: what happened, what it means, and what to do."""
    findings: Sequence[Finding]
    qualifies: Callable[[PairedComparison], bool] = lambda _: False
    """Returns whether a failure of the audit qualifies the verdict on a comparison."""


def at_most(value: float, limit: float, detail: str) -> Finding:
    return Finding(value <= limit, value, limit, detail)


def at_least(value: float, limit: float, detail: str) -> Finding:
    return Finding(value >= limit, value, limit, detail)


def none_of(count: int, detail: str) -> Finding:
    return at_most(count, 0, detail)
