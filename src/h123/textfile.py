"""Text files that people name: read at once and whole, or refused in a sentence."""

import re
import stat
from pathlib import Path

from h123.errors import UserError

_UNPRINTABLE = re.compile("[^\t\n\r -~\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What YAML itself admits nowhere but escaped (YAML 1.2, production c-printable)."""

_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def read_text(path: Path, most_bytes: int) -> str:
    """A file of at most `most_bytes`, in UTF-8. Raises UserError; never waits, as reading a pipe or a device might."""
    try:
        kind = _KINDS.get(stat.S_IFMT(path.stat().st_mode))
        if kind:
            raise UserError(f"{path}: cannot be read: it is {kind}, not a file")
        with path.open("rb") as file:
            content = file.read(most_bytes + 1)
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from None
    if len(content) > most_bytes:
        raise UserError(f"{path}: cannot be read: it is larger than {most_bytes // 1000} kB")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        raise UserError(f"{path}: cannot be read: not UTF-8 text") from None


def unprintable(text: str) -> str | None:
    """The first character that no program, file name or terminal is to be given, as `U+0000`; None: there is none."""
    found = _UNPRINTABLE.search(text)
    return code_point(ord(found[0])) if found else None


def code_point(character: int) -> str:
    """As people write it: `U+0000`."""
    return f"U+{character:04X}"
