"""Spreads the same work on many things over one process per processor: threads would take turns at one interpreter,
which is what is busy while thousands of small files are read."""

import ctypes
import math
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from typing import TypeVar

Thing = TypeVar("Thing")
Result = TypeVar("Result")

_SET_DEATH_SIGNAL = 1
_WORTH_A_PROCESS = 100
"""Things to work on: with fewer for each, starting processes would take longer than they save."""
_AT_ONCE = 30
"""Things that a process is given at a time: few enough that all end together."""


def usable_processors() -> list[int]:
    """The processors that this process may use, by the kernel's numbers."""
    return sorted(os.sched_getaffinity(0))


def each(work: Callable[[Thing], Result], things: Sequence[Thing]) -> list[Result]:
    """Apply `work` to each thing in worker processes; results come in the order of the things.

    `work`, the things and the results must be picklable. Raises what `work` raises.
    """
    with beginning(work, things) as results:
        return list(results)


@contextmanager
def beginning(work: Callable[[Thing], Result], things: Sequence[Thing]) -> Iterator[Iterator[Result]]:
    """Like `each`, but returns at once, so that the caller can do other work before it reads the results."""
    processes = min(os.cpu_count() or 1, math.ceil(len(things) / _WORTH_A_PROCESS))
    if processes <= 1:
        yield map(work, things)
        return
    # Forked, since a new interpreter imports for a second what this one has.
    with ProcessPoolExecutor(processes, get_context("fork"), _begin, (os.getpid(),)) as pool:
        yield pool.map(work, things, chunksize=_AT_ONCE)


def _begin(parent: int) -> None:
    """An interruption is for the process that waits for this one, and the end of that one is this one's, too."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    ctypes.CDLL(None).prctl(_SET_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
    # It may have ended before the signal was asked for.
    if os.getppid() != parent:
        os._exit(1)
