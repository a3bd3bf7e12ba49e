"""Checks a folder that others may have made. It must contain only files and folders: no links, pipes or devices.

h123 checks the folder once, before it reads or writes anything there; later writes do not follow links either
(`durable`). The path to the folder is the user's own and may contain links.
"""

import os
import stat
from pathlib import Path

from h123.base.errors import UserError
from h123.base.files import sizes
from h123.base.files.textfile import KINDS
from h123.base.units import format_bytes

_UNFINISHED = ".partial"
"""The suffix of folders whose content h123 deletes without reading it."""


def check_tree(folder: Path) -> None:
    """Raise UserError if something in `folder` is neither a file nor a folder, or is too large for its kind. The folder
    may be missing."""
    waiting = [str(folder)] if folder.is_dir() else []
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if not entry.is_dir(follow_symlinks=False):
                    _check(entry)
                elif not entry.name.endswith(_UNFINISHED):
                    waiting.append(entry.path)


def _check(entry: "os.DirEntry[str]") -> None:
    try:
        state = entry.stat(follow_symlinks=False)
    except FileNotFoundError:  # removed by a process that works here now
        return
    if stat.S_ISLNK(state.st_mode):
        raise UserError(
            f"{entry.path} is a link to {_target(entry.path)}; h123 follows no links inside a campaign's folder, "
            "because they may lead to files of yours",
            remedy="remove the link, or put the files themselves in its place",
        )
    if kind := KINDS.get(stat.S_IFMT(state.st_mode)):
        raise UserError(f"{entry.path} is {kind}, not a file", remedy="remove it; h123 never makes one")
    if state.st_size > (most := sizes.most(entry.name)):
        raise UserError(
            f"{entry.path} has {format_bytes(state.st_size)}; h123 reads files of this kind up to {format_bytes(most)}",
            remedy="restore it from a copy, or remove it",
        )


def _target(link: str) -> str:
    try:
        return str(Path(link).readlink())
    except OSError:
        return "somewhere else"


def drop_specials(folder: Path) -> list[str]:
    """Remove everything below `folder` that is neither a file nor a folder, such as leftovers of a program under test,
    and return the removed paths relative to `folder`."""
    removals = []
    for root, folders, names in os.walk(folder):
        for name in [*folders, *names]:
            path = Path(root, name)
            if not (stat.S_ISREG(mode := path.lstat().st_mode) or stat.S_ISDIR(mode)):
                path.unlink()
                removals.append(str(path.relative_to(folder)))
    return removals
