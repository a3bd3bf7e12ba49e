"""A folder that one process at a time works on."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from h123.errors import UserError


@contextmanager
def sole_user(file: Path, what: str) -> Iterator[None]:
    """Raises UserError if another process uses what this file is the heart of. The lock goes with the process."""
    with file.open(encoding="utf-8") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UserError(f"another h123 is running {what}", status=1) from None
        yield
