"""Implementations that were tried and are not in the catalogue: subjects/tried.toml says why."""

from pydantic import Field

from h123.base.strict import Strict
from h123.catalogue.registry import subjects_folder
from h123.catalogue.toml_file import TomlFile


class Rejected(Strict):
    """One that is not there."""

    name: str
    stack: str
    what: str
    """What was tried, and how."""
    why: str
    """Why it is not in the catalogue."""


class RejectedFile(Strict):
    """All of them."""

    tried: list[Rejected] = Field(default=[])


def rejected() -> list[Rejected]:
    """All of them, in the file's order; none without the file. Raises UserError where it is wrong."""
    path = subjects_folder() / "tried.toml"
    if not path.is_file():
        return []
    file = TomlFile(path)
    return file.validate(RejectedFile, file.data).tried
