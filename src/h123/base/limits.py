"""Checks the resource limits of the process before a campaign begins, so that the campaign does not fail halfway.

This module and what it imports use only the standard library, because larger libraries may fail to import if a limit is
low.
"""

import errno
import os
import resource
import threading

from h123.base.errors import UserError

_GIB = 1 << 30
ADDRESS_SPACE = 96 * _GIB
"""The smallest sufficient address space, in bytes. V8, which draws the figures, reserves 64 GiB but uses little of it,
and aborts if the limit is lower."""
DESCRIPTORS = 64
THREADS = 20
"""The largest number of threads that a command starts. Libraries start threads for columns, files and pictures, and
some libraries wait forever for a thread that they cannot start."""
FULL = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk quota is used up",
    errno.EFBIG: "files may not grow any larger (`ulimit -f`)",
}
"""Descriptions, by error number, of the errors that occur if a file cannot grow."""


def check_limits() -> None:
    """Raise UserError if this process has too few resources to run any command."""
    space, _ = resource.getrlimit(resource.RLIMIT_AS)
    if 0 <= space < ADDRESS_SPACE:
        raise UserError(
            f"this shell allows a process {space / _GIB:.1f} GiB of address space (`ulimit -v`). h123 needs "
            f"{ADDRESS_SPACE // _GIB} GiB, most of which its libraries only reserve",
            remedy="run `ulimit -v unlimited` first, or use a shell without that limit",
            status=3,
        )
    descriptors, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if 0 <= descriptors < DESCRIPTORS:
        raise UserError(
            f"this shell allows a process {descriptors} open files (`ulimit -n`); h123 needs {DESCRIPTORS}",
            remedy=f"run `ulimit -n {DESCRIPTORS}` first",
            status=3,
        )


def check_folder() -> None:
    """Raise UserError if the working directory has been removed, because no relative path works then."""
    try:
        os.getcwd()  # noqa: PTH109
    except OSError as error:
        raise UserError(
            f"the working directory cannot be used: {error.strerror}", remedy="change to another one: cd ~"
        ) from None


def check_threads() -> None:
    """Raise UserError if this process cannot start enough threads for a command that reads a campaign.

    The only reliable check is to start the threads, because several limits can apply (`ulimit -u`, a control group, a
    PID namespace).
    """
    finished, started = threading.Event(), list[threading.Thread]()
    try:
        for _ in range(THREADS):
            thread = threading.Thread(target=finished.wait, daemon=True)
            thread.start()
            started.append(thread)
    except RuntimeError:
        raise UserError(
            f"only {len(started)} more threads or processes can be started here; h123 needs {THREADS}",
            remedy="raise the limit on their number (`ulimit -u`, a container's limit on PIDs), or end some programs",
            status=3,
        ) from None
    finally:
        finished.set()
        for thread in started:
            thread.join()


def exhausted(error: Exception) -> UserError | None:
    """Return a UserError that explains `error` if it means that a resource ran out. Return None for other errors.

    Libraries have no common error for this, so the function looks for the system's words in their messages.
    """
    if isinstance(error, MemoryError):
        return _lacking(*_RUN_OUT[os.strerror(errno.ENOMEM)])
    return next((_lacking(*resource) for words, resource in _RUN_OUT.items() if words in str(error)), None)


_PROCESSES = ("no further process or thread can be started", "end some, or raise the limit on their number")
_RUN_OUT = {
    os.strerror(errno.ENOMEM): ("memory has run out", "free some"),
    os.strerror(errno.EAGAIN): _PROCESSES,
    "can't start new thread": _PROCESSES,
    os.strerror(errno.EMFILE): ("no further file can be opened", "raise the limit (`ulimit -n`)"),
    os.strerror(errno.ENFILE): ("no further file can be opened on this machine", "end some programs"),
}


def _lacking(what: str, remedy: str) -> UserError:
    return UserError(what, remedy=f"{remedy}, then run the same command again", status=3)
