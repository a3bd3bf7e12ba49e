"""Where the project's own files are, and how a path is typed."""

import os
import shlex
from pathlib import Path


def project_root() -> Path:
    """The checkout that this package runs from (H123_ROOT, set by the launcher, or found from this file)."""
    return Path(os.environ.get("H123_ROOT") or Path(__file__).resolve().parents[3])


def cache_folder() -> Path:
    """Installed subjects and other things that can be made again (H123_CACHE overrides)."""
    return Path(os.environ.get("H123_CACHE") or project_root() / ".cache")


def lab_binary() -> Path:
    """The data plane, built by the set-up."""
    return Path(os.environ.get("H123_LAB") or project_root() / "lab/target/release/h123-lab")


def typed(path: Path) -> str:
    """As a shell and our command line take it for this path, and nothing else."""
    name = str(path)
    return shlex.quote(f"./{name}" if name.startswith("-") else name)


def real(path: Path) -> Path:
    """The path without links, where there is one; a loop of links stays as it is."""
    return Path(os.path.realpath(path))
