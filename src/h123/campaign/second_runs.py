"""Handles second runs. For each machine that runs virtual trials, another machine executes one of its trials again. The
second run must give the same files, byte for byte.

If one campaign runs on several machines, h123 compares the two runs as soon as the second one ends. If a campaign runs
in shards, each shard executes one trial of another shard, and `h123 join` compares the runs.
"""

import random
import shutil
from collections.abc import Iterable, Mapping, Sequence

from h123.base.errors import UserError
from h123.campaign.campaign import Campaign
from h123.campaign.sameness import Execution, counted, differences, executed, measured_files, unlike
from h123.documents.events import AttemptFacts, SecondRun
from h123.execution import AttemptDone, Pool
from h123.execution.order import PastAttempt
from h123.execution.retry_policy import LiveAttempt
from h123.store import CampaignFolder, seal
from h123.study import PlannedTrial, make_plan


class SecondRuns:
    """The trials of a campaign that another machine executes again, and the comparison of the results."""

    def __init__(self, campaign: Campaign, attempts: Mapping[str, Sequence[LiveAttempt]]) -> None:
        self._campaign, self._attempts = campaign, attempts
        plan = campaign.plan
        self._trials = {trial.id: trial for trial in plan.trials()}
        self._blocks = {block[0].block: block for block in plan.blocks}
        done = [event for event in campaign.folder.events() if event["event"] == "second-run"]
        self._compared = {home for event in done if (home := self._home(event["trial"]))}
        """Machines with a trial that another machine executes, or has executed."""
        self._foreign = None if done or not campaign.folder.shard else self._of_another_shard()

    def trial_for(self, machine: str) -> PlannedTrial | None:
        """Return the trial that this idle machine must execute for comparison, or None."""
        if self._foreign:
            chosen, self._foreign = self._foreign, None
            return chosen
        finished: dict[str, list[str]] = {}
        for name, trial in self._trials.items():
            home = self._home(name)
            if home not in (None, machine) and home not in self._compared and trial.parameters.clock == "virtual":
                finished.setdefault(home or "", []).append(name)
        if not finished:
            return None
        home = min(finished)
        self._compared.add(home)
        return self._trials[self._random(home).choice(finished[home])]

    def block(self, trial: PlannedTrial) -> list[PlannedTrial]:
        """Return the whole block of a trial, because the trial's place in the block decides how it runs."""
        return self._blocks[trial.block]

    def history(self, trial: PlannedTrial) -> dict[str, list[PastAttempt]]:
        """Return a history in which all other trials of the block have already run, so that only this trial runs."""
        past = {
            other.id: PastAttempt(trial=other.id, attempt=1, block=other.block, position=0, valid=True, reasons=[])
            for other in self.block(trial)
            if other.id != trial.id
        }
        return {name: [attempt] for name, attempt in past.items()}

    def take(self, attempt: AttemptDone, pool: Pool) -> None:
        """Record a second run that has ended, if it is valid, and delete its files. Raises UserError if they differ
        from those of the first run."""
        facts, folder = attempt.facts, pool.archive(attempt)
        fault = seal.broken(folder, attempt.seal)
        files = measured_files(folder) if not fault else {}
        shutil.rmtree(folder)
        if fault or not facts["valid"]:
            return
        event: SecondRun = {
            "event": "second-run",
            "trial": facts["trial"],
            "place": attempt.machine,
            "files": files,
        }
        require_same(self._campaign.folder, event, self._campaign.folder, self._attempts.get(facts["trial"], []))
        self._campaign.folder.append(event)

    def _home(self, trial: str) -> str | None:
        """Return the machine of a trial's first attempt, or None if that attempt does not count. Later attempts check
        the links first, so they are not the same byte for byte."""
        event = counted(self._attempts.get(trial, []))
        return event.get("place") if event and event["attempt"] == 1 else None

    def _of_another_shard(self) -> PlannedTrial | None:
        """Return a trial of another shard, from the next block after this shard's first block that is not in this
        shard."""
        plan, folder = self._campaign.plan, self._campaign.folder
        whole = make_plan(plan.study, blocks=plan.planned, seed=plan.seed, level_filter=plan.level_filter)
        first = min(self._blocks)
        others = [block for block in whole.blocks if block[0].block not in self._blocks]
        others.sort(key=lambda block: (block[0].block < first, block[0].block))
        virtual = [trial for trial in (others[0] if others else []) if trial.parameters.clock == "virtual"]
        if not virtual:
            return None
        self._blocks[others[0][0].block] = others[0]
        return self._random(folder.shard.text if folder.shard else "").choice(virtual)

    def _random(self, purpose: str) -> random.Random:
        return random.Random(f"{self._campaign.folder.seed} second run {purpose}")


def require_same(
    theirs: CampaignFolder, event: SecondRun, mine: CampaignFolder, attempts: Iterable[AttemptFacts]
) -> bool:
    """Check a second run in `theirs` against the first run, which is an attempt in `mine`. Return False if `mine` has
    no such attempt. Raises UserError if the two runs differ."""
    first = counted(attempts)
    if first is None or first["attempt"] != 1:
        return False
    one = executed(mine, first)
    if fault := differences(one.files, event["files"]):
        raise _unlike(event["trial"], fault, one, Execution(theirs, event["place"], event["files"]))
    return True


def _unlike(trial: str, fault: str, *runs: Execution) -> UserError:
    return unlike("a trial", trial, fault, runs)
