"""What the documents of a campaign are made of; each has its own module.

A document is read into its model and written from it. It may be anybody's: types are held as JSON has them, numbers are
bounded so that no arithmetic on them overflows, what earlier versions did not write is optional, and what a later one
adds is passed over.
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
"""[from, to], ascending."""
STRICT = ConfigDict(strict=True, allow_inf_nan=False, defer_build=True)
"""No text for a number, no number for a truth."""


class Shape(BaseModel):
    """A part of a document."""

    model_config = STRICT


class Document(Shape):
    """A file, whose `h123` is its format."""

    h123: str

    @classmethod
    def form(cls) -> str:
        """Of this document, such as `report/1`."""
        return str(get_args(cls.model_fields["h123"].annotation)[0])


@with_config(STRICT)
class Reason(TypedDict):
    """Why an attempt is not valid, or a remark on one that is."""

    code: str
    detail: str
