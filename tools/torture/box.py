"""A box for a round: namespaces that contain everything that the round starts and leaves behind, and that end with it.

A round does not see what else runs on the machine. So rounds can run at the same time, and nothing of a round remains
outside. The project is read-only inside the box.
"""

import ctypes
import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn, TypeVar

ROOT = Path(__file__).resolve().parents[2]
PLACE = Path("/mnt")
"""An empty file system in the box."""

_Result = TypeVar("_Result")
_LIBC = ctypes.CDLL(None, use_errno=True)
_SET_DEATH_SIGNAL = 1
# Mounts, UTS, IPC, PIDs, network (linux/sched.h); os.unshare came with Python 3.12.
_NAMESPACES = 0x00020000 | 0x04000000 | 0x08000000 | 0x20000000 | 0x40000000


def inside(body: Callable[[], _Result]) -> _Result:
    """Run `body` as the first process of a new box, and return its result. Raises RuntimeError if it ends without a
    result."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _outside(body, writing)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        answer = pipe.read()
    os.waitpid(child, 0)
    if not answer:
        raise RuntimeError("a box ended without a result: its last words stand above")
    result: _Result = pickle.loads(answer)
    return result


def die_with_parent() -> None:
    """End this process when the process that started it has ended."""
    _LIBC.prctl(_SET_DEATH_SIGNAL, signal.SIGKILL)


def mount(*arguments: str) -> None:
    """Run mount(8). Raises CalledProcessError."""
    subprocess.run(["mount", *arguments], check=True, capture_output=True)


def _outside(body: Callable[[], object], writing: int) -> NoReturn:
    """Create the namespaces, start the box's first process and wait for it. It must be a child, because only children
    are in the new PID namespace."""
    die_with_parent()
    if _LIBC.unshare(_NAMESPACES) != 0:
        print(f"tools/torture needs root and namespaces: {os.strerror(ctypes.get_errno())}", file=sys.stderr)
        os._exit(1)
    first = os.fork()
    if first:
        os.close(writing)
        os.waitpid(first, 0)
        os._exit(0)
    die_with_parent()
    status = 1
    try:
        _furnish()
        with os.fdopen(writing, "wb") as pipe:
            pickle.dump(body(), pipe)
        status = 0
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        sys.stderr.flush()
        os._exit(status)


def _furnish() -> None:
    os.setsid()
    mount("--make-rprivate", "/")
    mount("-t", "proc", "proc", "/proc")
    mount("-t", "tmpfs", "tmpfs", str(PLACE))
    mount("-t", "tmpfs", "tmpfs", "/dev/shm")
    _empty_tmp()
    mount("--bind", str(ROOT), str(ROOT))
    mount("-o", "remount,bind,ro", str(ROOT))


def _empty_tmp() -> None:
    """Mount an empty `/tmp`, in which everything new comes from this round. The checkout and Python stay if they are in
    `/tmp`."""
    kept = [path for path in dict.fromkeys([ROOT, Path(sys.base_prefix)]) if path.is_relative_to("/tmp")]
    aside = {path: PLACE / str(number) for number, path in enumerate(kept)}
    for path, place in aside.items():
        place.mkdir()
        mount("--rbind", str(path), str(place))
    mount("-t", "tmpfs", "tmpfs", "/tmp")
    for path, place in aside.items():
        path.mkdir(parents=True)
        mount("--move", str(place), str(path))
        place.rmdir()
