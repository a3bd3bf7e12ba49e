"""Provides the pool of this machine alone."""

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
    """The pool whose only machine is this one. Closing the pool ends everything that is still running.

    Orders run in the caller's thread, while the caller reads their events.
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
        """Create the pool. Orders run in `folder`, preferably on the disk of their campaign, or in the cache if it is
        None. `tls` is the folder for the campaign's certificates."""
        self._engine: Engine = engine or LocalEngine()
        self._folder, self._roots = folder, {"tls": tls} if tls else {}
        self._machine = machine
        self._run: Iterator[PoolEvent] = iter(())
        self._order: Path | None = None
        """The folder of the running order."""
        self._scratch = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def machines(self) -> Sequence[Machine]:
        self._machine = self._machine or this_machine()
        return [self._machine]

    def submit(self, machine: Machine, order: BlockOrder, archives: Mapping[str, Path]) -> None:
        self._folder = self._folder or self._scratch.enter_context(scratch())
        self._order = self._folder / str(order.number)
        shutil.rmtree(self._order, ignore_errors=True)
        self._order.mkdir(parents=True)
        self._run = execute(order, self._order, {**self._roots, **archives}, machine, self._engine)

    def events(self, _timeout_s: float | None = None, /) -> Sequence[PoolEvent]:
        event = next(self._run, None)
        if isinstance(event, BlockDone | MachineLost):
            self.cancel()
        return [event] if event else []

    def archive(self, attempt: AttemptDone) -> Path:
        assert self._order  # an attempt belongs to a running order
        return self._order / attempt.archive

    def cancel(self) -> None:
        self._engine.stop()
        self._run = iter(())
        if self._order:
            shutil.rmtree(self._order, ignore_errors=True)
            self._order = None

    def close(self) -> None:
        self._engine.stop()
        self._run = iter(())
        if self._folder:
            with suppress(OSError):  # keep what a failure left, for inspection
                self._folder.rmdir()
        self._scratch.close()
