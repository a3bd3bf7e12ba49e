"""Locates the project's own files, and quotes paths for the command line.

h123 runs from a checkout or as an installed package. A checkout contains the data files (studies, networks, subjects,
...), and a package contains copies of them in `h123/data`.
"""

import os
import shlex
from collections.abc import Iterator
from pathlib import Path

from h123.base.errors import UserError

_PACKAGE = Path(__file__).resolve().parents[1]
_PACKAGED = _PACKAGE / "data"


def checkout() -> Path | None:
    """Return the checkout that this package runs from. Its path is in H123_ROOT, which the launcher sets, or else
    follows from this file's path.

    Return None if h123 is installed as a package.
    """
    if folder_name := os.environ.get("H123_ROOT"):
        return Path(folder_name)
    return None if _PACKAGED.is_dir() else _PACKAGE.parents[1]


def project_root() -> Path:
    """Return the folder with the data files that come with h123: the checkout, or the copy in the package."""
    return checkout() or _PACKAGED


def require_checkout(what: str) -> Path:
    """Return the checkout, for maintainers' commands that write into it. Raises UserError if h123 is installed as a
    package."""
    if root := checkout():
        return root
    raise UserError(
        f"{what} needs a checkout of h123; this one is installed as a package",
        remedy="clone the project and run ./h123 there",
    )


def data_folders(kind: str) -> Iterator[Path]:
    """Yield the folders that may contain files of a kind (such as `networks`), in the order in which names are looked
    up.

    Files that come with h123 come first, so that a name such as `lan` means the same on every machine. The working
    directory and the user's configuration folder come after them.
    """
    real_folders = set[Path]()
    for root in (project_root(), Path(), config_folder()):
        folder = root / kind
        if folder.is_dir() and real(folder) not in real_folders:
            real_folders.add(real(folder))
            yield folder


def config_folder() -> Path:
    """Return the folder of the user's own studies, networks, sites and subjects: XDG_CONFIG_HOME/h123, by default
    ~/.config/h123."""
    return _user_folder("XDG_CONFIG_HOME", ".config")


def cache_folder() -> Path:
    """Return the folder of installed subjects and of other files that h123 can create again.

    H123_CACHE overrides the default: `.cache` in a checkout, otherwise XDG_CACHE_HOME/h123, by default ~/.cache/h123.
    """
    if folder_name := os.environ.get("H123_CACHE"):
        return Path(folder_name)
    root = checkout()
    return root / ".cache" if root else _user_folder("XDG_CACHE_HOME", ".cache")


def _user_folder(variable: str, default: str) -> Path:
    folder_name = os.environ.get(variable, "")
    root = Path(folder_name) if os.path.isabs(folder_name) else Path(os.path.expanduser("~")) / default  # noqa: PTH111, PTH117
    return root / "h123"


def prebuilt(*below: str) -> Path:
    """Return the path at which the package contains a prebuilt program. A checkout contains no such programs."""
    return _PACKAGED.joinpath("prebuilt", *below)


def lab_binary() -> Path:
    """Return the path of the lab's program: the one in the package, or the one that a checkout builds. H123_LAB
    overrides both."""
    if program_name := os.environ.get("H123_LAB"):
        return Path(program_name)
    root = checkout()
    return root / "lab/target/release/h123-lab" if root else prebuilt("h123-lab")


_REINSTALL = "install the package again: pip install --force-reinstall h123"


def lab_remedy() -> str:
    """Return how to repair a lab that is missing, is too old, or does not start."""
    return "run `make setup`" if checkout() else _REINSTALL


def data_remedy() -> str:
    """Return how to repair a damaged file that came with h123."""
    return "restore the file, for instance with `git checkout`" if checkout() else _REINSTALL


def typed(path: Path) -> str:
    """Quote a path so that neither a shell nor h123's command line takes it for anything else."""
    name = str(path)
    return shlex.quote(f"./{name}" if name.startswith("-") else name)


def real(path: Path) -> Path:
    """Resolve the links in a path. If links form a loop, they stay in the path."""
    return Path(os.path.realpath(path))


def is_mine(path: Path) -> bool:
    """Return whether the file or folder belongs to the user, and its parent folder to the user or root.

    Under sudo, files of the user who called sudo count as the user's own.
    """
    sudo = os.environ.get("SUDO_UID", "")
    mine = {os.geteuid(), int(sudo) if sudo.isdecimal() else os.geteuid()}
    resolved = path.resolve()
    return resolved.stat().st_uid in mine and resolved.parent.stat().st_uid in {*mine, 0}
