"""Makes the standard streams usable: replaces closed ones, and replaces characters that a stream's encoding lacks."""

import codecs
import io
import os
import re
import sys

_PLAIN = dict(zip("–—‘’“”×µ≈·²✓✗", "--''\"\"xu~.2+x", strict=True))
_PLAIN |= {"−": "-", "▲": "^", "▼": "v", "→": "->", "±": "+/-", "≤": "<=", "≥": ">=", "…": "..."}
"""Replacements for characters that a stream's encoding lacks."""
_SIZE = re.compile(r"[1-9][0-9]{0,4}")
_NARROWEST = 40
"""The smallest number of columns in which a table is readable."""


def make_usable() -> None:
    """Make sure that standard input, output and error are open. Call this before anything is written or opened."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:  # otherwise the next file that h123 opens would become a standard stream
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
    # Python sets a stream to None if its descriptor was closed.
    sys.stdin = sys.stdin or os.fdopen(0, encoding="utf-8")
    sys.stdout = sys.stdout or os.fdopen(1, "w", encoding="utf-8")
    sys.stderr = sys.stderr or os.fdopen(2, "w", encoding="utf-8")
    codecs.register_error("plain", _plainer)
    _mend_size()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="plain")


def _mend_size() -> None:
    """Remove invalid terminal sizes from the environment (`COLUMNS=0`), because libraries divide by them."""
    for name in ("COLUMNS", "LINES"):
        if not _SIZE.fullmatch(os.environ.get(name, "1")):
            del os.environ[name]
    if (columns := os.environ.get("COLUMNS")) and int(columns) < _NARROWEST:
        os.environ["COLUMNS"] = str(_NARROWEST)


def _plainer(error: UnicodeError) -> tuple[str | bytes, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(_PLAIN.get(each, "?") for each in error.object[error.start : error.end]), error.end
