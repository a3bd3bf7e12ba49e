"""Writing so that a crash, or a full disk, leaves either the old file or the new one."""

import fcntl
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from h123.base.errors import UserError
from h123.base.files.textfile import KINDS


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


def is_writable(folder: Path) -> bool:
    """Whether files can be written into the folder. Not, for example, on a disk that is mounted read-only."""
    return os.access(folder, os.W_OK)


def write_atomically(path: Path, text: str, mode: int = 0o666) -> None:
    """Replace `path` by `text` in one step, with `mode` less the umask. Raises OSError, UserError; the old file
    then stands."""
    with replacement(path, mode) as temporary:
        temporary.write_text(text, encoding="utf-8")


@contextmanager
def replacement(path: Path, mode: int = 0o666) -> Iterator[Path]:
    """Give an empty file next to `path`, and replace `path` by it at the end, when it is on disk. After an error the
    old file remains.

    Only a file is ever replaced. This refuses a device, pipe, socket, folder or link of that name (`output` handles
    files that users name). A second writer of the same file waits. The temporary file of a crashed process has the
    same name, so the next writer reuses it. Raises OSError, UserError.
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
    """Raises UserError if something other than a file has this name."""
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISREG(mode):
        kind = "a link" if stat.S_ISLNK(mode) else KINDS.get(stat.S_IFMT(mode), "no file")
        raise UserError(f"{path} is {kind}; only a file is replaced", remedy="remove it, or choose another place")


def open_below(path: str, flags: int) -> int:
    """An opener for `open(..., opener=)` that opens a file and never follows a link of that name."""
    return os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)


def _sole_writer(path: Path, mode: int) -> int:
    """A descriptor whose lock keeps others out of the file, which is empty then."""
    while True:
        check_replaceable(path)
        # A pipe of that name would wait for a reader.
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, mode)
        try:
            if os.fstat(descriptor).st_nlink > 1:  # another name of a file of somebody's, which must not be emptied
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
    """Whether `path` still names the file: the previous holder of the lock may have renamed it."""
    try:
        return os.path.samestat(path.lstat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False
