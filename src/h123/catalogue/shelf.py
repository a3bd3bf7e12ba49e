"""The subjects that are there: subjects/*/subject.toml."""

import functools
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from h123.catalogue.subject import Subject
from h123.catalogue.toml_file import TomlFile
from h123.console import say
from h123.errors import UserError
from h123.paths import project_root

FORMAT = "subject/1"


class Catalogue(Mapping[str, Subject]):
    """Subjects by name. One whose manifest is wrong is not among them; who asks for it by its name, even whether it
    is there, gets the complaint about it, a UserError."""

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
    """Where the subjects are (H123_SUBJECTS overrides). Raises UserError where that is no folder."""
    named = os.environ.get("H123_SUBJECTS")
    folder = Path(named) if named else project_root() / "subjects"
    if not folder.is_dir():
        remedy = "unset it, or let it name a folder with a folder for each subject" if named else "check out h123 whole"
        raise UserError(f"{f'H123_SUBJECTS names {named}' if named else folder}: there is no such folder", remedy)
    return folder


def subject_names() -> list[str]:
    """Names of all subjects, without reading their manifests."""
    return sorted(path.parent.name for path in subjects_folder().glob("*/subject.toml"))


def catalogue() -> Catalogue:
    """All subjects, but for those whose manifests are wrong: who has nothing to do with them goes on with a warning."""
    subjects, broken = dict[str, Subject](), dict[str, UserError]()
    for name in subject_names():
        try:
            subjects[name] = read_subject(subjects_folder() / name)
        except UserError as error:
            broken[name] = error
            _warn(f"h123: warning: {error.message} (the subject {name} is left out)")
    return Catalogue(subjects, broken)


@functools.cache
def _warn(message: str) -> None:
    """Once, however often the catalogue is read."""
    say(message)


def read_subject(folder: Path) -> Subject:
    """The subject in a folder. Raises UserError naming the file and, where it can be told, the line."""
    file = TomlFile(folder / "subject.toml")
    if file.data.pop("h123", None) != FORMAT:
        raise UserError(f'{file.path}: the line h123 = "{FORMAT}" is missing, or has a version not supported here')
    subject = file.validate(Subject, file.data, context=folder.resolve())
    if subject.name != folder.name:
        message = f"name is {subject.name!r}, but the folder is {folder.name!r}; they must be the same"
        raise file.error(["name"], message)
    return subject
