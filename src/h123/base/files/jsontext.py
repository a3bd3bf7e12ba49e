"""Parses JSON that a program wrote and that may be damaged or forged. Error messages name the line."""

import re
from typing import Any

from pydantic_core import from_json

_POSITION = re.compile(r"(.*) at line (\d+) column (\d+)", re.DOTALL)
_PLAIN = {
    "invalid unicode code point": "this is not UTF-8 text",
    "recursion limit exceeded": "it is nested too deeply",
    "number out of range": "this number has too many digits",
    "unexpected end of hex escape": "this is half a character",
    "lone leading surrogate in hex escape": "this is half a character",
    "EOF while parsing": "it ends too early",
    "trailing characters": "more follows its end",
    "expected": "this is not JSON",
}
"""Plain words for the parser's messages, keyed by the beginning of the message."""


def parse_json(text: bytes | str) -> Any:
    """Parse `text`. Raises ValueError with a readable message about what is wrong, and where.

    Lone surrogates in strings are refused, and so is NaN, which does not exist in JSON.
    """
    try:
        return from_json(text, allow_inf_nan=False)
    except ValueError as error:
        match = _POSITION.fullmatch(str(error))
        words, line, column = match.groups() if match else (str(error), "1", "1")
        plain = next((plain for begins, plain in _PLAIN.items() if words.startswith(begins)), words)
        raise ValueError(f"line {line}, column {column}: {plain}") from None
