"""The exceptions that end a command with a message instead of a traceback."""

from collections.abc import Iterator
from contextlib import contextmanager


class UserError(Exception):
    """Something the person at the keyboard can mend.

    `message` says what is wrong and where; `remedy`, if any, what to do about it. `status` is the process's exit
    status: 2 for bad input, 3 for a machine that lacks something, 1 for the rest.
    """

    def __init__(self, message: str, remedy: str | None = None, status: int = 2) -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy
        self.status = status


class Interrupted(Exception):
    """By whoever was watching, who has been told how to go on."""


_DUCKDB_WORDS = {
    "RuntimeError": "interrupted",
    "InterruptException": "interrupted",
    "InvalidInputException": "KeyboardInterrupt",
}
"""DuckDB takes Ctrl-C for itself and raises one of these errors with these words; the last while it reads a table of
ours. They are named, so that no command loads DuckDB only to catch them."""


@contextmanager
def interruptible() -> Iterator[None]:
    """Ctrl-C while DuckDB computes becomes KeyboardInterrupt, as anywhere else."""
    try:
        yield
    except Exception as error:
        message = _DUCKDB_WORDS.get(type(error).__name__)
        if message is None or message not in str(error):
            raise
        raise KeyboardInterrupt from error
