"""Shows the steps of a long task: one line each, with the current progress below."""

import time

from rich.console import Console
from rich.status import Status
from rich.text import Text

from h123.base.terminal.console import with_commands
from h123.base.units import format_span

QUIET_S = 30.0
"""Seconds between two lines about the same step, if there is no terminal that can redraw a line."""


class Steps:
    """A context manager that prints the steps of a task, and shows the progress of the current one."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._status = Status("", console=console) if console.is_terminal else None
        self._started_at = self._printed_at = time.monotonic()

    def __enter__(self) -> "Steps":
        if self._status:
            self._status.start()
        return self

    def __exit__(self, *exc: object) -> None:
        if self._status:
            self._status.stop()

    def begin(self, text: str) -> None:
        self._started_at = self._printed_at = time.monotonic()
        self._console.print(with_commands(text), soft_wrap=True)
        if self._status:
            self._status.update("")

    def move(self, text: str) -> None:
        now = time.monotonic()
        line = f"  {text}, {format_span(now - self._started_at)}"
        if self._status:
            self._status.update(Text(line))
        elif now - self._printed_at >= QUIET_S:
            self._printed_at = now
            self._console.print(line, soft_wrap=True)
