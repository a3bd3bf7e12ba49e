"""Locks a folder, so that only one process at a time uses it."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from h123.base.errors import UserError


@contextmanager
def sole_user(folder: Path, what: str) -> Iterator[None]:
    """Lock a folder for the duration of the context. If another process has locked it, raises UserError, whose message
    says that another h123 is running `what`. When a process ends, the kernel releases its lock.

    The lock is on the folder itself. A lock on a file in the folder would be lost if the file were replaced.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UserError(
                f"another h123 is running {what}", remedy="wait until it has ended, or stop it", status=1
            ) from None
        yield
    finally:
        os.close(descriptor)
