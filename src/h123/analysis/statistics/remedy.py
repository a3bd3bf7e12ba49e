"""Advises what to do if a campaign has too little data for a verdict: run more blocks, or the missing trials."""

from collections.abc import Container, Iterable
from dataclasses import dataclass

from h123.documents.events import Event, TrialEvent
from h123.study import Plan


@dataclass(frozen=True)
class Remedy:
    """A campaign's progress through its plan, and the step that would lead to a verdict. The default values describe a
    campaign without a plan."""

    blocks: int = 0
    failed: int = 0
    """The number of trials that have only invalid attempts, but for which another attempt may be valid."""
    waiting: int = 0
    """The number of trials that have not run."""
    damaged: int = 0
    """The number of measured trials whose files have since changed or gone missing, or that are missing from the
    journal."""
    imported: bool = False
    shard: bool = False
    """Whether other folders contain the rest of the campaign."""

    def enough(self, needed: int, have: int) -> str | None:
        """Return advice on how to get from `have` to `needed` blocks with values, or None if no step is known to help.

        The advised number of blocks is always larger than the planned number: `--blocks 6` adds nothing to a campaign
        of 6 blocks.
        """
        if self.imported:
            return f"measure and import {needed} blocks"
        if needed > self.blocks:
            return f"run `--blocks {needed}`"
        if missing := self.trials():
            return missing
        # All trials are valid, but some have no value of the metric.
        return f"run `--blocks {self.blocks + needed - have}`" if have else None

    def trials(self) -> str | None:
        """Return advice on how to get the missing trials. None if no trials are missing, or if nothing can help."""
        if self.imported or not self.failed + self.waiting + self.damaged:
            return None
        if self.damaged:
            return f"{_have(self.damaged)} damaged or missing files: `h123 run --out DIR` repeats them"
        if self.failed:
            return f"{_have(self.failed)} no valid attempt: `h123 run --out DIR --retry` tries them again"
        if self.shard:
            return f"{_have(self.waiting)} not been run in this shard: `h123 join` adds those of the others"
        return f"{_have(self.waiting)} not been run: `h123 run --out DIR` runs them"


def remedy(
    plan: Plan, events: Iterable[Event], *, imported: bool, shard: bool = False, damaged: Container[str] = ()
) -> Remedy:
    """Return how to obtain the trials or blocks that a campaign with this plan and journal lacks. `damaged`: trials
    that are missing from `events` because their files are damaged."""
    if imported:
        return Remedy(len(plan.blocks), imported=True)
    by_trial: dict[str, list[TrialEvent]] = {trial.id: [] for trial in plan.trials()}
    for event in events:
        if event["event"] == "trial" and event["trial"] in by_trial:
            by_trial[event["trial"]].append(event)
    lacking = {trial: tried for trial, tried in by_trial.items() if not any(event["valid"] for event in tried)}
    lost = {trial for trial in lacking if trial in damaged}
    failed = [tried for trial, tried in lacking.items() if tried and trial not in lost]
    waiting = sum(not tried and trial not in lost for trial, tried in lacking.items())
    hopeful = sum(not _unsupported(tried[-1]) for tried in failed)
    return Remedy(len(plan.blocks), hopeful, waiting, len(lost), shard=shard)


def _unsupported(attempt: TrialEvent) -> bool:
    return any(reason["code"] == "unsupported" for reason in attempt["reasons"])


def _have(trials: int) -> str:
    return "1 trial has" if trials == 1 else f"{trials} trials have"
