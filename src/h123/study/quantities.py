"""Defines field types: for quantities, which people write with a unit and h123 stores as plain numbers, and for names
of levels.

Numbers without a unit are accepted if the validation context is RESOLVED, as it is for files that h123 wrote itself.
"""

import re
from collections.abc import Callable
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, ValidationInfo

from h123.base.complaints import excerpt
from h123.base.units import parse_change, parse_delay, parse_duration, parse_rate, parse_share, parse_size

RESOLVED = "resolved"


def _quantity(parse: Callable[[object], float]) -> BeforeValidator:
    def read(value: Any, info: ValidationInfo) -> Any:
        if value is None or (info.context == RESOLVED and not isinstance(value, str)):
            return value
        if isinstance(value, bool | list | dict):
            raise ValueError(f"expected a quantity, found {excerpt(value)}")
        return parse(value)

    return BeforeValidator(read)


_MOST = 10**15
"""The largest number allowed. No quantity that people write is this large, but a damaged file may contain such a
number."""

Duration = Annotated[int, _quantity(parse_duration), Field(ge=0, le=_MOST)]
"""A duration in nanoseconds, written like `15ms`."""
Delay = Annotated[int, _quantity(parse_delay), Field(ge=0, le=_MOST)]
"""The delay of a packet in nanoseconds, written like `15ms`."""
Size = Annotated[int, _quantity(parse_size), Field(ge=0, le=_MOST)]
"""A size in bytes, written like `100kB`."""
BitRate = Annotated[int, _quantity(parse_rate), Field(gt=0, le=_MOST)]
"""A rate in bits per second, written like `20Mbit/s`."""
Share = Annotated[float, _quantity(parse_share), Field(ge=0, le=1)]
"""A fraction from 0 to 1, written like `0.5%` or `0.005`."""
Change = Annotated[float, _quantity(parse_change)]
"""A relative change, written like `-31.2 %` or `-0.312`."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,39}")
"""The pattern for names of factors and levels, which also appear as column names, in folder names and on command
lines."""


def check_name(name: str, what: str) -> str:
    """Return the name if it is valid for a factor or level (`what`). Raises ValueError."""
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name!r} is not a valid {what} name; use up to 40 letters, digits and . _ + -")
    return name


def _level_names(value: object) -> object:
    """Return a level or a list of levels as a list of names. Levels may be written as numbers."""
    names = value if isinstance(value, list) else [value]
    if not names or not all(isinstance(name, str | int | float) for name in names):
        raise ValueError(f"{value!r} is not valid; write a level, or a list of levels")
    return [str(name).lower() if isinstance(name, bool) else str(name) for name in names]


Levels = Annotated[list[str], BeforeValidator(_level_names)]
"""The names of levels of one factor."""
