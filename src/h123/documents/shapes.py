"""Defines base classes for the documents of a campaign. Each document has its own module.

h123 reads and writes documents through these models. A document is untrusted input, so types are strict, and numbers
are bounded so that arithmetic cannot overflow. Fields that earlier versions did not write are optional, and fields of
later versions are ignored.
"""

from typing import Annotated, get_args

from pydantic import BaseModel, ConfigDict, Field, with_config
from typing_extensions import TypedDict

Whole = Annotated[int, Field(ge=-(2**62), lt=2**62)]
Count = Annotated[int, Field(ge=0, lt=2**62)]
Share = Annotated[float, Field(ge=0, le=1)]
Seconds = Annotated[float, Field(ge=0, le=1e10)]
Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Spans = list[Annotated[list[Whole], Field(min_length=2, max_length=2)]]
"""Pairs [from, to], ascending."""
STRICT = ConfigDict(strict=True, allow_inf_nan=False, defer_build=True)
"""A configuration with strict types: a string is not a number, and a number is not a boolean."""


class Shape(BaseModel):
    """A part of a document."""

    model_config = STRICT


class Document(Shape):
    """A file whose `h123` key names its format."""

    h123: str

    @classmethod
    def form(cls) -> str:
        """Return the name of this document's format, such as `report/1`."""
        return str(get_args(cls.model_fields["h123"].annotation)[0])


@with_config(STRICT)
class Reason(TypedDict):
    """A reason why an attempt is invalid, or a warning about a valid one."""

    code: str
    """The code, which `h123 explain CODE` explains."""
    detail: str
