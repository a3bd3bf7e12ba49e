"""The course of a campaign: which trial starts when, what becomes of it, and whether it is tried again."""

import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from h123.campaign.again import (
    HOPELESS_AFTER,
    PAUSE_S,
    Event,
    Patience,
    calm_enough,
    disturbed,
    given_up,
    settled,
    tolerated,
    usable,
)
from h123.campaign.campaign import Campaign
from h123.campaign.forecast import Forecast
from h123.campaign.lanes import Lanes
from h123.campaign.sofar import SoFar
from h123.errors import UserError
from h123.paths import typed
from h123.results import CampaignFolder, disturbance, ingest, machine_noise, read_document, ruined
from h123.results.events import Judged
from h123.results.lab_report import Report
from h123.results.trial_files import Trial
from h123.study import PlannedTrial
from h123.trial import SERVER_ADDRESS, Display, Engine, Standing, campaign_certificate, require_room, write_trial_files

Attempts = dict[str, list[Event]]
"""The journal's events of each planned trial, oldest first."""


@dataclass
class _Running:
    """An attempt that has started and not ended."""

    trial: PlannedTrial
    attempt: int
    position: int
    lane: int
    check: bool
    began: float
    alone: bool
    """False as soon as another one has run beside it."""

    @property
    def name(self) -> str:
        return self.trial.id + (f" (attempt {self.attempt})" if self.attempt > 1 else "")


class Course:
    """Runs all blocks; appends to `attempts` as trials end. `tls` is the certificate's folder, by a plain path."""

    def __init__(
        self, campaign: Campaign, engine: Engine, display: Display, lanes: Lanes, attempts: Attempts, tls: Path
    ) -> None:
        self._campaign, self._engine, self._display = campaign, engine, display
        self._lanes, self._attempts, self._tls = lanes, attempts, tls
        asked = campaign.plan.study.compare
        self._metrics = {metric for family in asked.families for metric in family.metrics}
        self._asked = set(asked.families[0].metrics)
        self._tolerated = tolerated(asked.margin)
        self._forecast = Forecast({trial: cost.seconds for trial, cost in campaign.plan.estimates().items()})
        self._so_far = SoFar(campaign)
        self._waiting: deque[PlannedTrial] = deque()
        self._running: dict[Path, _Running] = {}
        self._checked: set[tuple[int, tuple[str, ...]]] = set()
        self._given_up_in_a_row = 0

    def run(self) -> None:
        """Run what is not settled, then what was disturbed; nothing runs any more when this returns."""
        began = time.monotonic()
        blocks = self._campaign.plan.blocks
        self._waiting.extend(t for t in self._lanes.order(blocks) if not settled(self._attempts[t.id]))
        self._run_waiting()
        self._repeat_disturbed(Patience.after(time.monotonic() - began))

    def _run_waiting(self) -> None:
        while self._waiting or self._running:
            while self._waiting and self._may_start(self._waiting[0]):
                self._start(self._waiting.popleft())
            event, trial = self._end(self._engine.wait())
            if not settled(self._attempts[trial.id]):
                # Next, as whatever is wrong may be wrong with all.
                self._waiting.appendleft(trial)
            self._display.end(event, self._standing())

    def _repeat_disturbed(self, patience: Patience) -> None:
        """Those without any attempt that counts first, and whatever the machine does; the others while it is calm."""
        repeating_s, waiting_s = patience.repeating_s, patience.waiting_s
        while pending := [t for t in self._campaign.plan.trials() if disturbed(self._attempts[t.id])]:
            trial = min(pending, key=lambda t: usable(self._attempts[t.id]))
            tried = self._attempts[trial.id]
            needed, seconds = not usable(tried), self._forecast.seconds(trial)
            if not needed and seconds > repeating_s:
                return
            if not calm_enough(self._engine.noise(), tried, self._tolerated):
                if waiting_s > 0:
                    self._display.say(f"{len(pending)} disturbed trials wait for a calmer machine", self._standing())
                    time.sleep(PAUSE_S)
                    waiting_s -= PAUSE_S
                    continue
                if not needed:
                    return
            repeating_s -= 0 if needed else seconds
            self._waiting.append(trial)
            self._run_waiting()

    def _may_start(self, trial: PlannedTrial) -> bool:
        if not self._running:
            return True
        beside = list(self._running.values())
        if self._attempts[trial.id] or any(running.attempt > 1 for running in beside):
            return False  # repeats run alone
        return self._lanes.admits(trial, [running.trial for running in beside])

    def _start(self, trial: PlannedTrial) -> None:
        tried, beside = self._attempts[trial.id], list(self._running.values())
        block = self._campaign.plan.blocks[trial.block - 1]
        begun = [event["position"] or 0 for other in block for event in self._attempts[other.id]]
        begun += [running.position for running in beside if running.trial.block == trial.block]
        lane = min(set(range(1, len(beside) + 2)) - {running.lane for running in beside})
        check = bool(tried) or self._unchecked(trial)
        folder = self._campaign.folder.partial(trial.id, len(tried) + 1)
        certificate = campaign_certificate(self._tls, [SERVER_ADDRESS])
        networks, subjects = self._campaign.plan.study.networks, self._campaign.subjects
        running = _Running(
            trial, len(tried) + 1, max(begun, default=0) + 1, lane, check, time.monotonic(), alone=not beside
        )
        write_trial_files(folder, trial, networks, subjects, certificate, check=check)
        self._engine.start(folder)
        for other in beside:
            other.alone = False
        self._running[folder] = running
        self._display.show(self._standing())

    def _unchecked(self, trial: PlannedTrial) -> bool:
        """A trial's links are checked once a block and clock, and again before a trial is repeated."""
        links = trial.parameters.checked_links()
        checking = {r.trial.parameters.checked_links() for r in self._running.values() if r.check}
        return (trial.block, links) not in self._checked and links not in checking

    def _end(self, folder: Path) -> tuple[Event, PlannedTrial]:
        """The attempt in `folder` has ended: it is judged, sealed and journalled."""
        running = self._running.pop(folder)
        trial, tried = running.trial, self._attempts[running.trial.id]
        report = read_document(folder / "report.json", Report)
        parameters = trial.parameters.model_dump(mode="json")
        # What samples lack after a failure is its consequence, not another reason.
        missing = ingest(folder, parameters)
        reasons = report.reasons or missing
        if reasons:
            require_room(folder)  # or it may have failed for want of it, which says nothing about the trial
        judged = self._judge(trial, folder, report, valid=not reasons)
        sealed = self._campaign.folder.seal(folder)
        seconds = round(time.monotonic() - running.began, 4)
        event: Event = {
            "event": "trial",
            "trial": trial.id,
            "attempt": running.attempt,
            "block": trial.block,
            "position": running.position,
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
        self._campaign.folder.append(event)
        tried.append(event)
        self._lanes.learn(event, report)
        self._forecast.learn(trial, seconds)
        self._so_far.learn(event, sealed, report)
        self._count(running, event)
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

    def _count(self, running: _Running, event: Event) -> None:
        trial = running.trial
        if event["valid"]:
            self._given_up_in_a_row = 0
            self._checked.add((trial.block, trial.parameters.checked_links()))
        elif given_up(self._attempts[trial.id]) and not event["disturbed"]:
            self._given_up_in_a_row += 1
            _stop_if_hopeless(self._given_up_in_a_row, event, self._campaign.folder)

    def _standing(self) -> Standing:
        trials = self._campaign.plan.trials()
        left = [running.trial for running in self._running.values()] + list(self._waiting)
        names = [running.name for running in self._running.values()]
        blocks = len(self._campaign.plan.blocks)
        return Standing(
            running=names,
            done=len(trials) - len(left),
            total=len(trials),
            left_s=self._lanes.span(left, self._forecast.seconds),
            blocks_done=blocks - len({trial.block for trial in left}),
            blocks=blocks,
            so_far=self._so_far.lines(),
        )


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
