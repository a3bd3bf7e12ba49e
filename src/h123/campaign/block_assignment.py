"""Assigns blocks to machines. Each block runs completely on one machine, so that its trials differ only in their
treatments."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from h123.documents.events import BlockMove, superseded
from h123.execution import Jobs, Machine, MachineLost
from h123.execution.retry_policy import LiveAttempt, disturbed, given_up, settled, usable
from h123.study import PlannedTrial

GONE = "this machine is gone"


@dataclass(eq=False)
class Assignee:
    """A machine, and what the campaign knows about the machine's current order."""

    machine: Machine
    jobs: Jobs
    order: int | None = None
    """The number of the machine's current order; None if it has none."""
    second_run: bool = False
    """Whether the order repeats a trial of another machine, for comparison."""
    waiting: list[PlannedTrial] = field(default_factory=list)
    running: dict[str, PlannedTrial] = field(default_factory=dict)
    """Running trials by the attempt's name."""

    @property
    def remaining(self) -> list[PlannedTrial]:
        """The trials that are running or waiting."""
        return [*self.running.values(), *self.waiting]

    def begin(self, name: str, trial: PlannedTrial) -> None:
        self.waiting = [other for other in self.waiting if other.id != trial.id]
        self.running[name] = trial
        self.jobs.began(len(self.running))

    def rest(self) -> None:
        self.order, self.second_run, self.waiting, self.running = None, False, [], {}


class BlockAssignment:
    """The assignment of a campaign's blocks to its machines. A machine that fails loses its unfinished blocks."""

    def __init__(
        self,
        blocks: Sequence[Sequence[PlannedTrial]],
        assignees: Sequence[Assignee],
        attempts: Mapping[str, Sequence[LiveAttempt]],
        *,
        grows: bool = False,
    ) -> None:
        """Find the blocks that need a machine. `grows`: whether machines may join later; if so, each machine gets one
        block at a time."""
        self._grows = grows
        self._blocks = {block[0].block: block for block in blocks}
        self._attempts = attempts
        self.assignees = list(assignees)
        """The machines that have not failed."""
        events_so_far = [event for events in attempts.values() for event in events if not superseded(event)]
        self._homes = {event["block"]: event["place"] for event in events_so_far if "place" in event}
        self._losses = dict[str, str]()
        self._unassigned = [number for number in self._blocks if self._needs_machine(number)]

    @property
    def unassigned(self) -> list[PlannedTrial]:
        return [t for n in self._unassigned for t in self._blocks[n] if not settled(self._attempts[t.id])]

    @property
    def waiting(self) -> bool:
        return bool(self._unassigned)

    def home(self, block: int) -> Assignee | None:
        """Return the machine that runs the block. None if that machine is gone. Attempts in journals of earlier
        versions name no machine, because there was only one; their blocks belong to the first machine."""
        if block not in self._homes:
            return self.assignees[0] if self.assignees else None
        name = self._homes[block]
        return next((assignee for assignee in self.assignees if assignee.machine.name == name), None)

    def assign(self, assignee: Assignee) -> tuple[list[int], list[BlockMove]]:
        """Assign the next blocks to an idle machine. Return their numbers, and which of the blocks have moved from a
        lost machine; all trials of moved blocks run again. A machine gets one block at a time, so that faster machines
        get more blocks. If there will only ever be one machine, it gets all blocks."""
        free = [n for n in self._unassigned if n not in self._homes or self.home(n) in (assignee, None)]
        assigned = free if len(self.assignees) == 1 and not self._grows else free[:1]
        self._unassigned = [number for number in self._unassigned if number not in assigned]
        moved = [self._moved(number, assignee) for number in assigned if not self.home(number)]
        self._homes |= dict.fromkeys(assigned, assignee.machine.name)
        return assigned, moved

    def join(self, assignee: Assignee) -> None:
        """Add a machine. It may again get blocks that it lost, unless another machine has taken them."""
        self.assignees.append(assignee)

    def lose(self, loss: MachineLost) -> None:
        """Remove a machine. Its unfinished blocks wait for another machine."""
        self.assignees = [assignee for assignee in self.assignees if assignee.machine.name != loss.machine]
        self._losses[loss.machine] = loss.why
        homeless = [n for n, home in self._homes.items() if home == loss.machine and self._needs_machine(n)]
        self._unassigned = sorted({*self._unassigned, *homeless})

    def _needs_machine(self, block: int) -> bool:
        """Return whether one of the block's trials must run or be repeated. If the block's machine is gone, disturbed
        trials are not repeated, and only trials without an attempt that counts must run."""
        histories = [self._attempts[trial.id] for trial in self._blocks[block]]
        if not all(map(settled, histories)):
            return True
        if self.home(block) is None:
            return not all(usable(events) or given_up(events) for events in histories)
        return any(map(disturbed, histories))

    def _moved(self, block: int, assignee: Assignee) -> BlockMove:
        before = self._homes[block]
        why = self._losses.get(before, GONE)
        return {"event": "moved", "block": block, "place": assignee.machine.name, "before": before, "why": why}
