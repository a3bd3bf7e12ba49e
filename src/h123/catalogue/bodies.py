"""Creates the files for servers that serve bodies from files instead of generating them."""

import hashlib
import os
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path

from h123.base.errors import UserError
from h123.base.files.installation import alone
from h123.base.paths import cache_folder
from h123.base.units import format_bytes

BLOCK_BYTES = 65_536
_DIGEST_BYTES = 32
_CHANGED_NS = 1_735_689_600 * 10**9
"""The modification time of all files, in ns since 1970: the start of 2025."""


def block() -> bytes:
    """Return the block of bytes. A body repeats it, and is cut off at the body's size (docs/contracts/subject.md)."""
    counters = range(BLOCK_BYTES // _DIGEST_BYTES)
    return b"".join(hashlib.sha256(b"h123" + counter.to_bytes(4, "big")).digest() for counter in counters)


def block_file() -> Path:
    """Return the path of the file with the block. The file exists once `make_bodies` has run."""
    return files_folder() / "block"


def files_folder() -> Path:
    """Return the folder that contains `bytes/<n>` for every size n that `make_bodies` has created."""
    return cache_folder().resolve() / "bodies"


def make_bodies(sizes: Iterable[int]) -> None:
    """Put the block, and bodies of these sizes, into the cache if they are missing. Each file is written completely or
    not at all.

    Raises UserError, and writes nothing, if the disk has no room for them.
    """
    sizes_by_file = {block_file(): BLOCK_BYTES, **{files_folder() / f"bytes/{size}": size for size in sizes}}
    with alone(files_folder(), lambda _: None):
        missing = {
            path: size for path, size in sizes_by_file.items() if not path.is_file() or path.stat().st_size != size
        }
        _require_room(sum(missing.values()))
        for path, size in missing.items():
            _write(path, size)
        for path in sizes_by_file:
            _date(path)


def _date(path: Path) -> None:
    """Set a file's modification time to a fixed one. Servers send it to clients, so it must not depend on the day or
    the machine."""
    if path.stat().st_mtime_ns != _CHANGED_NS:
        os.utime(path, ns=(_CHANGED_NS, _CHANGED_NS))


def _require_room(needed: int) -> None:
    free = shutil.disk_usage(files_folder().parent).free
    if free < needed:
        raise UserError(
            f"{files_folder()} has {format_bytes(free)} free, and the bodies that servers serve as files would take "
            f"{format_bytes(needed)}",
            remedy="use a smaller `size`, leave it out with --filter, free some space, or move H123_CACHE elsewhere",
            status=1,
        )


def make_documents(folder: str, contents: Callable[[], Iterable[tuple[str, bytes]]]) -> None:
    """Create a subfolder of the bodies' folder, unless it exists, with the files whose names and contents `contents`
    yields. It is created completely or not at all."""
    whole = files_folder() / folder
    with alone(files_folder(), lambda _: None):
        if whole.is_dir():
            for path in whole.iterdir():
                _date(path)
            return
        partial = whole.with_name(f"{whole.name}.partial")
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        for name, content in contents():
            (partial / name).write_bytes(content)
            _date(partial / name)
        partial.rename(whole)


def _write(path: Path, size: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    partial, piece = path.with_name(f"{path.name}.partial"), block()
    with partial.open("wb") as file:
        for at in range(0, size, BLOCK_BYTES):
            file.write(piece[: size - at])
    partial.rename(path)
