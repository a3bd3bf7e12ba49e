"""The subjects that are there: subjects/*/subject.toml."""

import os
import tomllib
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from h123.catalogue.subject import Subject
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
    path = folder / "subject.toml"
    try:
        text = path.read_text(encoding="utf-8")
        data = tomllib.loads(text)
    except (OSError, ValueError) as error:
        raise UserError(f"{path}: {error}") from None
    if data.pop("h123", None) != FORMAT:
        raise UserError(f'{path}: the line h123 = "{FORMAT}" is missing, or names a version unknown here')
    try:
        subject = Subject.model_validate({**data, "folder": folder.resolve()})
    except ValidationError as invalid:
        raise UserError(_describe(path, text, invalid)) from None
    if subject.name != folder.name:
        raise UserError(f"{path}: name is {subject.name!r}, but the folder is {folder.name!r}; they must be the same")
    return subject


def _describe(path: Path, text: str, invalid: ValidationError) -> str:
    fault: Any = invalid.errors()[0]
    place = [str(step) for step in fault["loc"]]
    what = "missing" if fault["type"] == "missing" else str(fault["msg"]).removeprefix("Value error, ")
    line = _line(text, place)
    return f"{path}{f':{line}' if line else ''}: {'.'.join(place)}: {what}".replace(": : ", ": ")


def _line(text: str, place: list[str]) -> int | None:
    """Line of a key, found by its section and name: tomllib keeps no positions."""
    section = ""
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if stripped.startswith("["):
            section = stripped.strip("[]")
            if [section] == place:
                return number
        key = stripped.partition("=")[0].strip()
        if key and [*([section] if section else []), key] == place[: 2 if section else 1]:
            return number
    return None
