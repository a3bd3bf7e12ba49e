"""Defines the actor that executes block orders on a node of a Ray cluster.

It receives an order and its archives, and yields events with the archives of finished attempts. Nothing else is sent
through the cluster, so the node needs no shared file system.
"""

import hashlib
import io
import shutil
import socket
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from h123.base.files.scratch import scratch
from h123.execution.block_run import execute
from h123.execution.engine import LocalEngine
from h123.execution.machine import this_machine
from h123.execution.order import BlockOrder
from h123.execution.pool import AttemptDone
from h123.execution.wire import pack, unpack

_BOOT = Path("/proc/sys/kernel/random/boot_id")
_DIGITS = 6


class Node:
    """The actor on one node. To end the actor's trials, the pool kills the actor's process: a lab ends with the thread
    that started it, and Ray runs an actor's methods in the main thread."""

    def __init__(self) -> None:
        import ray

        here = this_machine()
        # Containers of one image share a machine ID, so the host's name and address are part of the machine's name.
        identity = f"{here.name} {socket.gethostname()} {ray.util.get_node_ip_address()}"
        name = f"ray-{hashlib.sha256(identity.encode()).hexdigest()[:_DIGITS]}"
        self._machine = here.model_copy(update={"name": name})
        self._engine = LocalEngine()

    def describe(self) -> tuple[str, str]:
        """Return the machine's facts as JSON, and an identifier of the running kernel. Nodes with the same kernel share
        processors."""
        return self._machine.model_dump_json(), _BOOT.read_text(encoding="ascii").strip()

    def run(self, text: str, archives: Mapping[str, Any]) -> Iterator[tuple[str, bytes | None]]:
        """Execute an order. `archives`: references to packed folders in Ray's object store, by name.

        Yields each event as JSON. The event of a finished attempt comes with its packed folder.
        """
        import ray

        order = BlockOrder.read(text)
        with scratch() as folder:
            roots = {name: folder / "archives" / name for name in order.archives()}
            for name, root in roots.items():
                unpack(io.BytesIO(ray.get(archives[name])), root)
            runs = folder / "run"
            runs.mkdir()
            for event in execute(order, runs, roots, self._machine, self._engine):
                packed = None
                if isinstance(event, AttemptDone):
                    pack(runs / event.archive, file := io.BytesIO())
                    packed = file.getvalue()
                    shutil.rmtree(runs / event.archive)
                yield event.model_dump_json(), packed
