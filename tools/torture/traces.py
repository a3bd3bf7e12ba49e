"""Finds what a round leaves on the machine, which must be nothing. In a box, everything new comes from this round."""

import os
import time
from dataclasses import dataclass
from pathlib import Path

from commands import CACHE, DISK, TEMPORARY
from processes import running

EXPLAINED = CACHE / "explained"
PATIENCE_S = 60.0
"""The time that the kernel may take to remove namespaces."""


@dataclass(frozen=True)
class Traces:
    """What exists on the machine at a moment."""

    kinds: dict[str, frozenset[str]]

    @classmethod
    def now(cls) -> "Traces":
        """Return what exists in this box now."""
        found = {
            "processes": {str(process) for process in running().values()},
            "devices": {line.split(":")[0].strip() for line in _lines("/proc/self/net/dev")[2:]},
            # Namespaces without processes are held by mounts alone, as `ip netns` does it.
            "mounts": {line.split(" ", 4)[4] for line in _lines("/proc/self/mountinfo") if f" {DISK} " not in line},
            "shared memory": {*_names(Path("/dev/shm")), *_lines("/proc/sysvipc/shm")[1:]},
            "semaphores and queues": {*_lines("/proc/sysvipc/sem")[1:], *_lines("/proc/sysvipc/msg")[1:]},
            "files in /tmp": {*_names(Path("/tmp")), *_names(TEMPORARY)},
            "files in the cache": {name for name in _names(CACHE) if not _kept(Path(name))},
        }
        return cls({kind: frozenset(names) for kind, names in found.items()})

    def left(self) -> dict[str, list[str]]:
        """Return what exists beyond these traces, after the kernel has had time to clean up. Empty if all is well."""
        deadline = time.monotonic() + PATIENCE_S
        while found := self._beyond(Traces.now()):
            if time.monotonic() > deadline:
                return found
            time.sleep(0.02)
        return {}

    def _beyond(self, now: "Traces") -> dict[str, list[str]]:
        beyond = {kind: sorted(names - self.kinds[kind]) for kind, names in now.kinds.items()}
        return {kind: names for kind, names in beyond.items() if names}


def _kept(path: Path) -> bool:
    """Return whether the cache is meant to keep the file: a lock, or the causes found in the round's campaign."""
    return path.suffix == ".lock" or path == EXPLAINED or path.parent == EXPLAINED


def _lines(path: str) -> list[str]:
    return Path(path).read_text(encoding="utf-8").splitlines()


def _names(folder: Path) -> list[str]:
    """Return the paths of everything below a folder, except what is mounted there."""
    found = []
    for root, folders, files in os.walk(folder):
        found += [str(Path(root, name)) for name in (*folders, *files)]
        folders[:] = [name for name in folders if not Path(root, name).is_mount()]
    return found
