"""Defines roots: folders that a trial's files refer to by name, so that a trial can run wherever the folders are.

The lab mounts them at fixed paths, whatever the folders are called (docs/contracts/trial.md).
"""

from collections.abc import Mapping
from pathlib import Path, PurePosixPath

_MOUNTED = PurePosixPath("/tmp/h123-roots")


def mounted(root: str, *below: str) -> str:
    """Return the path, inside a lab, of a file or folder below a root."""
    return str(_MOUNTED.joinpath(root, *below))


def is_mounted(path: str) -> bool:
    """Return whether a path is below a root, so that it exists only in a lab."""
    return PurePosixPath(path).is_relative_to(_MOUNTED)


def root_options(roots: Mapping[str, Path]) -> list[str]:
    """Return the lab's options that name the roots. A root whose folder does not exist is left out, because no trial
    needs anything from it."""
    folders = {name: folder.absolute() for name, folder in roots.items() if folder.is_dir()}
    return [word for name, folder in folders.items() for word in ("--root", f"{name}={folder}")]
