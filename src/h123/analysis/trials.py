"""Loads the trials of a campaign: their valid attempts, and the trials that failed."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from h123.documents.events import Event, TrialEvent
from h123.documents.shapes import Reason
from h123.measures import Attempt, load_attempts
from h123.store import CampaignFolder
from h123.study import Plan, PlannedTrial

ANSWERS = frozenset({"wrong-protocol", "wrong-size"})
"""The reasons for attempts with responses that were not as requested."""
LOSSES = ANSWERS | {
    "server-exited",
    "server-not-ready",
    "client-failed",
    "client-timeout",
    "samples-missing",
    "samples-malformed",
}
"""Reasons for which an attempt counts as a failure of the server or client. Other reasons are due to the link, the
machine or the set-up, and say nothing about a treatment. A feature that a subject does not support is not a failure
either."""


class Treated(NamedTuple):
    """A treatment in a block. In imported samples, a block may contain several runs of one treatment."""

    block: int
    cell: tuple[tuple[str, str], ...]
    twin: bool


@dataclass(frozen=True)
class TrialSet:
    """The trials of a campaign, or of a part of it."""

    attempts: Sequence[Attempt]
    failed: frozenset[Treated] = frozenset()
    """The trials without a valid attempt whose last attempt failed because of its server or client. Each counts against
    its treatment."""


def treated(trial: Attempt | PlannedTrial) -> Treated:
    return Treated(trial.block, tuple(sorted(trial.cell.items())), trial.twin)


def load_trials(folder: CampaignFolder, plan: Plan) -> TrialSet:
    """Load all trials of the campaign. Raises UserError."""
    return TrialSet(load_attempts(folder), _failed(folder.events(), plan))


def _failed(events: Iterable[Event], plan: Plan) -> frozenset[Treated]:
    attempts: dict[str, list[TrialEvent]] = {}
    for event in events:
        if event["event"] == "trial":
            attempts.setdefault(event["trial"], []).append(event)
    return frozenset(treated(trial) for trial in plan.trials() if _has_failed(attempts.get(trial.id, [])))


def _has_failed(events: Sequence[TrialEvent]) -> bool:
    """Return whether no attempt is valid, and the last one failed because of the server or client."""
    if not events or any(event["valid"] for event in events):
        return False
    return loss(events[-1]) is not None


def loss(event: TrialEvent) -> Reason | None:
    """Return the first reason to blame the server or client for an invalid attempt. None if the attempt has no such
    reason."""
    if event["valid"] or event.get("disturbed"):
        return None
    return next((reason for reason in event["reasons"] if reason["code"] in LOSSES), None)
