"""Implementations that were tried and are not in the catalogue: subjects/tried.toml says why."""

from pydantic import Field

from h123.base.strict import Strict
from h123.catalogue.registry import subjects_folder
from h123.catalogue.toml_file import TomlFile


class RejectedSubject(Strict):
    """One that is not there."""

    name: str
    stack: str
    what: str
    """What was tried, and how."""
    why: str
    """Why it is not in the catalogue."""


class RejectedSubjectsFile(Strict):
    """All of them."""

    tried: list[RejectedSubject] = Field(default=[])


def rejected() -> list[RejectedSubject]:
    """All of them, in the file's order; none without the file. Raises UserError where it is wrong."""
    path = subjects_folder() / "tried.toml"
    if not path.is_file():
        return []
    file = TomlFile(path)
    return file.validate(RejectedSubjectsFile, file.data).tried
