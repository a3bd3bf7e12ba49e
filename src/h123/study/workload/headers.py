"""Defines the request headers of a workload: headers with a given value, and headers of a given size that change or
stay the same, such as cookies."""

import base64
import hashlib
import re
from collections.abc import Iterable, Iterator
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from h123.base.strict import Strict
from h123.study.quantities import Size

DIGITS = 12
"""A header value that changes ends with the request's number, which has this many digits."""
MOST_BYTES = 16_000
"""The largest size of a value in bytes. Servers refuse larger values."""
MOST_HEADERS = 100
RESERVED = frozenset(
    {
        *("host", "content-length", "connection", "transfer-encoding", "keep-alive", "proxy-connection", "upgrade"),
        *("te", "trailer", "expect"),
    }
)
"""Headers that belong to the connection or the message. Clients set them themselves."""
_TOKEN = re.compile(r"[a-z0-9!#$%&'*+.^_`|~-]{1,100}")


def _name(name: str) -> str:
    lower = name.lower()
    if name.startswith(":"):
        raise ValueError(f"{name} is a pseudo-header of HTTP/2 and HTTP/3, which clients write themselves")
    if lower in RESERVED:
        raise ValueError(f"the client writes {name} itself, for the connection or the message")
    if not _TOKEN.fullmatch(lower):
        raise ValueError(f"{name!r} is not a valid header name: use letters, digits and -")
    return lower


def _value(value: str | None) -> str | None:
    if value is None:
        return None
    if value != value.strip() or not value.isascii() or not value.isprintable():
        raise ValueError("a value must be printable ASCII text without spaces at its ends")
    if not 0 < len(value) <= MOST_BYTES:
        raise ValueError(f"a value must have 1 to {MOST_BYTES} bytes")
    return value


class Header(Strict):
    """A given header, `{name: accept, value: text/html}`, or a generated one, `{name: cookie, bytes: 1kB, changes:
    request}`."""

    name: Annotated[str, AfterValidator(_name)]
    value: Annotated[str | None, AfterValidator(_value)] = None
    bytes: Annotated[Size, Field(ge=1, le=MOST_BYTES)] | None = None
    """The size of a generated value in bytes."""
    changes: Literal["never", "request"] = "never"
    """request: the value is different in each request."""

    @model_validator(mode="after")
    def _one_value(self) -> "Header":
        if (self.value is None) == (self.bytes is None):
            raise ValueError("write either `value`, or `bytes` for a generated value")
        if self.changes == "request" and (self.bytes or 0) < DIGITS:
            raise ValueError(f"a header that changes must be generated, with {DIGITS} bytes or more")
        return self


class WrittenHeader(BaseModel):
    """A header in workload.json. If it `changes`, each request replaces the last DIGITS characters of the value with
    its number."""

    model_config = ConfigDict(strict=True, defer_build=True)

    name: str
    value: str
    changes: bool = False


def once_each(headers: tuple[Header, ...]) -> tuple[Header, ...]:
    """Return the headers. Raises ValueError if two have the same name."""
    names = [header.name for header in headers]
    if twice := [name for name in names if names.count(name) > 1]:
        raise ValueError(f"{twice[0]} occurs twice")
    return headers


def written_headers(headers: Iterable[Header]) -> Iterator[WrittenHeader]:
    """Yield the headers in the form of workload.json."""
    for header in headers:
        value = header.value or _filler(header.name, header.bytes or 0)
        yield WrittenHeader(name=header.name, value=value, changes=header.changes == "request")


def _filler(name: str, size: int) -> str:
    """Return letters that compress poorly and are the same in every trial."""
    pieces = (hashlib.sha256(f"h123 header {name} {n}".encode()).digest() for n in range(size // 40 + 1))
    return base64.urlsafe_b64encode(b"".join(pieces)).decode()[:size]
