"""The pool of this machine."""

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from h123.base.files.scratch import scratch
from h123.execution.block_run import execute
from h123.execution.engine import Engine, LocalEngine
from h123.execution.machine import Machine, this_machine
from h123.execution.order import BlockOrder
from h123.execution.pool import AttemptDone, BlockDone, MachineLost, PoolEvent


class LocalPool:
    """The pool of this machine. Closing it ends whatever still runs.

    Orders run in the caller's thread, while it reads their events.
    """

    grows = False

    def __init__(
        self,
        folder: Path | None = None,
        tls: Path | None = None,
        *,
        engine: Engine | None = None,
        machine: Machine | None = None,
    ) -> None:
        """`folder`: where orders run, best on the disk of their campaign; None: in the cache. `tls`: where the
        campaign's certificates are, or come."""
        self._engine: Engine = engine or LocalEngine()
        self._folder, self._roots = folder, {"tls": tls} if tls else {}
        self._machine = machine
        self._run: Iterator[PoolEvent] = iter(())
        self._order: Path | None = None
        """The folder of the order that runs."""
        self._scratch = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def machines(self) -> Sequence[Machine]:
        """Only this machine."""
        self._machine = self._machine or this_machine()
        return [self._machine]

    def submit(self, machine: Machine, order: BlockOrder, archives: Mapping[str, Path]) -> None:
        """Have an order run (see `Pool`)."""
        self._folder = self._folder or self._scratch.enter_context(scratch())
        self._order = self._folder / str(order.number)
        shutil.rmtree(self._order, ignore_errors=True)
        self._order.mkdir(parents=True)
        self._run = execute(order, self._order, {**self._roots, **archives}, machine, self._engine)

    def events(self, _timeout_s: float | None = None, /) -> Sequence[PoolEvent]:
        """The next event; none if no order runs (see `Pool`)."""
        event = next(self._run, None)
        if isinstance(event, BlockDone | MachineLost):
            self.cancel()
        return [event] if event else []

    def archive(self, attempt: AttemptDone) -> Path:
        """The folder of an attempt (see `Pool`)."""
        assert self._order  # an attempt is of an order that runs
        return self._order / attempt.archive

    def cancel(self) -> None:
        """End what is running; nothing of it remains."""
        self._engine.stop()
        self._run = iter(())
        if self._order:
            shutil.rmtree(self._order, ignore_errors=True)
            self._order = None

    def close(self) -> None:
        """The same, permanently."""
        self._engine.stop()
        self._run = iter(())
        if self._folder:
            with suppress(OSError):  # what a failure left is there to be looked at
                self._folder.rmdir()
        self._scratch.close()
