"""Provides the campaign's side of a Ray cluster: one actor for each node. Nodes may come and go."""

import io
import os
import shutil
import signal
import tarfile
import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from h123.base.errors import UserError
from h123.base.files.durable import sync_tree
from h123.execution.machine import Machine
from h123.execution.order import BlockOrder
from h123.execution.pool import AttemptDone, MachineJoined, MachineLost, PoolEvent, read_event
from h123.execution.wire import pack, unpack

RESOURCE = "h123"
"""The resource that each node offers once, so that no two actors share a node: `ray start --resources '{"h123":
1}'`."""
_MOST_ACTORS = 1000
_FIRST_S = 300.0
"""The time limit in seconds for the first node to join. An autoscaler may have to boot a machine."""
_OTHERS_S = 30.0
"""The time limit in seconds for existing nodes to load h123."""
_RETURN_S = 60.0
"""The seconds for which a campaign without any machine waits for one."""
_MOST_FAILURES = 3
"""The number of actors that fail to start in a row after which no more are started."""
_MOST_LOSSES = 3
"""The number of losses after which a machine gets no more orders."""


@dataclass(eq=False)
class _Actor:
    handle: Any
    awaited: Any
    """The reference that `ray.wait` waits for: the actor's description, then the events of its order. None if the actor
    is idle."""
    machine: Machine | None = None
    """The actor's machine. None until the actor is placed on a node."""


class RayPool:
    """The nodes of a Ray cluster that offer the resource `h123`.

    There is one actor for each block, up to a limit. Actors without a node wait; an autoscaler sees them and adds
    nodes. If a node dies, its trials are lost, and a new actor waits for another node.
    """

    grows = True

    def __init__(self, folder: Path, address: str | None, *, blocks: int, wall: bool) -> None:
        """Connect to the cluster at `address`. If it is None, use the address in RAY_ADDRESS, or else this machine as
        the only node.

        Attempts arrive in `folder`, on the campaign's disk. `blocks` is the largest useful number of nodes. With
        `wall`, trials run in real time, so nodes that share processors are not used together. Raises UserError if Ray
        is missing, or if no cluster responds.
        """
        self._folder, self._wall = folder, wall
        self._ray = _connect(address)
        from h123.execution.ray_cluster.node import Node

        self._class = self._ray.remote(max_restarts=0, num_cpus=0, resources={RESOURCE: 1})(Node)
        self._wanted = max(1, min(blocks, _MOST_ACTORS))
        self._actors: list[_Actor] = []
        self._boots: dict[str, str] = {}
        """The machine that uses a kernel's processors, by the kernel's boot ID."""
        self._losses: Counter[str] = Counter()
        self._archives: dict[str, Any] = {}
        """References to archives in the object store, by digest."""
        self._failures = list[str]()
        """The reasons why actors failed to start, since the last one that started."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def machines(self) -> Sequence[Machine]:
        """Return the machines that are present; wait for the first one. Raises UserError if none comes."""
        self._fill()
        until = time.monotonic() + _FIRST_S
        while not self._placed():
            if self._hopeless:
                raise UserError(f"no node of the cluster can run h123: {self._failures[-1]}", _INSTALL, status=3)
            if time.monotonic() > until:
                raise UserError(f"no node of the cluster offers the resource {RESOURCE}", remedy=_START, status=3)
            self._wait(1.0)
        until = time.monotonic() + _OTHERS_S
        while len(self._placed()) < min(self._offered(), self._wanted) and time.monotonic() < until:
            self._wait(1.0)
        return [actor.machine for actor in self._placed() if actor.machine]

    def submit(self, machine: Machine, order: BlockOrder, archives: Mapping[str, Path]) -> None:
        actor = next(a for a in self._placed() if a.machine and a.machine.name == machine.name)
        references = {name: self._reference(digest, archives[name]) for name, digest in order.archives().items()}
        actor.awaited = actor.handle.run.options(num_returns="streaming").remote(order.portable(), references)

    def events(self, timeout_s: float | None = None, /) -> Sequence[PoolEvent]:
        if timeout_s is not None:
            return self._wait(timeout_s)
        until = time.monotonic() + _RETURN_S
        while not (happened := self._wait(1.0)):
            if not self._placed() and time.monotonic() > until:
                return []
        return happened

    def archive(self, done: AttemptDone) -> Path:
        return self._folder / done.machine / done.archive

    def cancel(self) -> None:
        for actor in self._actors:
            self._ray.kill(actor.handle)
        self._actors.clear()
        self._boots.clear()

    def close(self) -> None:
        self.cancel()
        self._ray.shutdown()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _placed(self) -> list[_Actor]:
        return [actor for actor in self._actors if actor.machine]

    def _offered(self) -> int:
        return int(self._ray.cluster_resources().get(RESOURCE, 0))

    def _fill(self) -> None:
        """Start as many actors as are useful, or none if they cannot start."""
        while len(self._actors) < self._wanted and not self._hopeless:
            handle = self._class.remote()
            self._actors.append(_Actor(handle, handle.describe.remote()))

    @property
    def _hopeless(self) -> bool:
        return len(self._failures) >= _MOST_FAILURES

    def _reference(self, digest: str, folder: Path) -> Any:
        if digest not in self._archives:
            pack(folder, file := io.BytesIO())
            self._archives[digest] = self._ray.put(file.getvalue())
        return self._archives[digest]

    def _wait(self, timeout_s: float) -> list[PoolEvent]:
        by_awaited = {id(actor.awaited): actor for actor in self._actors if actor.awaited is not None}
        if not by_awaited:
            time.sleep(timeout_s)
            return []
        ready, _ = self._ray.wait([actor.awaited for actor in by_awaited.values()], timeout=timeout_s)
        happened = list[PoolEvent]()
        for awaited in ready:
            actor = by_awaited[id(awaited)]
            happened += self._event(actor) if actor.machine else self._join(actor)
        return happened

    def _join(self, actor: _Actor) -> list[PoolEvent]:
        """Handle an actor that has been placed on a node, or has failed to start there."""
        try:
            text, boot = self._ray.get(actor.awaited)
        except self._ray.exceptions.RayError as error:
            self._failures.append(_first_line(error))
            self._actors.remove(actor)
            self._fill()
            return []
        self._failures.clear()
        machine = Machine.model_validate_json(text)
        actor.awaited = None
        taken = self._wall and self._boots.get(boot, machine.name) != machine.name
        if taken or self._losses[machine.name] >= _MOST_LOSSES:
            return []  # the idle actor keeps its node, so that no other actor starts there
        self._boots[boot] = machine.name
        actor.machine = machine
        return [MachineJoined(machine=machine.name, joined=machine)]

    def _event(self, actor: _Actor) -> list[PoolEvent]:
        """Return the next event of an actor's order, or the actor's loss if the event is incomplete."""
        assert actor.machine
        name = actor.machine.name
        try:
            text, packed = self._ray.get(next(actor.awaited))
            event = read_event(text)
            if event.machine != name:
                raise ValueError(f"an event of {event.machine} came from {name}")
            if isinstance(event, AttemptDone):
                arrival = self._folder / name / event.archive
                shutil.rmtree(arrival, ignore_errors=True)
                unpack(io.BytesIO(packed), arrival)
                sync_tree(arrival)
        except StopIteration:
            actor.awaited = None
            return []
        except (self._ray.exceptions.RayError, ValueError, TypeError, tarfile.TarError) as error:
            return self._lose(actor, _first_line(error))
        if isinstance(event, MachineLost):
            return self._lose(actor, event.why, event.remedy)
        return [event]

    def _lose(self, actor: _Actor, why: str, remedy: str | None = None) -> list[PoolEvent]:
        """Remove a lost actor, start a new one that waits for a node, and return the event of the loss."""
        assert actor.machine
        name = actor.machine.name
        self._ray.kill(actor.handle)
        self._actors.remove(actor)
        self._losses[name] += 1
        self._boots = {boot: user for boot, user in self._boots.items() if user != name}
        self._fill()
        return [MachineLost(machine=name, why=why, remedy=remedy)]


_INSTALL = "install h123 on every node, in the same version as here: pip install 'h123[ray,virtual]'"
_START = f"start nodes with `ray start --address=HEAD:6379 --resources='{{\"{RESOURCE}\": 1}}'` (docs/cluster.md)"


def _connect(address: str | None) -> Any:
    try:
        import ray
    except ImportError:
        raise UserError("--engine ray needs Ray", remedy="pip install 'h123[ray]'", status=3) from None
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    address = address or os.environ.get("RAY_ADDRESS")
    if address and address.startswith("ray://"):
        raise UserError(
            f"{address} is an address for Ray's client, which h123 does not use",
            remedy="run h123 on a node of the cluster, with --address auto or HEAD:6379",
        )
    quiet = {"log_to_driver": False, "configure_logging": False, "include_dashboard": False}
    handler = signal.getsignal(signal.SIGTERM)
    try:
        if address:
            ray.init(address=address, log_to_driver=False, configure_logging=False)
        else:
            ray.init(address="local", resources={RESOURCE: 1}, **quiet)
    except (ConnectionError, RuntimeError, ValueError, OSError) as error:
        raise UserError(
            f"no Ray cluster answers at {address or 'this machine'}: {_first_line(error)}", _START, status=3
        ) from None
    if threading.current_thread() is threading.main_thread():
        # Ray replaces the handler by one that ends the process at once.
        signal.signal(signal.SIGTERM, handler)
    return ray


def _first_line(error: BaseException) -> str:
    """Shorten an error of Ray to one line, because its messages fill a page."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[-1] if lines else 'no message'}"[:300]
