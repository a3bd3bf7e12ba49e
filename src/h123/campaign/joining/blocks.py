"""Reads the blocks in a campaign's folder, each with its history and what remains to be done."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from h123.base.errors import UserError
from h123.base.paths import typed
from h123.documents.events import BlockMove, TrialEvent, superseded
from h123.execution.retry_policy import LiveAttempt, given_up, usable
from h123.store import CampaignFolder
from h123.study import Plan, PlannedTrial

History = Sequence[TrialEvent | BlockMove]
"""The journal's events for a block, oldest first."""


@dataclass(frozen=True)
class RunBlock:
    """A block of which a folder contains all or some trials."""

    number: int
    folder: CampaignFolder
    history: History
    trials: Sequence[PlannedTrial]

    @property
    def attempts(self) -> list[TrialEvent]:
        return [event for event in self.history if event["event"] == "trial"]

    def standing(self, trial: PlannedTrial) -> list[LiveAttempt]:
        """Return the attempts at a trial, leaving out those made on a machine that no longer runs the block."""
        mine = [event for event in self.attempts if event["trial"] == trial.id and not superseded(event)]
        return cast(list[LiveAttempt], mine)

    @property
    def done(self) -> int:
        """The number of trials that need no more work."""
        return sum(usable(past) or given_up(past) for past in map(self.standing, self.trials))

    @property
    def finished(self) -> bool:
        return self.done == len(self.trials)

    @property
    def virtual(self) -> bool:
        """Whether all trials of the block use the virtual clock, so that their results do not depend on the machine."""
        return all(trial.parameters.clock == "virtual" for trial in self.trials)

    def marks(self) -> list[tuple[object, ...]]:
        """Return keys for the events of the block. Two runs of the block have different keys; a copy of a run has the
        keys of the original."""
        return [_mark(event) for event in self.history]


def _mark(event: TrialEvent | BlockMove) -> tuple[object, ...]:
    if event["event"] == "trial":
        return event["trial"], event["attempt"], event.get("seal")
    return event["event"], event["place"], event["before"]


def run_blocks(folder: CampaignFolder, plan: Plan) -> dict[int, RunBlock]:
    """Return the blocks that have begun in the folder, by number. Raises UserError if the journal has a trial that is
    not in the plan."""
    trials = {block[0].block: block for block in plan.blocks}
    names = {trial.id for trial in plan.trials()}
    histories = dict[int, list[TrialEvent | BlockMove]]()
    replaced = _replaced(folder)
    for event in folder.events():
        if event["event"] == "trial" and (event["trial"], event["attempt"]) in replaced:
            continue
        if event["event"] == "trial" and event["trial"] not in names:
            raise UserError(f"the journal of {folder.path} has a trial that is not in its plan: {event['trial']}")
        if event["event"] in ("trial", "moved"):
            histories.setdefault(event["block"], []).append(event)
    return {number: RunBlock(number, folder, history, trials[number]) for number, history in sorted(histories.items())}


def _replaced(folder: CampaignFolder) -> set[tuple[str, int]]:
    """Return the attempts whose files are damaged, but which a later, undamaged attempt has replaced. Each is
    identified by its trial and number."""
    attempts = [event for event in folder.events() if event["event"] == "trial"]
    last = {event["trial"]: event for event in attempts if event["valid"]}
    earlier = [event for event in attempts if event["attempt"] < last.get(event["trial"], event)["attempt"]]
    whole = {trial for trial in {event["trial"] for event in earlier} if not folder.damage(last[trial])}
    return {(e["trial"], e["attempt"]) for e in earlier if e["trial"] in whole and folder.damage(e)}


def require_seals(folder: CampaignFolder) -> None:
    """Raise UserError if an attempt differs from its seal or has no seal. Attempts that a later, undamaged one has
    replaced do not matter."""
    folder.require_journal()
    folder.examine()
    replaced = _replaced(folder)
    for event in folder.events():
        if event["event"] != "trial" or (event["trial"], event["attempt"]) in replaced:
            continue
        fault = folder.damage(event) or (None if event.get("seal") else "it has no seal")
        if fault:
            raise UserError(
                f"{folder.attempt(event)} differs from what was measured: {fault}",
                remedy="copy the folder again from where it ran, or repeat just that trial and join again:\n"
                f"  h123 run --out {typed(folder.path)}",
                status=1,
            )
