"""Names of factors and levels: they become columns, parts of folders' names and words on command lines."""

import re
from typing import Annotated

from pydantic import BeforeValidator

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,39}")


def check_name(name: str, what: str) -> str:
    """The name, if a factor or level (`what`) can have it. Raises ValueError."""
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name!r} is no {what} name: use up to 40 letters, digits and . _ + -")
    return name


def _level_names(value: object) -> object:
    """A level or a list of levels, as a list of names; levels may be written as numbers."""
    names = value if isinstance(value, list) else [value]
    if not names or not all(isinstance(name, str | int | float) for name in names):
        raise ValueError(f"{value!r} is not valid; write a level, or a list of levels")
    return [str(name).lower() if isinstance(name, bool) else str(name) for name in names]


Levels = Annotated[list[str], BeforeValidator(_level_names)]
"""Levels of one factor, by name."""
