"""Runs a block order on a machine, with access to the order, its archives and an empty folder, but not to the
campaign."""

import shutil
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import cast

from h123 import __version__
from h123.base.errors import UserError
from h123.base.files.tree import drop_specials
from h123.base.units import format_span
from h123.catalogue import Subject, fingerprint, own_subjects
from h123.documents import read_document
from h123.documents.events import DisturbanceFacts, superseded
from h123.documents.lab_report import Report
from h123.documents.trial_files import TrialFile
from h123.execution.disk import require_room
from h123.execution.engine import Engine
from h123.execution.files import trial_certificate, write_trial_files
from h123.execution.jobs import Forecast, Jobs, MachineQueue, Running
from h123.execution.machine import Machine, UnfitMachine
from h123.execution.order import BlockOrder
from h123.execution.pool import AttemptDone, BlockDone, MachineLost, Notice, OrderRefused, PoolEvent, Started
from h123.execution.preparation import prepare
from h123.execution.retry_policy import LiveAttempt, disturbed, settled, usable
from h123.execution.wire import folder_digest
from h123.measures import disturbance, is_machines_fault, machine_noise
from h123.packets import tabulate_evidence
from h123.store import ingest, seal
from h123.study import PlannedTrial


def execute(
    order: BlockOrder, folder: Path, archives: Mapping[str, Path], machine: Machine, engine: Engine
) -> Iterator[PoolEvent]:
    """Run an order, and yield its events until the order is done or the machine has failed. No trial runs afterwards.

    `folder` is empty at first; sealed attempts appear there under the names of their archives. `archives` maps names to
    the folders of the order's archives. Missing certificates of the campaign are created in the folder `tls`. Raises
    OSError if the disk is full.
    """
    try:
        yield from _BlockRun(order, folder, archives, machine, engine).events()
    except UnfitMachine as unfit:
        engine.stop()
        yield MachineLost(machine=machine.name, why=unfit.message, remedy=unfit.remedy)
    except UserError as refused:
        engine.stop()
        yield OrderRefused(machine=machine.name, why=refused.message, remedy=refused.remedy, status=refused.status)


class _BlockRun:
    """One order on one machine. It first runs trials that are not settled, and then repeats disturbed ones."""

    def __init__(
        self, order: BlockOrder, folder: Path, archives: Mapping[str, Path], machine: Machine, engine: Engine
    ) -> None:
        self._order, self._folder, self._machine, self._engine = order, folder, machine, engine
        self._archives = archives
        roots = {name: root for name, root in archives.items() if name not in order.prepared}
        self._roots = {"tls": folder / "tls", **roots}
        self._policy = policy = order.policy
        self._networks = order.profiles()
        self._subjects: Mapping[str, Subject] = {}
        self._blocks = {block[0].block: block for block in order.blocks}
        self._attempts = {
            trial.id: [cast(LiveAttempt, event) for event in order.history.get(trial.id, [])]
            for trial in order.trials()
        }
        jobs = Jobs.ruled(
            order.blocks,
            self._networks,
            policy.compared,
            policy.jobs,
            machine.cpus,
            machine.memory_bytes,
            policy.headroom.model_copy(deep=True),
        )
        self._queue = MachineQueue(jobs)
        self._forecast = Forecast(jobs.estimates)
        self._began = time.monotonic()
        self._repeating_s: float | None = None
        """Seconds left for repeating disturbed trials. None while other trials remain to run."""

    def events(self) -> Iterator[PoolEvent]:
        """Yield each event as it happens. Raises UnfitMachine, and whatever `Engine.wait` raises."""
        yield from self._equip()
        ordered = self._queue.jobs.order(self._order.blocks)
        self._queue.waiting.extend(trial for trial in ordered if not self._settled(trial))
        yield from self._run_waiting()
        yield from self._repeat_disturbed(time.monotonic() - self._began)
        yield BlockDone(machine=self._machine.name, number=self._order.number)

    def _equip(self) -> Iterator[PoolEvent]:
        """Prepare the machine for the trials, and check that subjects and archives are the same as at the order's
        origin."""
        if self._order.version != __version__:
            raise UnfitMachine(
                f"{self._machine.name} has h123 {__version__}, but the order is from {self._order.version}"
            )
        notices: list[str] = []
        try:
            # Every block contains each treatment once.
            treatments = [trial.parameters for trial in self._order.blocks[0] if trial.id not in self._order.prepared]
            self._subjects = prepare(treatments, notices.append, own_subjects(self._order.servers))
        except UserError as lacking:
            raise UnfitMachine(lacking.message, lacking.remedy, lacking.status) from None
        yield from (Notice(machine=self._machine.name, text=text) for text in notices)
        for name, digest in self._order.archives().items():
            if folder_digest(self._archives[name]) != digest:
                raise UnfitMachine(f"{name} arrived damaged at {self._machine.name}")
        for name, expected in self._order.subjects.items():
            if name not in self._subjects or fingerprint(self._subjects[name]) != expected:
                raise UnfitMachine(f"{self._machine.name} has different files of the subject {name} than required")

    def _run_waiting(self) -> Iterator[PoolEvent]:
        queue = self._queue
        while queue.waiting or queue.running:
            while queue.waiting and queue.may_start(
                queue.waiting[0], repeat=bool(self._attempts_here(queue.waiting[0]))
            ):
                yield self._start(queue.waiting.popleft())
            attempt, trial = self._end(self._engine.wait())
            if not self._settled(trial):
                # Run it next, because whatever is wrong may affect all trials.
                queue.waiting.appendleft(trial)
            yield attempt

    def _repeat_disturbed(self, took_s: float) -> Iterator[PoolEvent]:
        """Repeat disturbed trials. Trials without an attempt that counts come first and run whether or not the machine
        is calm; the other trials run only while it is calm."""
        patience, retries = self._policy.patience, self._policy.retries
        self._repeating_s, waiting_s = patience.repeating_s(took_s), patience.waiting_s(took_s)
        longest = format_span(waiting_s)
        while pending := [trial for trial in self._order.trials() if disturbed(self._attempts[trial.id], retries)]:
            trial = min(pending, key=lambda other: usable(self._attempts[other.id]))
            attempts = self._attempts[trial.id]
            needed, seconds = not usable(attempts), self._forecast.seconds(trial)
            if not needed and seconds > self._repeating_s:
                return
            if not patience.calm_enough(self._engine.noise(), attempts, self._policy.tolerated):
                if waiting_s > 0:
                    who = f"{len(pending)} disturbed trials wait" if len(pending) > 1 else "1 disturbed trial waits"
                    text = f"{who} for a calmer machine, for {longest} at most"
                    yield Notice(machine=self._machine.name, text=text)
                    time.sleep(patience.pause_s)
                    waiting_s -= patience.pause_s
                    continue
                if not needed:
                    return
            self._repeating_s -= 0 if needed else seconds
            self._queue.waiting.append(trial)
            yield from self._run_waiting()

    def _settled(self, trial: PlannedTrial) -> bool:
        return settled(self._attempts[trial.id], self._policy.retries)

    def _attempts_here(self, trial: PlannedTrial) -> list[LiveAttempt]:
        """Return the trial's attempts on the machine that now runs its block."""
        return [event for event in self._attempts[trial.id] if not superseded(event)]

    def _start(self, trial: PlannedTrial) -> Started:
        queue, attempts = self._queue, self._attempts_here(trial)
        others = list(queue.running.values())
        positions = [
            event["position"] or 0 for other in self._blocks[trial.block] for event in self._attempts_here(other)
        ]
        positions += [running.position for running in others if running.trial.block == trial.block]
        running = Running(
            trial,
            attempt=len(self._attempts[trial.id]) + 1,
            repeat=bool(attempts),
            position=max(positions, default=0) + 1,
            lane=queue.free_lane(),
            check=bool(attempts) or self._checks(trial),
            began=time.monotonic(),
            alone=not others,
        )
        folder = self._folder / f"{trial.id}~{running.attempt}{seal.PARTIAL}"
        if trial.id in self._order.prepared:
            shutil.copytree(self._archives[trial.id], folder)
        else:
            folder.mkdir()
            certificate = trial_certificate(self._roots["tls"], trial.parameters, self._order.seed)
            write_trial_files(folder, trial, self._networks, self._subjects, certificate, check=running.check)
        queue.begin(folder, running)
        self._engine.start(folder, self._roots)
        return Started(
            machine=self._machine.name, trial=trial.id, attempt=running.attempt, repeating_s=self._repeating_s
        )

    def _checks(self, trial: PlannedTrial) -> bool:
        """Return whether a first attempt at this trial checks its links.

        Under the virtual clock a check shifts everything that follows. So the plan alone decides which trial has the
        check, not the trials that ran before it or at the same time. Trials that share random numbers, so that they
        differ only in a change, all have the check.
        """
        if trial.parameters.clock == "wall":
            return self._queue.unchecked(trial)
        if trial.random is not None:
            return True
        links, block = trial.parameters.checked_links(), self._blocks[trial.block]
        return trial.id == next(other.id for other in block if other.parameters.checked_links() == links)

    def _end(self, folder: Path) -> tuple[AttemptDone, PlannedTrial]:
        running = self._queue.running.pop(folder)
        trial = running.trial
        drop_specials(folder)  # a program under test may have left some, such as symbolic links
        report = read_document(folder / "report.json", Report)
        parameters = trial.parameters.model_dump(mode="json")
        # Data missing from the samples after a failure is its consequence, not a separate reason.
        missing = ingest(folder, parameters)
        tabulate_evidence(folder)
        reasons = report.reasons or missing
        if reasons:
            require_room(folder)  # a failure for lack of room says nothing about the trial
        disturbance = self._judge(trial, folder, report, valid=not reasons)
        seconds = round(time.monotonic() - running.began, 4)
        event: LiveAttempt = {
            "event": "trial",
            "trial": trial.id,
            "attempt": running.attempt,
            "block": trial.block,
            "position": running.position,
            "place": self._machine.name,
            "lane": running.lane,
            "alone": running.alone,
            "cell": trial.cell,
            "twin": trial.twin,
            "parameters": parameters,
            "link_seed": trial.link_seed,
            "valid": not reasons,
            "reasons": reasons,
            "disturbed": disturbance["disturbed"],
            "disturbance": disturbance["disturbance"],
            "shares": disturbance["shares"],
            "crowded": disturbance["crowded"],
            "noise": disturbance["noise"],
            "seconds": seconds,
        }
        sealed = seal.seal_attempt(folder, event)
        self._attempts[trial.id].append(event)
        self._queue.jobs.learn(event, report)
        self._forecast.learn(trial, seconds)
        if event["valid"]:
            self._queue.checked(trial)
        digest = seal.digest_of(sealed)
        assert digest  # the seal has just been written
        return AttemptDone(machine=self._machine.name, facts=event, seal=digest, archive=sealed.name), trial

    def _judge(self, planned: PlannedTrial, folder: Path, report: Report, *, valid: bool) -> DisturbanceFacts:
        """Judge how much the machine disturbed the attempt, and return the journal's fields from `disturbed` to
        `noise`."""
        noise = round(machine_noise(report), 4)
        if not valid:
            return {
                "disturbed": is_machines_fault(report),
                "disturbance": 1.0,
                "shares": {},
                "crowded": False,
                "noise": noise,
            }
        if not self._policy.metrics:
            return {"disturbed": False, "disturbance": 0.0, "shares": {}, "crowded": False, "noise": noise}
        trial, statuses = read_document(folder / "trial.json", TrialFile), planned.parameters.workload.statuses()
        disturbances = disturbance(report, trial, folder / "samples.parquet", statuses)
        question = set(self._policy.question)
        worst, waits = disturbances.worst(question), disturbances.worst_wait(question)
        return {
            "disturbed": worst > self._policy.tolerated,
            "disturbance": round(worst, 4),
            "shares": {
                name: round(share, 4) for name, share in disturbances.shares.items() if name in self._policy.metrics
            },
            "crowded": waits > self._policy.tolerated,
            "noise": noise,
        }
