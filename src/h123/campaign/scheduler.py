"""Schedules a campaign: decides which machine gets which blocks, and handles the attempts that come back."""

import time
from collections.abc import Callable, Sequence
from typing import cast

from h123.base.errors import UserError
from h123.base.paths import typed
from h123.campaign.block_assignment import Assignee, BlockAssignment
from h123.campaign.campaign import Campaign
from h123.campaign.interim import Interim
from h123.campaign.second_runs import SecondRuns
from h123.catalogue import OwnSubject, fingerprint
from h123.documents import read_document
from h123.documents.events import supersede
from h123.documents.lab_report import Report
from h123.execution import (
    AttemptDone,
    BlockDone,
    BlockOrder,
    Machine,
    MachineJoined,
    MachineLost,
    Notice,
    OrderRefused,
    Pool,
    PoolEvent,
    Started,
    folder_digest,
    retry_policy,
)
from h123.execution.jobs import Forecast
from h123.execution.order import PastAttempt, Policy, history
from h123.execution.retry_policy import (
    HOPELESS_AFTER,
    LiveAttempt,
    disturbed,
    forgive,
    given_up,
    settled,
    tolerated,
)
from h123.measures import EndedTrial
from h123.progress import Display, Standing
from h123.store import CampaignFolder
from h123.study import PlannedTrial

Attempts = dict[str, list[LiveAttempt]]
"""The journal's events for each planned trial, oldest first."""


class Hopeless(UserError):
    """The error that stops a campaign because too many trials in a row failed. The results so far remain valid."""


class Scheduler:
    """A scheduler that runs all blocks, each on one machine, and adds to `attempts` as trials end."""

    def __init__(
        self,
        campaign: Campaign,
        pool: Pool,
        display: Display,
        machines: Sequence[Machine],
        attempts: Attempts,
        assignee_of: Callable[[Machine], Assignee | None],
    ) -> None:
        """Prepare the campaign's machines. `assignee_of` prepares one machine, and returns None if it lacks what the
        campaign needs."""
        self._assignee_of = assignee_of
        self._campaign, self._pool, self._display = campaign, pool, display
        self._attempts = attempts
        self._planned = {trial.id: trial for trial in campaign.plan.trials()}
        self._blocks = {block[0].block: block for block in campaign.plan.blocks}
        self._forecast = Forecast({trial: cost.seconds for trial, cost in campaign.plan.estimates().items()})
        self._interim = Interim(campaign)
        self._ended: EndedTrial | None = None
        assignees = [assignee for machine in machines if (assignee := assignee_of(machine))]
        self._assignment = BlockAssignment(campaign.plan.blocks, assignees, attempts, grows=pool.grows)
        self._second_runs = SecondRuns(campaign, attempts)
        self._last_loss: MachineLost | None = None
        """The loss that left the campaign without a machine. None if a machine is left."""
        self._orders = 0
        self._given_up_in_a_row = 0
        self._began = time.monotonic()
        self._repeating_s: float | None = None
        """Seconds left for repeating disturbed trials. None while other trials remain to run."""

    def run(self) -> None:
        """Run the unsettled trials, and then the disturbed ones again. Return when nothing is running any more."""
        self._assign_all()
        while self._busy() or (self._last_loss and self._assignment.waiting):
            events = self._pool.events()
            if self._last_loss and not events:
                raise UserError(self._last_loss.why, self._last_loss.remedy, status=3)
            for event in events:
                self._take(event)

    def _busy(self) -> bool:
        return any(assignee.order is not None for assignee in self._assignment.assignees)

    def _take(self, event: PoolEvent) -> None:
        if isinstance(event, MachineJoined):
            self._join(event.joined)
            return
        assignee = next(a for a in self._assignment.assignees if a.machine.name == event.machine)
        match event:
            case Started() if assignee.second_run:
                self._display.say(f"{event.trial} runs again on {event.machine}, for comparison", self._standing())
            case AttemptDone() if assignee.second_run:
                self._second_runs.take(event, self._pool)
            case Started():
                assignee.begin(event.name, self._planned[event.trial])
                self._repeating_s = event.repeating_s
                self._display.show(self._standing())
            case Notice():
                self._display.say(event.text, self._standing())
            case AttemptDone():
                self._end(event, assignee)
            case BlockDone():
                assignee.rest()
                self._assign_all()
            case MachineLost():
                self._assignment.lose(event)
                if not self._assignment.assignees:
                    self._last_loss = event
                    return
                self._display.say(f"{event.machine} has failed: {event.why}", self._standing())
                self._assign_all()
            case OrderRefused():
                raise event.error()

    def _join(self, machine: Machine) -> None:
        if (assignee := self._assignee_of(machine)) is None:
            return
        self._last_loss = None
        self._campaign.folder.append({"event": "joined", "places": {machine.name: machine.facts}})
        self._assignment.join(assignee)
        self._display.say(f"{machine.name} has joined", self._standing())
        self._assign_all()

    def _assign_all(self) -> None:
        for assignee in self._assignment.assignees:
            if assignee.order is None:
                self._assign(assignee)

    def _assign(self, assignee: Assignee) -> None:
        numbers, moved = self._assignment.assign(assignee)
        blocks = [self._blocks[number] for number in numbers]
        for event in moved:
            self._campaign.folder.append(event)
            earlier = [attempt for t in blocks[numbers.index(event["block"])] for attempt in self._attempts[t.id]]
            supersede(earlier, event)
            forgive(earlier)
            self._display.say(
                f"block {event['block']} runs again on {event['place']}: {event['why']}", self._standing()
            )
        if blocks:
            assignee.waiting = [t for t in assignee.jobs.order(blocks) if not settled(self._attempts[t.id])]
            past = {trial.id: history(self._attempts[trial.id]) for block in blocks for trial in block}
            self._submit(assignee, blocks, past)
        elif trial := self._second_runs.trial_for(assignee.machine.name):
            assignee.second_run = True
            self._submit(assignee, [self._second_runs.block(trial)], self._second_runs.history(trial))

    def _submit(self, assignee: Assignee, blocks: list[list[PlannedTrial]], past: dict[str, list[PastAttempt]]) -> None:
        self._orders += 1
        assignee.order = self._orders
        order, uploads = self._order(assignee, blocks, past), self._campaign.folder.uploads
        self._pool.submit(assignee.machine, order, dict.fromkeys(order.roots, uploads))

    def _order(
        self, assignee: Assignee, blocks: list[list[PlannedTrial]], past: dict[str, list[PastAttempt]]
    ) -> BlockOrder:
        folder, study, subjects = self._campaign.folder, self._campaign.plan.study, self._campaign.subjects.values()
        compare = study.compare
        return BlockOrder(
            number=self._orders,
            seed=folder.seed,
            blocks=blocks,
            history=past,
            networks={name: network.resolved() for name, network in study.networks.items()},
            servers=dict(study.servers),
            subjects={s.name: fingerprint(s) for s in subjects if not isinstance(s, OwnSubject)},
            roots={"uploads": folder_digest(folder.uploads)} if folder.uploads.is_dir() else {},
            policy=Policy(
                jobs=assignee.jobs.most,
                headroom=assignee.jobs.headroom.model_copy(deep=True),
                compared=compare.factor,
                tolerated=tolerated(compare.margin),
                question=list(compare.families[0].metrics),
                metrics=sorted({metric for family in compare.families for metric in family.metrics}),
                retries=retry_policy.RETRIES,
                patience=retry_policy.PATIENCE,
            ),
        )

    def _end(self, attempt: AttemptDone, assignee: Assignee) -> None:
        """Handle an attempt that has ended. Move it into the campaign, check it against its seal, and record it in the
        journal."""
        folder, event = self._campaign.folder, cast(LiveAttempt, attempt.facts)
        trial, history = self._planned[event["trial"]], self._attempts[event["trial"]]
        sealed = folder.take_in(self._pool.archive(attempt), event, attempt.seal)
        folder.append(event)
        history.append(event)
        report = read_document(sealed / "report.json", Report)
        assignee.running.pop(attempt.name, None)
        assignee.jobs.learn(event, report)
        self._forecast.learn(trial, event["seconds"] or 0.0)
        self._ended = EndedTrial(sealed, report, event["parameters"])
        self._interim.learn(event, self._ended)
        self._count(trial, event)
        if not settled(history):
            assignee.waiting.insert(0, trial)
        self._display.end(event, self._standing())

    def _count(self, trial: PlannedTrial, event: LiveAttempt) -> None:
        if event["valid"]:
            self._given_up_in_a_row = 0
        elif given_up(self._attempts[trial.id]) and not event["disturbed"]:
            self._given_up_in_a_row += 1
            _stop_if_hopeless(self._given_up_in_a_row, event, self._campaign.folder)

    def _repeats_s(self, remaining: Sequence[PlannedTrial]) -> float:
        """Return how many seconds it may take to repeat the trials that have been disturbed so far, not counting those
        that are already running or waiting. The policy for repeats limits this time."""
        most = self._repeating_s
        if most is None:
            most = retry_policy.PATIENCE.repeating_s(time.monotonic() - self._began)
        at_it = {trial.id for trial in remaining}
        return min(most, sum(self._forecast.seconds(t) for t in self._disturbed() if t.id not in at_it))

    def _disturbed(self) -> list[PlannedTrial]:
        """Return the disturbed trials that must be repeated. Trials whose machine is gone are not repeated."""
        trials = [trial for trial in self._campaign.plan.trials() if disturbed(self._attempts[trial.id])]
        return [trial for trial in trials if self._assignment.home(trial.block)]

    def _standing(self) -> Standing:
        assignees, unassigned = self._assignment.assignees, self._assignment.unassigned
        remaining = [trial for assignee in assignees for trial in assignee.remaining] + unassigned
        total, blocks = len(self._campaign.plan.trials()), len(self._campaign.plan.blocks)
        spans = [assignee.jobs.span(assignee.remaining, self._forecast.seconds) for assignee in assignees]
        return Standing(
            running=[name for assignee in assignees for name in assignee.running],
            done=total - len(remaining),
            total=total,
            left_s=max(spans)
            + assignees[0].jobs.span(unassigned, self._forecast.seconds) / len(assignees)
            + self._repeats_s(remaining),
            blocks_done=blocks - len({trial.block for trial in remaining}),
            blocks=blocks,
            so_far=self._interim.estimates(),
            ended=self._ended,
        )


def _stop_if_hopeless(given_up_in_a_row: int, event: LiveAttempt, folder: CampaignFolder) -> None:
    if given_up_in_a_row < HOPELESS_AFTER:
        return
    reason, logs = event["reasons"][0], folder.trial(event["trial"], event["attempt"]) / "logs"
    raise Hopeless(
        f"{HOPELESS_AFTER} trials in a row failed all their attempts, so the campaign stops. "
        f"The last one ({event['trial']}): {reason['code']}: {reason['detail']}",
        remedy=f"read the logs in {logs}, fix the cause, then try again: h123 run --out {typed(folder.path)} --retry",
        status=1,
    )


def untried(trials: Sequence[PlannedTrial], attempts: Attempts) -> list[PlannedTrial]:
    """Return the trials that a run would start, not counting repeats of disturbed ones."""
    return [trial for trial in trials if not settled(attempts[trial.id])]
