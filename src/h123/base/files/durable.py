"""Writes files so that a crash or a full disk leaves either the old file or the new one."""

import fcntl
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from h123.base.errors import UserError
from h123.base.files.textfile import KINDS


def sync(path: Path) -> None:
    """Flush a file's content, or a folder's entries, to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_tree(folder: Path) -> None:
    """Flush everything below `folder`, and the folders themselves, to the disk."""
    for root, _, names in os.walk(folder):
        for name in names:
            path = Path(root) / name
            if path.is_file() and not path.is_symlink():
                sync(path)
        sync(Path(root))


def is_writable(folder: Path) -> bool:
    """Return whether files can be written into the folder. They cannot, for example, on a disk that is mounted
    read-only."""
    return os.access(folder, os.W_OK)


def write_atomically(path: Path, text: str, mode: int = 0o666) -> None:
    """Replace the content of `path` with `text` in one step. The file gets `mode` minus the umask. If this raises
    OSError or UserError, the old file is unchanged."""
    with replacement(path, mode) as temporary:
        temporary.write_text(text, encoding="utf-8")


@contextmanager
def replacement(path: Path, mode: int = 0o666) -> Iterator[Path]:
    """Yield an empty file next to `path`. At the end, sync this file to the disk and replace `path` with it. After an
    error, the old file remains.

    Only a regular file is ever replaced. A device, pipe, socket, folder or link with this name is refused (`output`
    handles files that users name). A second writer of the same file waits. The temporary file of a crashed process has
    the same name, so the next writer reuses it. Raises OSError or UserError.
    """
    check_replaceable(path)
    temporary = path.with_name(path.name + ".tmp")
    descriptor = _sole_writer(temporary, mode)
    try:
        yield temporary
        sync(temporary)
        check_replaceable(path)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    finally:
        os.close(descriptor)
    sync(path.parent)


def check_replaceable(path: Path) -> None:
    """Raise UserError if `path` exists but is not a regular file."""
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISREG(mode):
        kind = "a link" if stat.S_ISLNK(mode) else KINDS.get(stat.S_IFMT(mode), "no file")
        raise UserError(f"{path} is {kind}; only a file is replaced", remedy="remove it, or choose another place")


def open_below(path: str, flags: int) -> int:
    """Open a file, but fail if `path` is a symbolic link. Use this as the opener in `open(..., opener=)`."""
    return os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)


def _sole_writer(path: Path, mode: int) -> int:
    """Open and empty the file. Return its descriptor, which holds a lock against other writers."""
    while True:
        check_replaceable(path)
        # Without O_NONBLOCK, opening a pipe of this name would wait for a reader.
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, mode)
        try:
            if os.fstat(descriptor).st_nlink > 1:  # also a different file's name: it must not be emptied
                path.unlink()
            else:
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
    """Return whether `path` still names the file of the descriptor. The previous holder of the lock may have renamed
    it."""
    try:
        return os.path.samestat(path.lstat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False
