"""Defines pools of machines, which run a campaign's blocks, and the events that pools return
(docs/contracts/pool.md)."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal, Protocol

from pydantic import Field, TypeAdapter

from h123.base.errors import UserError
from h123.documents.events import AttemptFacts, PlaceName, TrialName
from h123.documents.shapes import Count, Digest, Seconds
from h123.execution.machine import Machine
from h123.execution.order import BlockOrder
from h123.execution.wire import Message


class _Event(Message):
    h123: Literal["pool-event/1"] = "pool-event/1"
    machine: PlaceName


class Started(_Event):
    """An event: an attempt has begun."""

    event: Literal["started"] = "started"
    trial: TrialName
    attempt: Count
    repeating_s: Seconds | None = None
    """Seconds left for repeating disturbed trials. None while other trials remain to run."""

    @property
    def name(self) -> str:
        """The attempt's name in messages."""
        return _attempt_name(self.trial, self.attempt)


class AttemptDone(_Event):
    """An event: an attempt has ended and is sealed."""

    event: Literal["attempt-done"] = "attempt-done"
    facts: AttemptFacts
    """The journal's record of the attempt: trial, attempt, position, validity and reasons, disturbance."""
    seal: Digest
    """The digest of the attempt's seal."""
    archive: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._+~-]*$", max_length=250)]
    """The name of the archive that contains the attempt's folder."""

    @property
    def name(self) -> str:
        return _attempt_name(self.facts["trial"], self.facts["attempt"])


def _attempt_name(trial: str, attempt: int) -> str:
    return trial + (f" (attempt {attempt})" if attempt > 1 else "")


class Notice(_Event):
    """An event: the machine is doing something other than running trials. The message says what it is doing."""

    event: Literal["notice"] = "notice"
    text: str


class BlockDone(_Event):
    """An event: a machine has finished all blocks of its order."""

    event: Literal["block-done"] = "block-done"
    number: Count


class MachineJoined(_Event):
    """An event: a machine has joined, or a lost one has returned. It has no order yet."""

    event: Literal["machine-joined"] = "machine-joined"
    joined: Machine


class MachineLost(_Event):
    """An event: a machine has failed. It sends nothing until it joins again, and the trials that ran there are lost."""

    event: Literal["machine-lost"] = "machine-lost"
    why: str
    remedy: str | None = None


class OrderRefused(_Event):
    """An event: a trial of an order cannot run on any machine, so the campaign ends."""

    event: Literal["order-refused"] = "order-refused"
    why: str
    remedy: str | None = None
    status: Count = 1

    def error(self) -> UserError:
        return UserError(self.why, self.remedy, status=self.status)


PoolEvent = Started | AttemptDone | Notice | BlockDone | MachineJoined | MachineLost | OrderRefused
_READS: TypeAdapter[PoolEvent] = TypeAdapter(Annotated[PoolEvent, Field(discriminator="event")])


def read_event(text: str | bytes) -> PoolEvent:
    """Parse the JSON that an event's `model_dump_json` wrote. Raises ValidationError for anything else."""
    return _READS.validate_json(text)


class Pool(Protocol):
    """A pool of machines that run block orders. Only one thread may use it."""

    @property
    def grows(self) -> bool:
        """Whether machines may join while a campaign runs."""

    def machines(self) -> Sequence[Machine]:
        """Return all machines, at least one, including lost ones. Their names are unique."""

    def submit(self, machine: Machine, order: BlockOrder, archives: Mapping[str, Path]) -> None:
        """Start an order on a machine that has none. `archives`: the folders that the order names by digest.

        Raises UserError if the order cannot be sent to that machine (`BlockOrder.portable`).
        """

    def events(self, timeout_s: float | None = None, /) -> Sequence[PoolEvent]:
        """Return what has happened since the last call; the events of one machine are in order. The call waits for an
        event, at most `timeout_s`. A pool that runs trials itself may take longer. Without a timeout, an empty result
        means that no machine is left and none will join.

        Raises OSError if the caller's disk is full.
        """

    def archive(self, attempt: AttemptDone) -> Path:
        """Return the folder of an attempt on the caller's disk. The caller must move it away before asking for more
        events."""

    def cancel(self) -> None:
        """End all running trials and discard all orders."""

    def close(self) -> None:
        """End all running trials, discard all orders, and close the pool permanently."""
