"""A machine that shares nothing with the controller: a process in a mount and a PID namespace of its own, with
processors of its own. It cannot see the campaign; all that it gets and gives goes over one socket.

It gets orders, each with its archives, and gives events, each finished attempt with its archive: JSON and bytes, as
docs/contracts/pool.md has them, and no object of Python's.

`python -m campaign.worker SOCKET` waits for requests and forks a worker for each, because importing takes seconds.
"""

import ctypes
import io
import json
import os
import shutil
import signal
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from multiprocessing.connection import Connection, Listener
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from campaign.scripted import ScriptedEngine
from h123.execution import AttemptDone, BlockOrder, Machine, execute, pack, this_machine, unpack
from h123.execution.engine import Engine, LocalEngine

_NEW_MOUNTS, _NEW_PROCESSES = 0x0002_0000, 0x2000_0000
_PRIVATE, _RECURSIVE = 1 << 18, 1 << 14
_SET_DEATH_SIGNAL = 1


@dataclass(frozen=True)
class Wanted:
    """What a worker is to be."""

    name: str
    hidden: str
    """The folder that has the campaign: the worker has an empty one in its place, and works in it."""
    processors: tuple[int, ...]
    facts: Mapping[str, Any]
    real: bool = False
    """It executes trials; otherwise they end as a script says."""
    late: tuple[str, ...] = ()
    """Trials that are disturbed at their first attempt."""
    takes_s: float = 0.0
    """Each trial."""
    dies: int | None = None
    """How many trials end before its process does, at whatever the engine is asked next."""


WANTED = TypeAdapter(Wanted)


class _Scripted(ScriptedEngine):
    def __init__(self, wanted: Wanted, machine: dict[str, int]) -> None:
        super().__init__(machine=machine, late_ns=lambda t, n: 10**9 if t["id"] in wanted.late and n == 1 else 0)
        self._wanted, self._left = wanted, wanted.dies

    def start(self, folder: Path, roots: Mapping[str, Path]) -> None:
        self._live()
        super().start(folder, roots)

    def noise(self) -> float:
        self._live()
        return super().noise()

    def wait(self) -> Path:
        time.sleep(self._wanted.takes_s)
        self._live()
        self._left = None if self._left is None else self._left - 1
        return super().wait()

    def _live(self) -> None:
        if self._left == 0:
            os._exit(1)


IDLE = {"cpus": 2, "wall_ns": 2_000_000_000, "busy_ns": 200_000_000, "cpu_pressure_ns": 0}


def _serve(wanted: Wanted, link: Connection) -> None:
    """Runs orders as they come."""
    assert list(Path(wanted.hidden).iterdir()) == [], "the campaign is visible"
    os.chdir(wanted.hidden)
    os.sched_setaffinity(0, wanted.processors)
    here = this_machine()
    machine = here.model_copy(update={"name": wanted.name, "facts": {**here.facts, **wanted.facts}})
    engine: Engine = LocalEngine() if wanted.real else _Scripted(wanted, IDLE)
    link.send_bytes(machine.model_dump_json().encode())
    while True:
        order, folder = BlockOrder.read(link.recv_bytes()), Path(wanted.hidden, "order")
        shutil.rmtree(folder, ignore_errors=True)
        archives = {name: folder / "archives" / name for name in order.archives()}
        for archive in archives.values():
            unpack(io.BytesIO(link.recv_bytes()), archive)
        (folder / "run").mkdir(parents=True)
        _run(order, folder / "run", archives, machine, engine, link)


def _run(
    order: BlockOrder, folder: Path, archives: Mapping[str, Path], machine: Machine, engine: Engine, link: Connection
) -> None:
    for event in execute(order, folder, archives, machine, engine):
        link.send_bytes(event.model_dump_json().encode())
        if isinstance(event, AttemptDone):
            packed = io.BytesIO()
            pack(folder / event.archive, packed)
            link.send_bytes(packed.getvalue())
            shutil.rmtree(folder / event.archive)


def _confined(wanted: Wanted, link: Connection) -> None:
    """In namespaces of its own; its first process ends with this one, and all others with that."""
    libc = ctypes.CDLL(None, use_errno=True)

    def call(status: int) -> None:
        if status:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))

    libc.prctl(_SET_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
    call(libc.unshare(_NEW_MOUNTS | _NEW_PROCESSES))
    named, name = os.pipe()
    if inside := os.fork():
        link.send_bytes(json.dumps(inside).encode())
        link.close()
        os.write(name, b"!")
        os.waitpid(inside, 0)
        return
    libc.prctl(_SET_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
    os.read(named, 1)
    call(libc.mount(b"none", b"/", None, _PRIVATE | _RECURSIVE, None))
    call(libc.mount(b"none", wanted.hidden.encode(), b"tmpfs", 0, None))
    call(libc.mount(b"none", b"/proc", b"proc", 0, None))
    _serve(wanted, link)


def main(address: str) -> None:
    """Forks workers until its parent has gone."""
    ctypes.CDLL(None).prctl(_SET_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with Listener(address) as listener:
        print(json.dumps(address), flush=True)
        while True:
            link = listener.accept()
            wanted = WANTED.validate_json(link.recv_bytes())
            if not os.fork():
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                try:
                    _confined(wanted, link)
                except (EOFError, ConnectionError):
                    os._exit(0)
                finally:
                    os._exit(1)
            link.close()


if __name__ == "__main__":
    main(sys.argv[1])
