"""The pool of this machine."""

import contextlib
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from h123.base.errors import UserError
from h123.execution.block_run import BlockRun
from h123.execution.engine import Engine, LocalEngine
from h123.execution.machine import Machine, UnfitMachine, this_machine
from h123.execution.order import BlockOrder
from h123.execution.pool import BlockDone, MachineLost, PoolEvent


class LocalPool:
    """This machine, and what executes trials on it. Whatever runs has been ended when it is closed.

    Orders run while their events are asked for, in the same thread.
    """

    def __init__(
        self,
        folder: Path | None = None,
        roots: Mapping[str, Path] | None = None,
        *,
        engine: Engine | None = None,
        machine: Machine | None = None,
    ) -> None:
        """`folder`: where orders run, on the disk of their campaign; `roots`: what only this campaign's trials need, by
        the names that their files use. Who submits no orders leaves out both."""
        self.engine: Engine = engine or LocalEngine()
        """For single trials, such as those of a verification."""
        self._folder, self._roots = folder, roots or {}
        self._machine = machine
        self._run: Iterator[PoolEvent] = iter(())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def machines(self) -> Sequence[Machine]:
        """This one alone."""
        self._machine = self._machine or this_machine()
        return [self._machine]

    def submit(self, machine: Machine, order: BlockOrder) -> None:
        """Have an order run (see `Pool`)."""
        if self._folder is None:
            raise UserError("this pool has no folder in which orders run")
        self._run = self._events_of(order, machine, self._folder / str(order.number))

    def events(self, _timeout_s: float | None = None, /) -> Sequence[PoolEvent]:
        """The next thing that happens; nothing where no order runs (see `Pool`)."""
        return [event for event in [next(self._run, None)] if event]

    def cancel(self) -> None:
        """End what runs; nothing of it is left."""
        self.engine.stop()
        self._run = iter(())

    def close(self) -> None:
        """The same, for good."""
        self.cancel()
        if self._folder is not None:
            with contextlib.suppress(OSError):  # what a failure left is there to be looked at
                self._folder.rmdir()

    def _events_of(self, order: BlockOrder, machine: Machine, folder: Path) -> Iterator[PoolEvent]:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        try:
            for event in BlockRun(order, folder, self._roots, machine, self.engine).events():
                if isinstance(event, BlockDone):
                    shutil.rmtree(folder)
                yield event
        except UnfitMachine as unfit:
            self.engine.stop()
            shutil.rmtree(folder)
            yield MachineLost(machine.name, unfit.message, unfit.remedy)
