"""Finds the files of networks, studies, sites, claims, published values, schemas and knobs: those that come with h123,
and the user's own."""

import re
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from h123.base.complaints import choose
from h123.base.errors import UserError
from h123.base.paths import data_folders, project_root

if TYPE_CHECKING:
    from h123.study.networks.network import Network


_MARK = re.compile(rb"^h123:\s", re.MULTILINE)
_HEAD_BYTES = 4096


def list_networks() -> list[str]:
    return _names("networks")


def list_studies() -> list[Path]:
    """Return the files in studies/, sorted by name."""
    return _files("studies")


def list_claims() -> list[Path]:
    """Return the files in claims/ (published claims), sorted by name."""
    return _files("claims")


def list_schemas() -> list[Path]:
    """Return the files in schemas/ (schemas for other tools' samples), sorted by name."""
    return _files("schemas")


def list_published() -> list[Path]:
    """Return the files in published/ (published values), sorted by name."""
    return _files("published")


def find_network(name: str, folder: Path | None = None) -> Path:
    """Return the file of a network, given its name or a path (relative to `folder`). Raises UserError."""
    return _find(name, "network", "networks", folder)


def find_study(name: str, folder: Path | None = None) -> Path:
    """Return the file of a study, given its name or a path (relative to `folder`). Raises UserError."""
    return _find(name, "study", "studies", folder)


def is_study(name: str) -> bool:
    """Return whether `name` is the name of a study, or the path of a file whose format is that of a study. Raises
    UserError."""
    from h123.study.yaml_document import YamlDocument

    path = Path(name)
    if path.suffix in (".yaml", ".yml"):
        return str(YamlDocument(path).data.get("h123")).startswith("study/")
    return name in _names("studies")


def list_sites() -> list[Path]:
    """Return the files in sites/, sorted by name."""
    return _files("sites")


def find_site(name: str, folder: Path | None = None) -> Path:
    """Return the file of a site, given its name or a path (relative to `folder`). Raises UserError."""
    return _find(name, "site", "sites", folder)


def find_schema(name: str) -> Path:
    """Return the file of a schema for imported samples, given its name or a path. Raises UserError."""
    return _find(name, "schema", "schemas", None)


def list_knobs() -> list[Path]:
    """Return the files in knobs/ (server settings to try), sorted by name."""
    return _files("knobs")


def find_knobs(name: str) -> Path:
    """Return the file of a server's knobs, given its name or a path. Raises UserError."""
    return _find(name, "knob file", "knobs", None)


def load_network(name: str, folder: Path | None = None) -> "Network":
    """Read a network, given its name or the path of its file (relative to `folder`). Raises UserError."""
    from h123.study.networks.network_file import read_network  # imported here, because lists of names do not need it

    return read_network(find_network(name, folder))


def _files(kind: str) -> list[Path]:
    """Return the files of one kind, sorted by name. A file that comes with h123 hides a user's file of the same
    name."""
    files = dict[str, Path]()
    for folder in data_folders(kind):
        for path in folder.glob("*.yaml"):
            if path.stem not in files and (folder.parent == project_root() or _is_ours(path)):
                files[path.stem] = path
    return sorted(files.values(), key=lambda path: path.stem)


def _is_ours(path: Path) -> bool:
    """Return whether the file declares that it is for h123. The user's folders may contain YAML files of other
    programs."""
    with suppress(OSError), path.open("rb") as file:
        return _MARK.search(file.read(_HEAD_BYTES)) is not None
    return False


def _names(kind: str) -> list[str]:
    return [path.stem for path in _files(kind)]


def is_path(name: str) -> bool:
    """Return whether `name` is the path of a file, not the name of something that comes with h123."""
    return "/" in name or name.endswith((".yaml", ".yml"))


def _find(name: str, kind: str, folder: str, base_folder: Path | None) -> Path:
    if is_path(name):
        path = (base_folder or Path()) / name
        try:
            path.stat()
        except OSError as error:
            other = _other_suffix(path)
            known = ", ".join(sorted(_names(folder))[:3])
            raise UserError(
                f"{kind} file not found: {path}",
                remedy=f"did you mean {other}?"
                if other
                else f"check the path, or name one that comes with h123: {known} ...",
            ) from error
        return path
    files = {path.stem: path for path in _files(folder)}
    if name in files:
        return files[name]
    raise UserError(f"there is no {kind} {name!r}, nor is this the path of a YAML file; {choose(name, list(files))}")


def _other_suffix(path: Path) -> Path | None:
    """Return the file with this name and another suffix of YAML files, or None."""
    with suppress(OSError, ValueError):
        return next((file for suffix in (".yaml", ".yml") if (file := path.with_suffix(suffix)).is_file()), None)
    return None
