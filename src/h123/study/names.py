"""Names of factors and levels: they become columns, parts of folders' names and words on command lines."""

import re

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,39}")


def check_name(name: str, what: str) -> str:
    """The name, if a factor or level (`what`) can have it. Raises ValueError."""
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name!r} is no {what} name: use up to 40 letters, digits and . _ + -")
    return name
