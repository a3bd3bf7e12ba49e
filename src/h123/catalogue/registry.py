"""Reads the subjects of the catalogue (subjects/*/subject.toml) and the rejected ones (subjects/tried.toml)."""

import functools
import os
import shlex
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from pydantic import Field

from h123.base.complaints import choose, excerpt
from h123.base.errors import UserError
from h123.base.paths import data_folders, is_mine, project_root, real
from h123.base.strict import Strict
from h123.base.terminal.console import say
from h123.catalogue.subject import Subject
from h123.catalogue.toml_file import TomlFile

FORMAT = "subject/1"


class Catalogue(Mapping[str, Subject]):
    """The subjects by name. Iteration skips subjects with a faulty manifest. Looking up such a subject by name, or
    testing for it with `in`, raises a UserError about the fault."""

    def __init__(self, subjects: Mapping[str, Subject], broken: Mapping[str, UserError]) -> None:
        self._subjects, self._broken = subjects, broken

    def __getitem__(self, name: str) -> Subject:
        if name in self._broken:
            raise self._broken[name]
        return self._subjects[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._subjects)

    def __len__(self) -> int:
        return len(self._subjects)


def subjects_folder() -> Path:
    """Return the folder of the subjects, which H123_SUBJECTS overrides. Raises UserError if there is no such folder."""
    override = os.environ.get("H123_SUBJECTS")
    folder = Path(override) if override else project_root() / "subjects"
    if not folder.is_dir():
        remedy = (
            "unset it, or set it to a folder with a folder for each subject" if override else "check out h123 whole"
        )
        raise UserError(f"{f'H123_SUBJECTS names {override}' if override else folder}: there is no such folder", remedy)
    return folder


def subject_names() -> list[str]:
    """Return the names of all subjects, without reading their manifests."""
    return sorted(_subject_folders())


def _subject_folders() -> dict[str, Path]:
    """Return the subjects' folders by name. A subject that comes with h123 takes precedence over a user's subject of
    the same name.

    The install steps of subjects are commands, so a folder of subjects in the working directory is read only if it
    belongs to the user or to root.
    """
    chosen_root = subjects_folder()
    roots = [chosen_root, *(() if "H123_SUBJECTS" in os.environ else data_folders("subjects"))]
    folders = dict[str, Path]()
    for root in roots:
        if root != chosen_root and not is_mine(root):
            _warn(f"h123: warning: {root} belongs to another user; its subjects are left out")
            continue
        for path in root.glob("*/subject.toml"):
            folders.setdefault(path.parent.name, path.parent)
    return folders


def unknown_subject(name: str, more_names: Iterable[str] = ()) -> UserError:
    """Return the error for a name that no subject has. The message suggests existing names. `more_names` are other
    allowed names."""
    folder, own = subjects_folder(), project_root() / "subjects" / name
    if real(folder) != real(own.parent) and (own / "subject.toml").is_file():
        return UserError(
            f"there is no subject {name!r} in {folder}, which H123_SUBJECTS names",
            remedy=f"it is one of the project's own: ln -s {shlex.quote(str(own))} {shlex.quote(str(folder))}",
        )
    if not (names := [*subject_names(), *more_names]):
        return UserError(f"there is no subject {name!r}", remedy=f"{folder} has none: docs/tutorial.md adds one")
    return UserError(f"there is no subject {name!r}", remedy=choose(name, names))


def catalogue() -> Catalogue:
    """Return all subjects except those with faulty manifests. Each of those causes a warning rather than an error, so
    that work on other subjects can continue."""
    subjects, broken = dict[str, Subject](), dict[str, UserError]()
    for name, folder in sorted(_subject_folders().items()):
        try:
            subjects[name] = read_subject(folder)
        except UserError as error:
            broken[name] = error
            _warn(f"h123: warning: {error.message} (the subject {name} is left out)")
    return Catalogue(subjects, broken)


def clients_of_any_server() -> list[str]:
    """Return the names of the clients that can send requests to servers that are not subjects."""
    return [name for name, subject in catalogue().items() if subject.client and subject.client.any_server]


@functools.cache
def _warn(message: str) -> None:
    """Print a warning only once, however often the catalogue is read."""
    say(message)


def read_subject(folder: Path) -> Subject:
    """Read the subject in a folder. Raises UserError, with the file and, if known, the line, if its manifest is
    faulty."""
    file = TomlFile(folder / "subject.toml")
    if file.data.get("h123") != FORMAT:
        raise UserError(
            f'{file.path}: the line h123 = "{FORMAT}" is missing, or names a version that this h123 does not read',
            remedy=f'write h123 = "{FORMAT}" as its first line; docs/contracts/subject.md has the format',
        )
    whole = _parent_of(file, real(folder))
    content = {name: value for name, value in file.data.items() if name != "h123"}
    if whole:
        content = {**content, "install": {**whole.install.model_dump(), "part_of": whole.name}}
    subject = file.validate(Subject, content, context=real(folder))
    if subject.name != folder.name:
        message = f"name is {subject.name!r}, but the folder is {folder.name!r}; they must be the same"
        raise file.error(["name"], message)
    if whole and subject.version != whole.version:
        message = f"version is {subject.version!r}, and that of {whole.name}, which it is a part of, {whole.version!r}"
        raise file.error(["version"], message)
    return subject


def _parent_of(file: TomlFile, folder: Path) -> Subject | None:
    """Return the subject whose build also builds this one, or None. Raises UserError if `install.part_of` is not
    valid."""
    install = file.data.get("install")
    if not isinstance(install, dict) or "part_of" not in install:
        return None
    at, parent = ["install", "part_of"], install["part_of"]
    if other_keys := [key for key in install if key != "part_of"]:
        what = f"it must be the only key, without {other_keys[0]}, which the other subject states for both"
        raise file.error(at, f"install.part_of: {what}")
    siblings = sorted({path.parent.name for path in folder.parent.glob("*/subject.toml")} - {folder.name})
    if parent not in siblings:
        message = f"there is no subject {excerpt(parent)} next to this one; {choose(str(parent), siblings)}"
        raise file.error(at, f"install.part_of: {message}")
    whole = read_subject(folder.with_name(parent))
    if whole.install.part_of:
        raise file.error(at, f"install.part_of: {parent} is itself a part of {whole.install.part_of}; name that one")
    return whole


class RejectedSubject(Strict):
    """An implementation that was tried and is not in the catalogue."""

    name: str
    stack: str
    what: str
    """What was tried."""
    why: str
    """Why the implementation is not in the catalogue."""


class RejectedSubjectsFile(Strict):
    """The content of subjects/tried.toml."""

    tried: list[RejectedSubject] = Field(default=[])


def load_rejected_subjects() -> list[RejectedSubject]:
    """Return all rejected subjects in the order of the file, or an empty list if there is no such file. Raises
    UserError if the file is malformed."""
    path = subjects_folder() / "tried.toml"
    if not path.is_file():
        return []
    file = TomlFile(path)
    return file.validate(RejectedSubjectsFile, file.data).tried
