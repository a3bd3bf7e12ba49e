"""Which machine does which block: each is whole on one, since only there all else is equal."""

from collections.abc import Mapping, Sequence

from h123.documents.events import Moved, superseded
from h123.execution import MachineLost
from h123.execution.machine_queue import MachineQueue
from h123.execution.retry_policy import Event, given_up, settled, usable
from h123.study import PlannedTrial

GONE = "this machine is not there any more"


class BlockAssignment:
    """Assigns a campaign's blocks to its machines; a machine that fails loses those that are not finished."""

    def __init__(
        self,
        blocks: Sequence[Sequence[PlannedTrial]],
        queues: Sequence[MachineQueue],
        attempts: Mapping[str, Sequence[Event]],
    ) -> None:
        self._blocks = {block[0].block: block for block in blocks}
        self._attempts = attempts
        self.queues = list(queues)
        """Those that have not failed."""
        tried = [event for events in attempts.values() for event in events if not superseded(event)]
        self._homes = {event["block"]: event["place"] for event in tried if "place" in event}
        self._lost = dict[str, str]()
        self._unassigned = [number for number in self._blocks if self._needs_machine(number)]

    @property
    def unassigned(self) -> list[PlannedTrial]:
        """What waits for a machine."""
        return [t for n in self._unassigned for t in self._blocks[n] if not settled(self._attempts[t.id])]

    def home(self, block: int) -> MachineQueue | None:
        """Where the block is done; None where that machine has gone. Earlier versions named none: they had one."""
        name = self._homes.get(block, self.queues[0].machine.name)
        return next((queue for queue in self.queues if queue.machine.name == name), None)

    def assign(self, queue: MachineQueue) -> tuple[list[PlannedTrial], list[Moved]]:
        """What to run next on a machine on which nothing waits, and which blocks have moved there: their trials are all
        done again. A block at a time, so that a fast machine gets more of them; the only one gets all."""
        free = [n for n in self._unassigned if n not in self._homes or self.home(n) in (queue, None)]
        assigned = free if len(self.queues) == 1 else free[:1]
        self._unassigned = [number for number in self._unassigned if number not in assigned]
        moved = [self._moved(number, queue) for number in assigned if not self.home(number)]
        self._homes |= dict.fromkeys(assigned, queue.machine.name)
        again = {event["block"] for event in moved}
        ordered = queue.jobs.order([self._blocks[number] for number in assigned])
        return [t for t in ordered if t.block in again or not settled(self._attempts[t.id])], moved

    def lose(self, lost: MachineLost) -> MachineQueue:
        """The machine goes out. Raises what it is given where it is the last one."""
        name = lost.machine.name
        if [queue.machine.name for queue in self.queues] == [name]:
            raise lost
        gone = next(queue for queue in self.queues if queue.machine.name == name)
        self.queues.remove(gone)
        self._lost[name] = lost.message
        homeless = [number for number, home in self._homes.items() if home == name and self._needs_machine(number)]
        self._unassigned = sorted({*self._unassigned, *homeless})
        return gone

    def _needs_machine(self, block: int) -> bool:
        """Whether a trial of it is to be tried; or to be repeated because none of its attempts counts, and cannot be
        where it was."""
        tried = [self._attempts[trial.id] for trial in self._blocks[block]]
        ended = all(usable(events) or given_up(events) for events in tried)
        return not all(map(settled, tried)) or (self.home(block) is None and not ended)

    def _moved(self, block: int, queue: MachineQueue) -> Moved:
        before = self._homes[block]
        why = self._lost.get(before, GONE)
        return {"event": "moved", "block": block, "place": queue.machine.name, "before": before, "why": why}
