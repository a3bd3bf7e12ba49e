"""The pool of this machine."""

from types import TracebackType
from typing import Self

from h123.execution.engine import Engine, LocalEngine


class LocalPool:
    """This machine, and what executes trials on it. Whatever runs has been ended when it is closed."""

    def __init__(self) -> None:
        self.engine: Engine = LocalEngine()
        """For single trials, such as those of a verification."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End what still runs; nothing of it is left."""
        self.engine.stop()
