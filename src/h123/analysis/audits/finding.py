"""The finding of an audit about one trial, and the declaration of audits."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from typing_extensions import TypedDict

from h123.analysis.comparisons.comparison import PairedComparison
from h123.measures import Attempt
from h123.study import METRICS, Plan
from h123.study.metrics.quantity import RequestTime


class AuditRow(TypedDict):
    """An audit's finding about a trial, or about the whole campaign if no trial is named."""

    audit: str
    trial: str | None
    """Null for an audit of the campaign."""
    passed: bool
    value: float | None
    limit: float | None
    detail: str


class AuditCount(TypedDict):
    audit: str
    result: Literal["passed", "failed", "nothing to check"]
    """`nothing to check` is not passed."""
    checked: int
    """Trials that had something to check."""
    of: int | None
    """All trials; null for an audit of the campaign."""
    failed: int
    meaning: str
    """The statement that is true if the audit passes."""
    failure: str | None
    """An explanation of what happened, what it means, and what to do. Null unless one failed."""


ALL = frozenset(METRICS)
COLD = frozenset(
    name for name, metric in METRICS.items() if isinstance(metric.of, RequestTime) and metric.of.phase == "cold"
)
UNENCRYPTED = "none"
"""The TLS version recorded for connections without TLS."""


@dataclass(frozen=True)
class Finding:
    """A finding compares `value` with `limit`; `detail` describes the result in words."""

    passed: bool
    value: float | None
    limit: float | None
    detail: str


Found = list[tuple[Attempt, Finding]]


@dataclass(frozen=True)
class Audit:
    """A plausibility check of one trial. `check` answers None if it does not apply."""

    name: str
    meaning: str
    """A description of the check, for people."""
    failure: str
    """What a failure means, for people: a clause after `In 2 of 72 trials ` that says what happened, what that means,
    and what to do."""
    check: Callable[[Attempt], Finding | None]
    spoils: frozenset[str] = frozenset()
    """Metrics whose values are unreliable if the audit fails, so that no verdict may rest on them. None: the audit is
    about load or chance, which qualifies a verdict but does not forbid it."""
    remedy: str = ""
    """Advice, if it fits in a clause. It appears in the sentence of each comparison that is not judged for this
    reason."""

    def findings(self, attempts: Sequence[Attempt], _: Plan) -> Found:
        """Its findings about the attempts that it applies to."""
        return [(attempt, finding) for attempt in attempts if (finding := self.check(attempt))]


@dataclass(frozen=True)
class PeerAudit:
    """A plausibility check of each trial against the others; otherwise as `Audit`."""

    name: str
    meaning: str
    failure: str
    findings: Callable[[Sequence[Attempt], Plan], Found]
    spoils: frozenset[str] = frozenset()
    remedy: str = ""


@dataclass(frozen=True)
class CampaignAudit:
    """A check of the campaign as a whole; no findings if it does not apply."""

    name: str
    meaning: str
    """A description of the check, for people."""
    failure: str
    """What a failure means, for people: what happened, what that means, what to do."""
    findings: Sequence[Finding]
    qualifies: Callable[[PairedComparison], bool] = lambda _: False
    """Which comparisons mention it if it failed."""


def at_most(value: float, limit: float, detail: str) -> Finding:
    """Passed if value <= limit."""
    return Finding(value <= limit, value, limit, detail)


def at_least(value: float, limit: float, detail: str) -> Finding:
    """Passed if value >= limit."""
    return Finding(value >= limit, value, limit, detail)


def none_of(count: int, detail: str) -> Finding:
    """Passed if count is 0."""
    return at_most(count, 0, detail)
