"""Roots: folders that a trial's files know by name, so that a trial can be executed wherever they are.

The lab mounts them at plain paths, whatever the folders are called (docs/contracts/trial.md).
"""

from collections.abc import Mapping
from pathlib import Path, PurePosixPath

_MOUNTED = PurePosixPath("/tmp/h123-roots")


def mounted(root: str, *below: str) -> str:
    """The path in a lab of something below a root."""
    return str(_MOUNTED.joinpath(root, *below))


def root_options(roots: Mapping[str, Path]) -> list[str]:
    """The lab's options that name the roots. A root that does not exist holds nothing that a trial needs, so it is left
    out."""
    folders = {name: folder.absolute() for name, folder in roots.items() if folder.is_dir()}
    return [word for name, folder in folders.items() for word in ("--root", f"{name}={folder}")]
