"""Runs single trials. The caller writes their files and judges the results."""

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from h123.base.errors import UserError
from h123.catalogue import OwnServer
from h123.documents.events import AttemptFacts
from h123.execution.jobs import Headroom
from h123.execution.machine import Machine
from h123.execution.order import BlockOrder, Policy
from h123.execution.pool import AttemptDone, BlockDone, MachineLost, OrderRefused, Pool
from h123.execution.retry_policy import ONCE, PATIENCE
from h123.execution.wire import folder_digest
from h123.study import Network, Parameters, PlannedTrial


@dataclass(frozen=True)
class PreparedTrial:
    """A trial whose files have been written."""

    folder: Path
    """The folder with the trial's files, and later its results."""
    parameters: Parameters
    network: Network


class SingleTrials:
    """A runner that executes each trial once, on the first machine of a pool."""

    def __init__(
        self, pool: Pool, roots: Mapping[str, Path], servers: Mapping[str, OwnServer] | None = None, *, seed: int = 0
    ) -> None:
        """Prepare to run trials on `pool`. `roots` are the folders that the trials' files refer to by name. `servers`
        are the user's own servers. `seed` is for certificates that are not among the roots."""
        self._pool, self._roots, self._servers, self._seed = pool, roots, servers or {}, seed
        self._orders = 0

    @property
    def machine(self) -> Machine:
        return self._pool.machines()[0]

    def run(
        self,
        trials: Sequence[PreparedTrial],
        jobs: int = 1,
        is_wanted: Callable[[PreparedTrial], bool] = lambda _: True,
    ) -> Iterator[tuple[PreparedTrial, AttemptFacts]]:
        """Yield each trial as it ends, with at most `jobs` running at once. Trials for which `is_wanted` is no longer
        true do not run.

        Raises UserError if the machine fails, or if no machine can execute a trial.
        """
        trials_left = {str(number): trial for number, trial in enumerate(trials, 1)}
        while trials_left := {name: trial for name, trial in trials_left.items() if is_wanted(trial)}:
            self._submit(trials_left, jobs)
            for attempt in self._finished_attempts():
                trial = trials_left.pop(attempt.facts["trial"])
                shutil.rmtree(trial.folder)
                shutil.move(self._pool.archive(attempt), trial.folder)
                yield trial, attempt.facts
                if not all(map(is_wanted, trials_left.values())):
                    self._pool.cancel()
                    break

    def _submit(self, trials: Mapping[str, PreparedTrial], jobs: int) -> None:
        self._orders += 1
        roots = {name: folder for name, folder in self._roots.items() if folder.is_dir()}
        prepared = {name: trial.folder for name, trial in trials.items()}
        order = BlockOrder(
            number=self._orders,
            seed=self._seed,
            # Each trial gets its own block, so that trials begin in this order, and its own network, because several
            # networks may have the same name.
            blocks=[[_planned(number, *named_trial)] for number, named_trial in enumerate(trials.items(), 1)],
            history={},
            networks={name: trial.network.resolved() for name, trial in trials.items()},
            servers=dict(self._servers),
            subjects={},
            roots={name: folder_digest(folder) for name, folder in roots.items()},
            prepared={name: folder_digest(folder) for name, folder in prepared.items()},
            policy=Policy(
                jobs=jobs,
                headroom=Headroom(),
                compared="",
                tolerated=1.0,
                question=[],
                metrics=[],
                retries=ONCE,
                patience=PATIENCE,
            ),
        )
        self._pool.submit(self.machine, order, {**roots, **prepared})

    def _finished_attempts(self) -> Iterator[AttemptDone]:
        while True:
            for event in self._pool.events():
                match event:
                    case AttemptDone():
                        yield event
                    case BlockDone():
                        return
                    case MachineLost():
                        raise UserError(event.why, event.remedy, status=3)
                    case OrderRefused():
                        raise event.error()


def _planned(block: int, name: str, trial: PreparedTrial) -> PlannedTrial:
    parameters = trial.parameters.model_copy(update={"network": name, "backend_network": None})
    return PlannedTrial(name, block, 1, {}, False, parameters, 1)
