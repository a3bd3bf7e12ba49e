"""Lists the processes in a box, and what each of them is to the command that started it."""

import os
from dataclasses import dataclass
from pathlib import Path

KINDS = ("launcher", "tool", "worker", "outer lab", "inner lab", "server", "client")
"""The launcher is a shell or make before h123; the tool is h123 itself; a worker is its fork. The outer lab is a lab's
process outside its namespaces, and the inner lab is the first one inside."""


@dataclass(frozen=True)
class Process:
    """A process that has not ended."""

    pid: int
    parent: int
    words: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.pid} {' '.join(self.words)[:120]}"


def running() -> dict[int, Process]:
    """Return all processes of this box except the first one. Zombies do not count."""
    found = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            state, parent = (entry / "stat").read_text().rpartition(")")[2].split()[:2]
            words = _words(entry)
        except OSError:
            continue
        if int(entry.name) != os.getpid() and state not in "ZX":
            found[int(entry.name)] = Process(int(entry.name), int(parent), words)
    return found


def by_kind() -> dict[str, list[int]]:
    """Return the running processes by kind. Kinds without processes are left out."""
    processes, found = running(), dict[str, list[int]]()
    for process in processes.values():
        found.setdefault(_kind(process, processes.get(process.parent)), []).append(process.pid)
    return found


def _kind(process: Process, parent: Process | None) -> str:
    words = process.words
    if _is_lab(process):
        return "inner lab" if parent and _is_lab(parent) else "outer lab"
    if words[1:2] == ("serve",):
        return "server"
    if words[1:2] == ("drive",):
        return "client"
    if "h123" in words[1:3] or words == _words(Path("/proc/self")):  # the latter in a fork of ours
        return "worker" if parent and parent.words == words else "tool"
    return "launcher"


def _is_lab(process: Process) -> bool:
    return bool(process.words) and process.words[0].endswith("h123-lab")


def _words(entry: Path) -> tuple[str, ...]:
    return tuple((entry / "cmdline").read_bytes().decode(errors="replace").split("\0")[:-1])
