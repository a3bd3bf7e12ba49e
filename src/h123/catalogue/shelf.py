"""The subjects that are there: subjects/*/subject.toml."""

import os
import re
import tomllib
from pathlib import Path

from pydantic import ValidationError

from h123.catalogue.subject import Subject
from h123.errors import UserError
from h123.paths import project_root
from h123.strict import describe, place

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
        message = f"name is {subject.name!r}, but the folder is {folder.name!r}; they must be the same"
        raise UserError(f"{path}:{_line(text, ['name'])}: {message}")
    return subject


def _describe(path: Path, text: str, invalid: ValidationError) -> str:
    fault = invalid.errors()[0]
    line = _line(text, [str(step) for step in place(fault)])
    return f"{path}{f':{line}' if line else ''}: {describe(fault, '.'.join(str(step) for step in fault['loc']))}"


def _line(text: str, keys: list[str]) -> int | None:
    """Line of a key, or of its section, found by their names: tomllib keeps no positions."""
    section: list[str] = []
    line, listed = None, 0
    for number, written in enumerate(text.splitlines(), 1):
        header = re.match(r"(\[{1,2})([a-z]+)\]", written)
        if header:
            section = [header.group(2)]
            if header.group(1) == "[[":  # only `parts` is a list
                section.append(str(listed))
                listed += 1
            line = number if keys[: len(section)] == section else line
        key = [*section, written.partition("=")[0].strip()]
        if key == keys[: len(key)]:
            return number
    return line
