"""The controller's side of workers (worker.py): a pool of them."""

import contextlib
import io
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from multiprocessing import connection
from multiprocessing.connection import Client, Connection
from pathlib import Path

from campaign.worker import WANTED, Wanted
from h123.base.files.durable import sync_tree
from h123.base.paths import project_root
from h123.execution import (
    AttemptDone,
    BlockOrder,
    Machine,
    MachineJoined,
    MachineLost,
    PoolEvent,
    pack,
    read_event,
    unpack,
)

ROOT = project_root()


@contextlib.contextmanager
def forge(folder: Path) -> Iterator[str]:
    """What makes workers; its address. They end with it."""
    command = [sys.executable, "-m", "campaign.worker", str(folder / "forge")]
    paths = os.pathsep.join(str(ROOT / name) for name in ("src", "tests"))
    environment = {**os.environ, "PYTHONPATH": paths}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE) as process:
        assert process.stdout
        process.stdout.readline()
        try:
            yield str(folder / "forge")
        finally:
            process.kill()


@dataclass
class _Worker:
    machine: Machine
    link: Connection
    pid: int


class Workers:
    """Machines that share nothing with this process."""

    grows = False

    def __init__(self, forge: str, arrivals: Path, wanted: Sequence[Wanted]) -> None:
        """`arrivals`: where attempts come to be fetched, on the disk of their campaign."""
        self._forge, self._arrivals = forge, arrivals
        self._workers = dict[str, _Worker]()
        self.orders, self.happened = list[str](), list[str]()
        """All that was sent and all that was heard, but for archives."""
        self._machines = self._make(wanted)

    def _make(self, wanted: Sequence[Wanted]) -> list[Machine]:
        links = [Client(self._forge) for _ in wanted]
        for link, one in zip(links, wanted, strict=True):
            link.send_bytes(WANTED.dump_json(one))
        made = list[Machine]()
        for link in links:
            pid, machine = json.loads(link.recv_bytes()), Machine.model_validate_json(link.recv_bytes())
            self._workers[machine.name] = _Worker(machine, link, pid)
            made.append(machine)
        return made

    def machines(self) -> Sequence[Machine]:
        return self._machines

    def submit(self, machine: Machine, order: BlockOrder, archives: Mapping[str, Path]) -> None:
        self.orders.append(order.portable())
        link = self._workers[machine.name].link
        with contextlib.suppress(ConnectionError):  # the end of its process is the next thing that is heard
            link.send_bytes(self.orders[-1].encode())
            for name in order.archives():
                link.send_bytes(_packed(archives[name]))

    def events(self, timeout_s: float | None = None, /) -> Sequence[PoolEvent]:
        by_link = {worker.link: worker for worker in self._workers.values()}
        if not by_link:
            return []
        happened = [self._event(by_link[link]) for link in connection.wait(list(by_link), timeout_s)]  # type: ignore[index]
        for event in happened:
            if isinstance(event, MachineLost):
                self._end(event.machine)
        return happened

    def _event(self, worker: _Worker) -> PoolEvent:
        """The next one of a worker; its end, where there is none or it is not whole."""
        try:
            text = worker.link.recv_bytes()
            event = read_event(text)
            if isinstance(event, AttemptDone):
                shutil.rmtree(folder := self._arrivals / event.machine / event.archive, ignore_errors=True)
                unpack(io.BytesIO(worker.link.recv_bytes()), folder)
                sync_tree(folder)
        except (EOFError, OSError):
            return MachineLost(machine=worker.machine.name, why="its power failed")
        self.happened.append(text.decode())
        assert event.machine == worker.machine.name
        return event

    def archive(self, done: AttemptDone) -> Path:
        return self._arrivals / done.machine / done.archive

    def kill(self, name: str) -> None:
        """Its first process, and with it all others."""
        if worker := self._workers.get(name):
            with contextlib.suppress(ProcessLookupError):
                os.kill(worker.pid, signal.SIGKILL)

    def cancel(self) -> None:
        for name in list(self._workers):
            self._end(name)

    def close(self) -> None:
        self.cancel()
        shutil.rmtree(self._arrivals, ignore_errors=True)

    def _end(self, name: str) -> None:
        self.kill(name)
        self._workers.pop(name).link.close()


class GrowingWorkers(Workers):
    """Machines of which some come later."""

    grows = True

    def __init__(self, forge: str, arrivals: Path, wanted: Sequence[Wanted], later: Mapping[int, Wanted]) -> None:
        """`later`: those that come, by the number of attempts that have ended before. One that is there already has to
        be lost first."""
        super().__init__(forge, arrivals, wanted)
        self._later = dict(later)

    def events(self, timeout_s: float | None = None, /) -> Sequence[PoolEvent]:
        ended = sum('"attempt-done"' in text for text in self.happened)
        if due := [n for n, one in self._later.items() if n <= ended and one.name not in self._workers]:
            (machine,) = self._make([self._later.pop(due[0])])
            return [MachineJoined(machine=machine.name, joined=machine)]
        return super().events(timeout_s)


def _packed(folder: Path) -> bytes:
    packed = io.BytesIO()
    pack(folder, packed)
    return packed.getvalue()
