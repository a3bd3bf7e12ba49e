"""Defines the exceptions that end a command with a message instead of a traceback."""

from collections.abc import Iterator
from contextlib import contextmanager


class UserError(Exception):
    """An error that the user can fix.

    `message` says what is wrong, and where. `remedy` says how to fix it, if that is known. `status` is the exit status
    of the process: 2 for bad input, 3 for a machine that lacks something, 1 for everything else.
    """

    def __init__(self, message: str, remedy: str | None = None, status: int = 2) -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy
        self.status = status


class Interrupted(Exception):
    """An interruption by the user, raised after the command has printed how to continue."""


_DUCKDB_WORDS = {
    "RuntimeError": "interrupted",
    "InterruptException": "interrupted",
    "InvalidInputException": "KeyboardInterrupt",
    "Error": "KeyboardInterrupt",
}
"""DuckDB handles Ctrl-C itself and raises one of these errors, whose message contains the word given here. The last two
occur while it reads one of h123's tables. Errors are matched by name, so that commands need not load DuckDB."""


@contextmanager
def interruptible() -> Iterator[None]:
    """Turn the errors that DuckDB raises on Ctrl-C into KeyboardInterrupt."""
    try:
        yield
    except Exception as error:
        message = _DUCKDB_WORDS.get(type(error).__name__)
        if message is None or message not in str(error):
            raise
        raise KeyboardInterrupt from error
