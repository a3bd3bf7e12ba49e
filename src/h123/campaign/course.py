"""The course of a campaign: which trial starts when, what becomes of it, and whether it is tried again."""

import json
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from h123.campaign.campaign import Campaign
from h123.campaign.certificate import campaign_certificate
from h123.campaign.crowding import crowding
from h123.campaign.engine import Engine
from h123.campaign.lanes import Lanes
from h123.campaign.progress import Display, Forecast, Standing
from h123.campaign.trialfile import SERVER_ADDRESS, write_trial_files
from h123.errors import UserError
from h123.results import CampaignFolder, ingest
from h123.study import PlannedTrial

MAX_ATTEMPTS = 3
"""An invalid trial is repeated at most twice."""

HOPELESS_AFTER = 3
"""So many trials in a row without one valid attempt: whatever is wrong will not mend itself."""

Event = dict[str, Any]
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
    """Runs all blocks; appends to `attempts` as trials end."""

    def __init__(self, campaign: Campaign, engine: Engine, display: Display, lanes: Lanes, attempts: Attempts) -> None:
        self._campaign, self._engine, self._display = campaign, engine, display
        self._lanes, self._attempts = lanes, attempts
        self._forecast = Forecast({trial: cost.seconds for trial, cost in campaign.plan.estimates().items()})
        self._waiting: deque[PlannedTrial] = deque()
        self._running: dict[Path, _Running] = {}
        self._checked: set[tuple[int, tuple[str, ...]]] = set()
        self._failed_in_a_row = 0

    def run(self) -> None:
        """Run what is not settled; nothing runs any more when this returns."""
        blocks = self._campaign.plan.blocks
        self._waiting.extend(t for t in self._lanes.order(blocks) if not settled(self._attempts[t.id]))
        while self._waiting or self._running:
            while self._waiting and self._may_start(self._waiting[0]):
                self._start(self._waiting.popleft())
            event, trial = self._end(self._engine.wait())
            if not settled(self._attempts[trial.id]):
                self._repeat(trial, event)
            self._display.end(event, self._standing())

    def _repeat(self, trial: PlannedTrial, event: Event) -> None:
        """Next, as whatever is wrong may be wrong with all; but after all others if only its neighbours disturbed it,
        for a repeat runs alone, and would have to wait until all lanes are empty."""
        crowded = all(reason["code"] == "crowded" for reason in event["reasons"])
        if crowded:
            self._waiting.append(trial)
        else:
            self._waiting.appendleft(trial)

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
        begun = [event["position"] for other in block for event in self._attempts[other.id]]
        begun += [running.position for running in beside if running.trial.block == trial.block]
        lane = min(set(range(1, len(beside) + 2)) - {running.lane for running in beside})
        check = bool(tried) or self._unchecked(trial)
        folder = self._campaign.folder.partial(trial.id, len(tried) + 1)
        # Absolute: the roles run in a folder of their own.
        certificate = campaign_certificate(self._campaign.folder.tls.resolve(), [SERVER_ADDRESS])
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
        report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
        parameters = trial.parameters.model_dump(mode="json")
        # What samples lack after a failure is its consequence, not another reason.
        missing = ingest(folder, parameters)
        disturbable = not running.alone and trial.parameters.clock == "wall"
        reasons = (report["reasons"] or missing) + (crowding(report) if disturbable else [])
        self._campaign.folder.seal(folder)
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
            "seconds": round(time.monotonic() - running.began, 4),
        }
        self._campaign.folder.append(event)
        tried.append(event)
        self._lanes.learn(event, report)
        self._forecast.learn(trial, event["seconds"])
        self._count(running, event)
        return event, trial

    def _count(self, running: _Running, event: Event) -> None:
        trial = running.trial
        if event["valid"]:
            self._failed_in_a_row = 0
            self._checked.add((trial.block, trial.parameters.checked_links()))
        elif settled(self._attempts[trial.id]):
            self._failed_in_a_row += 1
            _stop_if_hopeless(self._failed_in_a_row, event, self._campaign.folder)

    def _standing(self) -> Standing:
        trials = self._campaign.plan.trials()
        left = [running.trial for running in self._running.values()] + list(self._waiting)
        names = [running.name for running in self._running.values()]
        done = len(trials) - len(left)
        return Standing(names, done, len(trials), self._lanes.span(left, self._forecast.seconds))


def settled(tried: Sequence[Event]) -> bool:
    """Nothing more to try: a valid attempt, or as many as allowed, or a subject that says it cannot."""
    if not tried:
        return False
    unsupported = any(reason["code"] == "unsupported" for reason in tried[-1]["reasons"])
    return bool(tried[-1]["valid"]) or unsupported or len(tried) >= MAX_ATTEMPTS


def _stop_if_hopeless(failed_in_a_row: int, event: Event, folder: CampaignFolder) -> None:
    if failed_in_a_row < HOPELESS_AFTER:
        return
    reason, logs = event["reasons"][0], folder.trial(event["trial"], event["attempt"]) / "logs"
    raise UserError(
        f"{HOPELESS_AFTER} trials in a row failed all their attempts, so the campaign stops. "
        f"The last one ({event['trial']}): {reason['code']}: {reason['detail']}",
        remedy=f"see the logs in {logs}; mend the cause and start a new campaign",
        status=1,
    )
