"""Implementations that were tried and are not in the catalogue: subjects/tried.toml says why."""

import tomllib

from pydantic import ValidationError

from h123.catalogue.shelf import subjects_folder
from h123.errors import UserError
from h123.strict import Strict, describe, place


class Tried(Strict):
    """One that is not there."""

    name: str
    stack: str
    what: str
    """What was tried, and how."""
    why: str
    """Why it is not in the catalogue."""


def tried() -> list[Tried]:
    """All of them, in the file's order; none without the file. Raises UserError where it is wrong."""
    path = subjects_folder() / "tried.toml"
    if not path.is_file():
        return []
    try:
        entries = tomllib.loads(path.read_text(encoding="utf-8")).get("tried", [])
        return [Tried.model_validate(entry) for entry in entries]
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"{path}: {error}") from None
    except ValidationError as invalid:
        fault = invalid.errors()[0]
        raise UserError(f"{path}: {describe(fault, '.'.join(map(str, place(fault))))}") from None
