"""The course of a campaign: which trial starts when, what becomes of it, and whether it is tried again."""

import shutil
import time
from collections.abc import Sequence
from pathlib import Path

from h123.base.errors import UserError
from h123.base.files.tree import drop_specials
from h123.base.paths import typed
from h123.base.units import format_span
from h123.campaign.block_assignment import BlockAssignment
from h123.campaign.campaign import Campaign
from h123.campaign.forecast import Forecast
from h123.campaign.interim import Interim
from h123.documents import read_document
from h123.documents.events import Judged, supersede, superseded
from h123.documents.lab_report import Report
from h123.documents.trial_files import Trial
from h123.execution import Engine, MachineLost, require_room, trial_certificate, write_trial_files
from h123.execution.machine_queue import MachineQueue, Running
from h123.execution.retry_policy import (
    HOPELESS_AFTER,
    PAUSE_S,
    Event,
    Patience,
    calm_enough,
    disturbed,
    forgive,
    given_up,
    settled,
    tolerated,
    usable,
)
from h123.measures import disturbance, machine_noise, ruined
from h123.packets import tabulate_evidence
from h123.progress import Display, Standing
from h123.store import CampaignFolder, ingest
from h123.study import PlannedTrial

Attempts = dict[str, list[Event]]
"""The journal's events of each planned trial, oldest first."""


class Scheduler:
    """Runs all blocks, each whole on one machine; appends to `attempts` as trials end."""

    def __init__(
        self, campaign: Campaign, engine: Engine, display: Display, queues: Sequence[MachineQueue], attempts: Attempts
    ) -> None:
        self._campaign, self._engine, self._display = campaign, engine, display
        self._attempts = attempts
        asked = campaign.plan.study.compare
        self._metrics = {metric for family in asked.families for metric in family.metrics}
        self._asked = set(asked.families[0].metrics)
        self._tolerated = tolerated(asked.margin)
        self._forecast = Forecast({trial: cost.seconds for trial, cost in campaign.plan.estimates().items()})
        self._interim = Interim(campaign)
        self._late_s: float | None = None
        self._assignment = BlockAssignment(campaign.plan.blocks, queues, attempts)
        self._given_up_in_a_row = 0
        self._began = time.monotonic()
        self._repeating_s: float | None = None
        """What is left for repeating disturbed trials; None: all else comes first."""

    def run(self) -> None:
        """Run what is not settled, then what was disturbed; nothing runs any more when this returns."""
        self._run_waiting()
        self._repeat_disturbed(self._patience())

    def _run_waiting(self) -> None:
        while self._assignment.unassigned or any(queue.left for queue in self._assignment.queues):
            try:
                self._start_all()
                folder = self._engine.wait()
            except MachineLost as lost:
                self._lose(lost)
                continue
            queue = next(queue for queue in self._assignment.queues if folder in queue.running)
            event, trial = self._end(folder, queue)
            if not settled(self._attempts[trial.id]):
                # Next, as whatever is wrong may be wrong with all.
                queue.waiting.appendleft(trial)
            self._display.end(event, self._standing())

    def _start_all(self) -> None:
        """Whatever may start, on each machine."""
        for queue in self._assignment.queues:
            if not queue.waiting:
                self._assign(queue)
            while queue.waiting and queue.may_start(queue.waiting[0], repeat=bool(self._tried(queue.waiting[0]))):
                self._start(queue.waiting.popleft(), queue)

    def _assign(self, queue: MachineQueue) -> None:
        trials, moved = self._assignment.assign(queue)
        for event in moved:
            self._campaign.folder.append(event)
            again = [tried for trial in trials if trial.block == event["block"] for tried in self._attempts[trial.id]]
            supersede(again, event)
            forgive(again)
            self._display.say(
                f"block {event['block']} is done again in {event['place']}: {event['why']}", self._standing()
            )
        queue.waiting.extend(trials)

    def _lose(self, lost: MachineLost) -> None:
        """What is not finished there goes to other machines; the campaign stops where none is left."""
        for folder in self._assignment.lose(lost).running:
            shutil.rmtree(folder)
        self._display.say(f"{lost.machine.name} has failed: {lost.message}", self._standing())

    def _repeat_disturbed(self, patience: Patience) -> None:
        """Those without any attempt that counts first, and whatever the machine does; the others while it is calm."""
        self._repeating_s, waiting_s = patience.repeating_s, patience.waiting_s
        while pending := self._disturbed():
            trial, queue = min(pending, key=lambda found: usable(self._attempts[found[0].id]))
            tried = self._attempts[trial.id]
            needed, seconds = not usable(tried), self._forecast.seconds(trial)
            if not needed and seconds > self._repeating_s:
                return
            try:
                noise = self._engine.noise(queue.machine)
            except MachineLost as lost:
                self._lose(lost)
                self._run_waiting()
                continue
            if not calm_enough(noise, tried, self._tolerated):
                if waiting_s > 0:
                    longest = format_span(patience.waiting_s)
                    said = f"{len(pending)} disturbed trials wait for a calmer machine, for {longest} at most"
                    self._display.say(said, self._standing())
                    time.sleep(PAUSE_S)
                    waiting_s -= PAUSE_S
                    continue
                if not needed:
                    return
            self._repeating_s -= 0 if needed else seconds
            queue.waiting.append(trial)
            self._run_waiting()

    def _patience(self) -> Patience:
        return Patience.after(time.monotonic() - self._began)

    def _repeats_s(self, left: Sequence[PlannedTrial]) -> float:
        """What repeating the disturbed trials so far may take, beside those that are at it; the machine may be too busy
        for it."""
        most = self._patience().repeating_s if self._repeating_s is None else self._repeating_s
        at_it = {trial.id for trial in left}
        return min(most, sum(self._forecast.seconds(t) for t, _ in self._disturbed() if t.id not in at_it))

    def _disturbed(self) -> list[tuple[PlannedTrial, MachineQueue]]:
        """To be repeated, and where; a machine that has gone leaves its trials as disturbed as they are."""
        trials = [trial for trial in self._campaign.plan.trials() if disturbed(self._attempts[trial.id])]
        return [(trial, queue) for trial in trials if (queue := self._assignment.home(trial.block))]

    def _tried(self, trial: PlannedTrial) -> list[Event]:
        """Its attempts on the machine where its block is done."""
        return [event for event in self._attempts[trial.id] if not superseded(event)]

    def _start(self, trial: PlannedTrial, queue: MachineQueue) -> None:
        tried, beside = self._tried(trial), list(queue.running.values())
        block = self._campaign.plan.blocks[trial.block - 1]
        begun = [event["position"] or 0 for other in block for event in self._tried(other)]
        begun += [running.position for running in beside if running.trial.block == trial.block]
        running = Running(
            trial,
            attempt=len(self._attempts[trial.id]) + 1,
            repeat=bool(tried),
            position=max(begun, default=0) + 1,
            lane=queue.free_lane(),
            check=bool(tried) or self._checks(trial, queue),
            began=time.monotonic(),
            alone=not beside,
        )
        folder = self._campaign.folder.partial(trial.id, running.attempt)
        certificate = trial_certificate(self._campaign.folder.tls, trial.parameters, self._campaign.folder.seed)
        networks, subjects = self._campaign.plan.study.networks, self._campaign.subjects
        write_trial_files(folder, trial, networks, subjects, certificate, check=running.check)
        queue.begin(folder, running)
        self._engine.start(folder, self._campaign.folder.roots, queue.machine)
        self._display.show(self._standing())

    def _checks(self, trial: PlannedTrial, queue: MachineQueue) -> bool:
        """Whether a first attempt at this trial checks its links.

        Under the virtual clock a check moves what follows in time. So the plan alone says which trial has it, and not
        what else ran before or at the same time.
        """
        if trial.parameters.clock == "wall":
            return queue.unchecked(trial)
        links, block = trial.parameters.checked_links(), self._campaign.plan.blocks[trial.block - 1]
        return trial.id == next(other.id for other in block if other.parameters.checked_links() == links)

    def _end(self, folder: Path, queue: MachineQueue) -> tuple[Event, PlannedTrial]:
        """The attempt in `folder` has ended: it is judged, sealed and journalled."""
        running = queue.running.pop(folder)
        trial, tried = running.trial, self._attempts[running.trial.id]
        drop_specials(folder)  # that a program under test may have left: nothing below follows them
        report = read_document(folder / "report.json", Report)
        parameters = trial.parameters.model_dump(mode="json")
        # What samples lack after a failure is its consequence, not another reason.
        missing = ingest(folder, parameters)
        tabulate_evidence(folder)
        reasons = report.reasons or missing
        if reasons:
            require_room(folder)  # or it may have failed for want of it, which says nothing about the trial
        judged = self._judge(trial, folder, report, valid=not reasons)
        seconds = round(time.monotonic() - running.began, 4)
        event: Event = {
            "event": "trial",
            "trial": trial.id,
            "attempt": running.attempt,
            "block": trial.block,
            "position": running.position,
            "place": queue.machine.name,
            "lane": running.lane,
            "alone": running.alone,
            "cell": trial.cell,
            "twin": trial.twin,
            "parameters": parameters,
            "link_seed": trial.link_seed,
            "valid": not reasons,
            "reasons": reasons,
            "disturbed": judged["disturbed"],
            "disturbance": judged["disturbance"],
            "shares": judged["shares"],
            "crowded": judged["crowded"],
            "noise": judged["noise"],
            "seconds": seconds,
        }
        sealed = self._campaign.folder.seal(folder, event)
        self._campaign.folder.append(event)
        tried.append(event)
        queue.jobs.learn(event, report)
        self._forecast.learn(trial, seconds)
        self._interim.learn(event, sealed, report)
        self._late_s = _lateness(report)
        if event["valid"]:
            queue.checked(trial)
        self._count(trial, event)
        return event, trial

    def _judge(self, planned: PlannedTrial, folder: Path, report: Report, *, valid: bool) -> Judged:
        """What the machine had to do with it: the journal's `disturbed` to `noise`."""
        noise = round(machine_noise(report), 4)
        if not valid:
            return {"disturbed": ruined(report), "disturbance": 1.0, "shares": {}, "crowded": False, "noise": noise}
        trial, statuses = read_document(folder / "trial.json", Trial), planned.parameters.workload.statuses()
        found = disturbance(report, trial, folder / "samples.parquet", statuses)
        worst, waits = found.worst(self._asked), found.worst_wait(self._asked)
        return {
            "disturbed": worst > self._tolerated,
            "disturbance": round(worst, 4),
            "shares": {name: round(share, 4) for name, share in found.shares.items() if name in self._metrics},
            "crowded": waits > self._tolerated,
            "noise": noise,
        }

    def _count(self, trial: PlannedTrial, event: Event) -> None:
        if event["valid"]:
            self._given_up_in_a_row = 0
        elif given_up(self._attempts[trial.id]) and not event["disturbed"]:
            self._given_up_in_a_row += 1
            _stop_if_hopeless(self._given_up_in_a_row, event, self._campaign.folder)

    def _standing(self) -> Standing:
        queues, unassigned = self._assignment.queues, self._assignment.unassigned
        left = [trial for queue in queues for trial in queue.left] + unassigned
        total, blocks = len(self._campaign.plan.trials()), len(self._campaign.plan.blocks)
        spans = [queue.jobs.span(queue.left, self._forecast.seconds) for queue in queues]
        return Standing(
            running=[running.name for queue in queues for running in queue.running.values()],
            done=total - len(left),
            total=total,
            left_s=max(spans)
            + queues[0].jobs.span(unassigned, self._forecast.seconds) / len(queues)
            + self._repeats_s(left),
            blocks_done=blocks - len({trial.block for trial in left}),
            blocks=blocks,
            so_far=self._interim.estimates(),
            late_s=self._late_s,
        )


def _lateness(report: Report) -> float | None:
    """The 99th percentile of the worst direction, in seconds; a veth has none."""
    late = [way.lateness_ns.p99 for link in report.links for way in link.ways()]
    return max(late) * 1e-9 if late else None


def _stop_if_hopeless(given_up_in_a_row: int, event: Event, folder: CampaignFolder) -> None:
    if given_up_in_a_row < HOPELESS_AFTER:
        return
    reason, logs = event["reasons"][0], folder.trial(event["trial"], event["attempt"]) / "logs"
    raise UserError(
        f"{HOPELESS_AFTER} trials in a row failed all their attempts, so the campaign stops. "
        f"The last one ({event['trial']}): {reason['code']}: {reason['detail']}",
        remedy=f"read the logs in {logs}, fix the cause, then try again: h123 run --out {typed(folder.path)} --retry",
        status=1,
    )


def untried(trials: Sequence[PlannedTrial], attempts: Attempts) -> list[PlannedTrial]:
    """Those that a run would start, but for disturbed ones."""
    return [trial for trial in trials if not settled(attempts[trial.id])]
