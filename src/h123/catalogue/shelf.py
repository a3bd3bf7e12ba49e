"""The subjects that are there: subjects/*/subject.toml."""

import os
from pathlib import Path

from h123.catalogue.subject import Subject
from h123.catalogue.toml_file import TomlFile
from h123.errors import UserError
from h123.paths import project_root

FORMAT = "subject/1"


def subjects_folder() -> Path:
    """Where the subjects are (H123_SUBJECTS overrides)."""
    return Path(os.environ.get("H123_SUBJECTS") or project_root() / "subjects")


def subject_names() -> list[str]:
    """Names of all subjects, without reading their manifests."""
    return sorted(path.parent.name for path in subjects_folder().glob("*/subject.toml"))


def catalogue() -> dict[str, Subject]:
    """All subjects by name. Raises UserError where a manifest is wrong."""
    return {name: read_subject(subjects_folder() / name) for name in subject_names()}


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
