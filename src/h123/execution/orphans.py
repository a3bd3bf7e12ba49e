"""What a killed process leaves: its children, which the kernel ends in a moment, but not before it ends itself.

A lab that is killed takes its enclosure along, whose processes may still write into the trial's folder by then. So they
become our children (prctl(2), PR_SET_CHILD_SUBREAPER), and we wait for them: the enclosure's first process has ended
only when all others of it have (pid_namespaces(7)).
"""

import contextlib
import ctypes
import os
from collections.abc import Collection, Iterator
from pathlib import Path

_SET_CHILD_SUBREAPER = 36
_NAME = 15
"""Characters that the kernel keeps of a program's name."""


def adopt_orphans() -> None:
    """From now on, descendants of ours whose parent ends are our children."""
    ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def wait_for_orphans(program: str, others: Collection[int]) -> None:
    """Until no child of that name is left but the `others`, whom somebody else waits for."""
    for child in _children(program[:_NAME]):
        if child not in others:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(child, 0)


def _children(name: str) -> Iterator[int]:
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            # The name, in parentheses, may hold anything; state and parent follow it.
            before, _, after = entry.read_text(encoding="utf-8", errors="replace").rpartition(")")
            if before.partition("(")[2] == name and int(after.split()[1]) == os.getpid():
                yield int(entry.parent.name)
