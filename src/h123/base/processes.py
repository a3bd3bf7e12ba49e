"""Distributes many similar tasks over one process per processor. Threads would not help, because only one thread at a
time runs Python code."""

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
"""The smallest number of elements per process. With fewer, starting the process takes longer than it saves."""
_AT_ONCE = 30
"""The number of elements that a process gets at a time, few enough that all processes end at about the same time."""


def usable_processors() -> list[int]:
    """Return the kernel's numbers for the processors that this process may use."""
    return sorted(os.sched_getaffinity(0))


def each(work: Callable[[Thing], Result], things: Sequence[Thing]) -> list[Result]:
    """Apply `work` to each element of `things` in worker processes, and return the results in the same order.

    `work`, the elements and the results must be picklable. Any exception that `work` raises is raised here.
    """
    with beginning(work, things) as results:
        return list(results)


@contextmanager
def beginning(work: Callable[[Thing], Result], things: Sequence[Thing]) -> Iterator[Iterator[Result]]:
    """Start `each` in the background, and yield an iterator over its results. The caller can do other work before it
    reads them."""
    processes = min(os.cpu_count() or 1, math.ceil(len(things) / _WORTH_A_PROCESS))
    if processes <= 1:
        yield map(work, things)
        return
    # Forked, because a new interpreter would take a second to import what this one has loaded.
    with ProcessPoolExecutor(processes, get_context("fork"), _begin, (os.getpid(),)) as pool:
        yield pool.map(work, things, chunksize=_AT_ONCE)


def _begin(parent: int) -> None:
    """Prepare a worker process: it ignores interruptions, which its parent handles, and ends when its parent ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    ctypes.CDLL(None).prctl(_SET_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
    # The parent may have ended before the signal was requested.
    if os.getppid() != parent:
        os._exit(1)
