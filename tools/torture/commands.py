"""Starts h123's commands for a round, and records how they end."""

import fcntl
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import Protocol

from box import PLACE, ROOT
from processes import running

# Loaded once, for all that is called rather than started.
from h123 import analysis, cli, report  # noqa: F401
from h123.base.terminal.streams import make_usable

DISK = PLACE / "disk"
"""The file system with the campaign, the cache and h123's temporary files."""
CAMPAIGN, CACHE, TEMPORARY = DISK / "campaign", DISK / "cache", DISK / "tmp"
STUDY = Path(__file__).with_name("torture.yaml")
PATIENCE_S = 300.0
"""The time within which everything that ends by itself must end, on a machine that also does other work."""

POLL_S = 0.003
_PIPE_BYTES = 1 << 20
_ENVIRONMENT = {
    "PYTHONPATH": str(ROOT / "src"),
    "H123_CACHE": str(CACHE),
    "TMPDIR": str(TEMPORARY),
    "COLUMNS": "200",
}

Limits = Mapping[int, int]
"""A limit by `resource.RLIMIT_...`, for the command and everything that it starts."""


class NeverEnds(Exception):
    """Raised if a command has not ended in time."""


class Started(Protocol):
    """A started process: the common part of `subprocess.Popen` and `_Called`."""

    pid: int

    def poll(self) -> int | None:
        """Return the exit status, or minus the signal that ended it. None while it runs."""


@dataclass
class Command:
    """One run of h123."""

    words: list[str]
    process: Started
    output: int
    """The reading end of a pipe. A limit of the command does not shorten what it writes there."""
    expected: set[int]
    """The exit statuses that are right for it. A signal that was sent to the process may have ended it too."""
    sent: list[int] = field(default_factory=list)
    """The signals that were sent to the process."""
    heard: bytes = b""

    @property
    def ended(self) -> bool:
        return self.process.poll() is not None

    @property
    def said(self) -> str:
        """Everything that it has written so far."""
        with suppress(BlockingIOError):
            while more := os.read(self.output, _PIPE_BYTES):
                self.heard += more
        return self.heard.decode(errors="replace")

    def wait(self) -> int:
        """Wait for the end, and return the exit status. Raises NeverEnds."""
        deadline = time.monotonic() + PATIENCE_S
        while (status := self.process.poll()) is None:
            if time.monotonic() > deadline:
                others = "; ".join(str(process) for process in running().values())
                raise NeverEnds(f"{self} has not ended after {PATIENCE_S:.0f} s; there are: {others}")
            time.sleep(POLL_S)
        return status

    def __str__(self) -> str:
        return "h123 " + " ".join(self.words)


class Commands:
    """The commands of one round, in the order in which they were started."""

    def __init__(self) -> None:
        self.all: list[Command] = []

    def start(
        self,
        *words: str,
        expected: set[int],
        launcher: bool = False,
        limits: Limits | None = None,
        wrapper: Sequence[str] = (),
    ) -> Command:
        """Start h123 in a new process. `launcher`: with ./h123 instead of Python. `wrapper`: the words of a command
        that runs h123."""
        program = [str(ROOT / "h123")] if launcher else [sys.executable, "-m", "h123"]
        reading, writing = _pipe()
        process = subprocess.Popen(
            [*wrapper, *program, *words],
            cwd=DISK,
            env={**os.environ, **_ENVIRONMENT},
            stdin=subprocess.DEVNULL,
            stdout=writing,
            stderr=writing,
            start_new_session=True,
            preexec_fn=_prepare(limits or {}),
        )
        return self._begun(words, process, reading, writing, expected)

    def call(self, *words: str, expected: set[int]) -> Command:
        """Start h123 in a fork of this process, which has loaded it already."""
        reading, writing = _pipe()
        return self._begun(words, _Called(words, writing), reading, writing, expected)

    def _begun(self, words: Sequence[str], process: Started, reading: int, writing: int, expected: set[int]) -> Command:
        os.close(writing)
        self.all.append(Command(list(words), process, reading, expected))
        return self.all[-1]


class _Called:
    """A run of h123 in a fork of this process."""

    def __init__(self, words: Sequence[str], output: int) -> None:
        self._process = get_context("fork").Process(target=_be_tool, args=(words, output))
        self._process.start()
        self.pid = self._process.pid or 0

    def poll(self) -> int | None:
        """Return what `subprocess.Popen.poll` would return."""
        return self._process.exitcode


def _be_tool(words: Sequence[str], output: int) -> None:
    os.setsid()
    _prepare({})()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.chdir(DISK)
    os.environ.update(_ENVIRONMENT)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(output, 1)
    os.dup2(output, 2)
    sys.stdout = sys.stderr = None
    sys.argv = ["h123", *words]
    make_usable()
    cli.main()


def _pipe() -> tuple[int, int]:
    """Return the ends of a pipe that is large enough to be read only at the end."""
    reading, writing = os.pipe()
    fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
    os.set_blocking(reading, False)
    return reading, writing


def _prepare(limits: Limits) -> Callable[[], None]:
    def prepare() -> None:
        for signalled in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(signalled, signal.SIG_DFL)  # whoever started the bench may ignore them
        for limited, most in limits.items():
            resource.setrlimit(limited, (most, most))

    return prepare
