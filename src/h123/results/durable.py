"""Writing so that a crash, or a full disk, leaves either the old file or the new one."""

import os
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


def write_atomically(path: Path, text: str) -> None:
    """Replace `path` by `text` in one step. Raises OSError; the old file then stands."""
    temporary = path.with_name(path.name + ".tmp")
    try:
        temporary.write_text(text, encoding="utf-8")
        sync(temporary)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    sync(path.parent)
