"""The controller's side of workers (worker.py): a pool of them."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from multiprocessing import connection
from multiprocessing.connection import Client, Connection
from pathlib import Path

from campaign.worker import Wanted, pack, unpack
from h123.base.files.durable import sync_tree
from h123.base.paths import project_root
from h123.campaign import Campaign
from h123.execution import AttemptDone, BlockOrder, Machine, MachineLost, PoolEvent

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

    def __init__(self, forge: str, campaign: Campaign, wanted: Sequence[Wanted]) -> None:
        self._folder = campaign.folder
        self._workers = dict[str, _Worker]()
        links = [Client(forge) for _ in wanted]
        for link, one in zip(links, wanted, strict=True):
            link.send(one)
        for link in links:
            pid, machine = link.recv(), link.recv()
            self._workers[machine.name] = _Worker(machine, link, pid)
        self._machines = [worker.machine for worker in self._workers.values()]

    def machines(self) -> Sequence[Machine]:
        return self._machines

    def submit(self, machine: Machine, order: BlockOrder) -> None:
        archives = {name: pack(self._folder.roots[name]) for name in order.roots}
        with contextlib.suppress(ConnectionError):  # the end of its process is the next thing that is heard
            self._workers[machine.name].link.send((order.model_dump_json(), archives))

    def events(self, timeout_s: float | None = None, /) -> Sequence[PoolEvent]:
        found = []
        by_link = {worker.link: worker for worker in self._workers.values()}
        for link in connection.wait(list(by_link), timeout_s):
            assert isinstance(link, Connection)
            try:
                event, archive = link.recv()
            except (EOFError, OSError):
                event, archive = MachineLost(by_link[link].machine.name, "its power failed"), None
            if isinstance(event, Exception):
                raise event
            if isinstance(event, MachineLost):
                self._end(event.machine)
            if isinstance(event, AttemptDone):
                shutil.rmtree(folder := self._folder.arrivals / event.machine, ignore_errors=True)
                unpack(archive, folder)
                sync_tree(folder)
                event = replace(event, archive=folder)
            found.append(event)
        return found

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
        shutil.rmtree(self._folder.arrivals, ignore_errors=True)

    def _end(self, name: str) -> None:
        self.kill(name)
        self._workers.pop(name).link.close()
