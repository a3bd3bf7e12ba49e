"""Reads knobs: settings of a server, each with the values to try. They come from `--knob` and from knob files
(docs/contracts/tuning.md)."""

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, field_validator

from h123.base.complaints import choose, excerpt
from h123.base.errors import UserError
from h123.base.strict import Strict
from h123.study import find_knobs
from h123.study.yaml_document import YamlDocument

FORMAT = "knobs/1"
NAME = r"[A-Za-z_][A-Za-z0-9_]*"
MOST_VALUES = 20
"""The largest number of values of a knob."""
GIVEN = ("config", "cert", "key", "prefix")
"""Placeholders that h123 fills in: the rendered configuration, a certificate with its key, and the folder of the
subject that a knob file names."""
_KNOB = re.compile(rf"(?P<name>{NAME})(?:=(?P<values>.*))?", re.DOTALL)
_LIST = re.compile(r"\{(.*)\}", re.DOTALL)
_EXAMPLE = "write it as --knob 'NAME={a,b,c}', the default first"


@dataclass(frozen=True)
class Knob:
    """A setting, and the values to try. The first value is the default."""

    name: str
    values: tuple[str, ...]
    origin: str
    """Where the knob is defined: `--knob window`, or a file with its line."""


class KnobText(Strict):
    """A knob in a knob file."""

    what: Annotated[str, Field(min_length=1)]
    """What the knob sets."""
    docs: Annotated[str, Field(pattern=r"^https://")]
    """The address of the knob's documentation."""
    values: Annotated[dict[str, str], Field(min_length=2, max_length=MOST_VALUES)]
    """Maps each value to one sentence about what it does. The default comes first."""

    @field_validator("values", mode="before")
    @classmethod
    def _as_text(cls, values: Any) -> Any:
        if not isinstance(values, dict):
            return values
        if unquoted := [
            value for value in values if not isinstance(value, str | int | float) or value in (True, False)
        ]:
            raise ValueError(f"YAML reads a value as {excerpt(unquoted[0])}; put words such as on and off in quotes")
        return {str(value): what for value, what in values.items()}


class KnobFile(Strict):
    """The content of a knob file: knobs of a server, and how to start the server so that they apply."""

    title: str
    """The server's name and version."""
    subject: str | None = None
    """The subject whose installation `command` uses."""
    command: str | None = None
    """The command that starts the server, unless the user gives `--server`."""
    config: str | None = None
    """The template of the configuration, relative to this file, unless the user gives `--config`."""
    url: str | None = None
    """What to request, unless the user gives `--url`."""
    also: str | None = None
    """What to request in addition in the last round, unless the user gives a URL."""
    knobs: dict[Annotated[str, Field(pattern=f"^{NAME}$")], KnobText] = Field(min_length=1)
    """The knobs by name."""


@dataclass(frozen=True)
class KnobLibrary:
    """A knob file that has been read."""

    path: Path
    content: KnobFile
    lines: dict[str, int]

    @classmethod
    def read(cls, name: str) -> "KnobLibrary":
        """Read a knob file, given its name or path. Raises UserError."""
        path = find_knobs(name)
        document = YamlDocument.read(path, FORMAT)
        content = document.validate(KnobFile, document.data)
        return cls(path, content, {knob: document.line(["knobs", knob]) for knob in content.knobs})

    def knob(self, name: str) -> Knob:
        return Knob(name, tuple(self.content.knobs[name].values), f"{self.path}:{self.lines[name]}")

    def template(self) -> Path | None:
        """Return the path of the template that the file names, or None."""
        return self.path.parent / self.content.config if self.content.config else None


def read_knobs(texts: Sequence[str], library: KnobLibrary | None) -> list[Knob]:
    """Return the knobs that `--knob` options define, or select from a knob file. Without options, return all knobs of
    the file. Raises UserError."""
    if not texts and library is None:
        raise UserError(
            "no knob given: h123 needs settings to try", remedy=f"{_EXAMPLE}, or name a file: --knobs nginx"
        )
    if not texts and library:
        return [library.knob(name) for name in library.content.knobs]
    knobs = [_read(text, library) for text in texts]
    names = [knob.name for knob in knobs]
    if twice := [name for name in names if names.count(name) > 1]:
        raise UserError(f"--knob {twice[0]} is given twice", remedy="give all of its values at once")
    return knobs


def _read(text: str, library: KnobLibrary | None) -> Knob:
    match = _KNOB.fullmatch(text)
    if not match:
        raise UserError(f"--knob {excerpt(text)}: a knob's name has letters, digits and _", remedy=_EXAMPLE)
    name = match["name"]
    if name in GIVEN:
        raise UserError(f"--knob {name}: h123 fills in {name} itself", remedy="choose another name")
    if match["values"] is None:
        if library is None:
            raise UserError(f"--knob {name}: it has no values", remedy=_EXAMPLE)
        if name not in library.content.knobs:
            raise UserError(f"--knob {name}: {choose(name, library.content.knobs)} ({library.path})")
        return library.knob(name)
    values = _values(name, match["values"])
    return Knob(name, values, f"--knob {name}")


def _values(name: str, text: str) -> tuple[str, ...]:
    braces = _LIST.fullmatch(text.strip())
    if not braces:
        raise UserError(f"--knob {name}={excerpt(text)}: the values are not in braces", remedy=_EXAMPLE)
    try:
        (values,) = csv.reader([braces[1]], skipinitialspace=True, strict=True)
    except (csv.Error, ValueError):
        raise UserError(
            f"--knob {name}: a quote in its values has no end, or a value has several lines",
            remedy='put a value that contains a comma in double quotes: {"a,b",c}',
        ) from None
    values = [value.strip() for value in values]
    if twice := [value for value in values if values.count(value) > 1]:
        raise UserError(f"--knob {name}: the value {excerpt(twice[0])} is given twice", remedy="give each value once")
    if not 2 <= len(values) <= MOST_VALUES:
        raise UserError(
            f"--knob {name}: it has {len(values)} value{'s' * (len(values) != 1)}; a knob has 2 to {MOST_VALUES}",
            remedy=_EXAMPLE,
        )
    return tuple(values)
