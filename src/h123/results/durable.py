"""Writing so that a crash, or a full disk, leaves either the old file or the new one."""

import errno
import os
import tempfile
from pathlib import Path

FULL = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk quota is used up",
    errno.EFBIG: "files may not grow any larger (`ulimit -f`)",
}
"""Errors that free space mends, in words."""
TRIAL_BYTES = 200_000
"""That the files of a trial take, its samples apart."""


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
    temporary = path.with_name(path.name + ".tmp")
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        sync(temporary)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    sync(path.parent)


def require_room(folder: Path) -> None:
    """Raises an OSError of those in FULL where another trial's files would find no room.

    What has failed there may have failed for that, whatever it said.
    """
    with tempfile.TemporaryFile(dir=folder) as file:
        os.posix_fallocate(file.fileno(), 0, TRIAL_BYTES)
