"""Random moments in a command's life, and signals to the processes that run then."""

import os
import signal
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from random import Random

from commands import PATIENCE_S, POLL_S, Command
from processes import KINDS, by_kind

SIGNS = ("outer lab", "inner lab", "server", "client", "Analysing", "Writing the report")
"""What a moment may wait for: a kind of process, or words that h123 prints."""
CLOSE_S = 0.3
"""The maximum number of seconds after a sign."""


@dataclass(frozen=True)
class Moment:
    """A time in a command's life, counted from its start or from a sign, such as words that it prints."""

    sign: str | None
    after_s: float

    @classmethod
    def drawn(cls, draws: Random, span_s: float) -> "Moment":
        """Draw a moment. `span_s`: how long such a command takes."""
        sign, early, close = draws.choice(SIGNS), draws.uniform(0, span_s), draws.uniform(0, CLOSE_S)
        return cls(None, early) if draws.random() < 0.5 else cls(sign, close)

    def wait(self, command: Command) -> bool:
        """Wait until the moment has come. Return False if the command has ended before."""
        deadline = time.monotonic() + PATIENCE_S
        while self.sign and self.sign not in by_kind() and self.sign not in command.said:
            if command.ended or time.monotonic() > deadline:
                return False
            time.sleep(POLL_S)
        time.sleep(self.after_s)
        return not command.ended

    def __str__(self) -> str:
        return f"{self.after_s:.3f} s after {self.sign or 'the start'}"


@dataclass(frozen=True)
class Target:
    """The processes to which a signal goes: all processes of a command, or one process. `order` lists kinds of
    processes; the first kind that is running provides the process."""

    order: tuple[str, ...] | None
    which: float
    """If several processes of a kind run, the place of the chosen one in their list, as a share from 0 to 1."""

    @classmethod
    def drawn(cls, draws: Random) -> "Target":
        order, everything, which = draws.sample(KINDS, len(KINDS)), draws.random() < 0.1, draws.random()
        return cls(None if everything else tuple(order), which)

    def find(self) -> tuple[str, list[int]]:
        """Return the kind and its processes, which are none if nothing runs."""
        found = by_kind()
        if self.order is None:
            return "all", [pid for pids in found.values() for pid in pids]
        kind = next((kind for kind in self.order if kind in found), "nothing")
        pids = found.get(kind, [])
        return kind, pids[int(self.which * len(pids)) :][:1]


@dataclass(frozen=True)
class Blow:
    """A signal that will be sent."""

    moment: Moment
    target: Target
    signal: signal.Signals

    @classmethod
    def drawn(cls, draws: Random, span_s: float) -> "Blow":
        """Draw a signal. `span_s`: how long the command takes."""
        signals = [signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT]
        return cls(Moment.drawn(draws, span_s), Target.drawn(draws), draws.choice(signals))

    def strike(self, command: Command) -> str:
        """Send the signal at its moment, and describe what happened."""
        if not self.moment.wait(command):
            return f"{self.signal.name} too late ({self.moment})"
        kind, pids = self.target.find()
        send(command, pids, self.signal)
        return f"{self.signal.name} to {kind}, {self.moment}"


@dataclass(frozen=True)
class Pause:
    """A pause in which processes are stopped, so that they see their clocks jump."""

    moment: Moment
    target: Target
    seconds: float

    @classmethod
    def drawn(cls, draws: Random, span_s: float) -> "Pause":
        """Draw a pause. `span_s`: how long the command takes."""
        return cls(Moment.drawn(draws, span_s), Target.drawn(draws), draws.choice([0.02, 0.2, 1.5]) * draws.random())

    def make(self, command: Command) -> str:
        """Stop the processes at the pause's moment and continue them, and describe what happened."""
        if not self.moment.wait(command):
            return f"pause too late ({self.moment})"
        kind, pids = self.target.find()
        send(command, pids, signal.SIGSTOP)
        time.sleep(self.seconds)
        send(command, pids, signal.SIGCONT)
        return f"{kind} paused for {self.seconds:.3f} s, {self.moment}"


def send(command: Command, pids: Sequence[int], sent: signal.Signals) -> None:
    """Send a signal to processes, some of which may have ended meanwhile. Note it in the command if its own process
    gets it."""
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, sent)
        if pid == command.process.pid:
            command.sent.append(sent)
