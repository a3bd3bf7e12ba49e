"""What waits and what runs on a machine, and the links that it has checked."""

from collections import deque
from dataclasses import dataclass, field
from pathlib import Path

from h123.execution.jobs import Jobs
from h123.study import PlannedTrial


@dataclass
class Running:
    """An attempt that has started and not ended."""

    trial: PlannedTrial
    attempt: int
    repeat: bool
    """Of a trial that has been tried on this machine."""
    position: int
    lane: int
    check: bool
    began: float
    alone: bool
    """False as soon as another one has run beside it."""


@dataclass(eq=False)
class MachineQueue:
    """What trials share with one another by being on the same machine, and with none elsewhere."""

    jobs: Jobs
    waiting: deque[PlannedTrial] = field(default_factory=deque)
    running: dict[Path, Running] = field(default_factory=dict)
    _checked: set[tuple[int, tuple[str, ...]]] = field(default_factory=set)

    def may_start(self, trial: PlannedTrial, *, repeat: bool) -> bool:
        beside = self.running.values()
        if not beside:
            return True
        if repeat or any(running.repeat for running in beside):
            return False  # repeats run alone
        return self.jobs.admits(trial, [running.trial for running in beside])

    def free_lane(self) -> int:
        """The first one that none of the running trials holds."""
        return min(set(range(1, len(self.running) + 2)) - {running.lane for running in self.running.values()})

    def unchecked(self, trial: PlannedTrial) -> bool:
        """A trial's links are checked once a block and clock, and again before a trial is repeated."""
        links = trial.parameters.checked_links()
        checking = {r.trial.parameters.checked_links() for r in self.running.values() if r.check}
        return (trial.block, links) not in self._checked and links not in checking

    def checked(self, trial: PlannedTrial) -> None:
        """Its links are as they should be."""
        self._checked.add((trial.block, trial.parameters.checked_links()))

    def begin(self, folder: Path, running: Running) -> None:
        """An attempt has started."""
        for other in self.running.values():
            other.alone = False
        self.running[folder] = running
