"""Reads TOML files that people write. Every error names the file and, if known, the line."""

import functools
import itertools
import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from h123.base.complaints import excerpt
from h123.base.errors import UserError
from h123.base.files.textfile import read_text, unprintable
from h123.base.strict import describe, place

Model = TypeVar("Model", bound=BaseModel)
MOST_BYTES = 100_000
_HEADER = re.compile(r"(\[{1,2})\s*([^][]+?)\s*\]")
_AT_LINE = re.compile(r" \(at line (\d+), column \d+\)$")
"""Matches the end of most of tomllib's messages."""
_OF_PYDANTIC = "[key]"
"""The step in a pydantic error's location that means that the fault is in a key, not in its value."""


class TomlFile:
    """The data of one TOML file. Also finds the line of each key."""

    def __init__(self, path: Path) -> None:
        """Read the file. Raises UserError if it cannot be read or is not valid TOML."""
        self.path = path
        self.text = read_text(path, MOST_BYTES)
        try:
            self.data, unallowed = _read(self.text)
        except tomllib.TOMLDecodeError as error:
            match = _AT_LINE.search(str(error))
            place, message = (f"{path}:{match[1]}", str(error)[: match.start()]) if match else (path, error)
            raise UserError(f"{place}: {message}") from None
        except RecursionError:
            raise UserError(f"{path}: nested too deeply") from None
        except ValueError:
            raise UserError(f"{path}: a number has too many digits") from None
        if unallowed:
            text, character = unallowed
            raise UserError(f"{path}: {excerpt(text)} contains a character that is not allowed, {character}")

    def error(self, keys: Sequence[str], message: str) -> UserError:
        """Return an error about the part at `keys`. Its message begins with the file and, if known, the line."""
        line = self.line(keys)
        return UserError(f"{self.path}{f':{line}' if line else ''}: {message}")

    def validate(self, model: type[Model], data: Mapping[str, Any], context: object = None) -> Model:
        """Validate this file's `data` as a `model`. Raises UserError for the first fault found."""
        try:
            return model.model_validate(data, context=context)
        except ValidationError as invalid:
            fault = invalid.errors()[0]
            key = ".".join(str(step) for step in fault["loc"] if step != _OF_PYDANTIC)
            raise self.error([str(step) for step in place(fault)], describe(fault, key)) from None

    def line(self, keys: Sequence[str]) -> int | None:
        """Return the line (from 1) of a key, or else of the section that contains it. None if neither is found. The
        function searches for the names, because tomllib does not record positions."""
        section: list[str] = []
        line, nearest, listed = None, 0, Counter[str]()
        for number, text in enumerate(self.text.splitlines(), 1):
            if header := _HEADER.match(text):
                section = _steps(header[2])
                if header[1] == "[[":
                    section.append(str(listed[header[2]]))
                    listed[header[2]] += 1
                near = min(len(section), len(keys))
                if near > nearest and section[:near] == list(keys[:near]):
                    line, nearest = number, near
            name, equals, _ = text.partition("=")
            key = [*section, *_steps(name)]
            if equals and key == list(keys[: len(key)]):
                return number
        return line


@functools.lru_cache(maxsize=256)
def _read(text: str) -> tuple[Mapping[str, Any], tuple[str, str] | None]:
    """Return the file's data. If a string in it contains a forbidden character, also return the first such string and
    the character. The catalogue is read repeatedly, so the result is cached; callers must not change it."""
    data = tomllib.loads(text)
    faults = ((candidate, character) for candidate in _texts(data) if (character := unprintable(candidate)))
    return data, next(faults, None)


def _texts(data: Any) -> Iterator[str]:
    if isinstance(data, str):
        yield data
    elif isinstance(data, dict | list):
        for part in itertools.chain(data, data.values() if isinstance(data, dict) else ()):
            yield from _texts(part)


def _steps(name: str) -> list[str]:
    """Split a dotted name into its keys: `a."b".c`."""
    return [step.strip().strip("\"'") for step in name.split(".")]
