"""Reads files that users name, without blocking and with a size limit. Each error message is one sentence."""

import csv
import lzma
import os
import re
import stat
from io import BufferedReader, FileIO
from pathlib import Path

from h123.base.errors import UserError
from h123.base.files import sizes
from h123.base.units import format_bytes

_UNPRINTABLE = re.compile("[^\t\n\r -~\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Matches characters that YAML allows only in escaped form (YAML 1.2, production c-printable)."""

_CSV_FAULTS = {
    "field larger than field limit": "a field is too long",
    "unexpected end of data": "the file ends within a quoted field",
    "line contains NUL": "it has a zero byte",
    "new-line character seen": "a line ends within a field that is not quoted",
    "'": "more follows the end of a quoted field",
}
"""Plain words for the messages of Python's CSV reader, keyed by the beginning of the message."""
KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}
"""Descriptions of things that are not regular files."""


def read_text(path: Path, most_bytes: int) -> str:
    """Return the text of a UTF-8 file of at most `most_bytes`. Raises UserError. Never blocks, unlike reading a pipe or
    a device."""
    try:
        return read_bytes(path, most_bytes).decode("utf-8")
    except UnicodeDecodeError as fault:
        raise UserError(f"{path}: cannot be read: not UTF-8 text (byte {fault.start + 1})") from None


def read_packed_text(path: Path, most_bytes: int) -> str:
    """Return the text of a file, unpacked with xz if its name ends with `.xz`. The text may have at most `most_bytes`.
    Raises UserError."""
    if path.suffix != ".xz":
        return read_text(path, most_bytes)
    packed = lzma.LZMADecompressor()
    try:
        text = packed.decompress(read_bytes(path, most_bytes), most_bytes + 1).decode("utf-8")
    except (lzma.LZMAError, UnicodeDecodeError):
        raise UserError(f"{path}: not text that is packed with xz", remedy="unpack it with unxz to see") from None
    if len(text) > most_bytes or not packed.eof:
        raise UserError(f"{path}: cannot be read: incomplete, or larger than {most_bytes} bytes when it is unpacked")
    return text


def read_bytes(path: Path, most_bytes: int) -> bytes:
    """Return the bytes of a file of at most `most_bytes`. Raises UserError. Never blocks."""
    with open_bounded(path, most_bytes) as file:
        try:
            content = file.read(most_bytes + 1)
        except OSError as error:
            raise UserError(f"{path}: cannot be read: {error.strerror}") from None
    if len(content) > most_bytes:  # the file's size was unknown, or it grows
        raise _too_large(path, len(content), most_bytes)
    return content


def read_cached(path: Path) -> bytes | None:
    """Return the content of a file in the cache, or None if it cannot be read. h123 can create such a file again."""
    try:
        return read_bytes(path, sizes.CACHED)
    except UserError:
        return None


def open_bounded(path: Path, most_bytes: int) -> BufferedReader:
    """Open a file of at most `most_bytes`, to read it piece by piece. Raises UserError. Never blocks."""
    check_file(path, most_bytes)
    try:
        # O_NONBLOCK, in case the file has become a pipe since the check.
        return BufferedReader(FileIO(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)))
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from None


def check_file(path: Path, most_bytes: int) -> None:
    """Raise UserError if the file does not exist, is not a regular file, or has more than `most_bytes`."""
    try:
        status = path.stat()
    except (OSError, ValueError) as error:
        raise UserError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if kind := KINDS.get(stat.S_IFMT(status.st_mode)):
        raise UserError(f"{path}: cannot be read: it is {kind}, not a file")
    if status.st_size > most_bytes:
        raise _too_large(path, status.st_size, most_bytes)


def _too_large(path: Path, size: int, most_bytes: int) -> UserError:
    return UserError(
        f"{path}: cannot be read: it is larger than {format_bytes(most_bytes)} ({size} bytes)",
        remedy="name another file, or a part of this one",
    )


def csv_fault(error: csv.Error) -> str:
    message = str(error)
    return next((words for begins, words in _CSV_FAULTS.items() if message.startswith(begins)), "not CSV")


def unprintable(text: str) -> str | None:
    """Return the first character that must not reach a program, a file name or a terminal, written like `U+0000`.
    Return None if there is no such character."""
    match = _UNPRINTABLE.search(text)
    return code_point(ord(match[0])) if match else None


def code_point(character: int) -> str:
    """Format a character's code point: `U+0000`."""
    return f"U+{character:04X}"
