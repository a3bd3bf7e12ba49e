"""Writing so that a crash, or a full disk, leaves either the old file or the new one."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def sync(path: Path) -> None:
    """Put a file's content, or a folder's entries, on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_tree(folder: Path) -> None:
    """Put everything below `folder`, and the folders themselves, on the disk."""
    for root, _, names in os.walk(folder):
        for name in names:
            path = Path(root) / name
            if path.is_file() and not path.is_symlink():
                sync(path)
        sync(Path(root))


def write_atomically(path: Path, text: str, mode: int = 0o666) -> None:
    """Replace `path` by `text` in one step, with `mode` less the umask. Raises OSError; the old file then stands."""
    with replacement(path, mode) as temporary:
        temporary.write_text(text, encoding="utf-8")


@contextmanager
def replacement(path: Path, mode: int = 0o666) -> Iterator[Path]:
    """An empty file beside `path`, which takes its place in the end, and is on the disk by then. On any error the old
    one stands.

    Who writes the same file meanwhile waits. What a crash leaves has this name too, so the next one makes use of it.
    """
    temporary = path.with_name(path.name + ".tmp")
    descriptor = _sole_writer(temporary, mode)
    try:
        yield temporary
        sync(temporary)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    finally:
        os.close(descriptor)
    sync(path.parent)


def _sole_writer(path: Path, mode: int) -> int:
    """A descriptor whose lock keeps others out of the file, which is empty then."""
    while True:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT, mode)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            if _has_name(path, descriptor):
                if os.fstat(descriptor).st_size:
                    os.ftruncate(descriptor, 0)
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)


def _has_name(path: Path, descriptor: int) -> bool:
    """Whether the file is still there: who had the lock before has given it another name."""
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False
