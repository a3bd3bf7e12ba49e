"""Machines, a way to have blocks run on them, and what is heard of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from h123.documents.events import AttemptFacts
from h123.execution.machine import Machine
from h123.execution.order import BlockOrder


@dataclass(frozen=True)
class Started:
    """An attempt at a trial has."""

    machine: str
    trial: str
    attempt: int
    repeating_s: float | None = None
    """What is left for repeating disturbed trials; None: all else comes first."""

    @property
    def name(self) -> str:
        """Of the attempt, for people."""
        return self.trial + (f" (attempt {self.attempt})" if self.attempt > 1 else "")


@dataclass(frozen=True)
class AttemptDone:
    """An attempt has ended, and is sealed."""

    machine: str
    event: AttemptFacts
    """What the journal is to have of it: trial, attempt, position, validity and reasons, disturbance."""
    seal: str
    """The digest of its seal."""
    archive: Path
    """Its folder, on the disk of who asked for it: to be moved away."""


@dataclass(frozen=True)
class Said:
    """What the machine does instead of running trials, in words."""

    machine: str
    text: str


@dataclass(frozen=True)
class BlockDone:
    """Nothing is left to do of an order."""

    machine: str
    number: int


@dataclass(frozen=True)
class MachineLost:
    """A machine has failed: nothing more is heard of it, and what ran there is lost."""

    machine: str
    why: str
    remedy: str | None = None


PoolEvent = Started | AttemptDone | Said | BlockDone | MachineLost


class Pool(Protocol):
    """Runs block orders on its machines. Used by one thread."""

    def machines(self) -> Sequence[Machine]:
        """All that there are, lost ones included; at least one. Names are unique."""

    def submit(self, machine: Machine, order: BlockOrder) -> None:
        """Have an order run on a machine that has none."""

    def events(self, timeout_s: float | None = None, /) -> Sequence[PoolEvent]:
        """What has happened since, of one machine in its order; waits until there is something, or for so long. A pool
        that runs trials itself may take longer.

        Raises UserError where a trial can be executed nowhere, and OSError where a disk is full.
        """

    def cancel(self) -> None:
        """End all trials that run, and forget all orders."""

    def close(self) -> None:
        """The same, for good."""
