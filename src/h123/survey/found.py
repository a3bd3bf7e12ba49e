"""What the scout found (docs/contracts/scout.md)."""

from typing import Literal

from pydantic import Field

from h123.results import Count, Document, Shape


class Answer(Shape):
    """One answer, or why there was none."""

    status: Count
    bytes: Count
    sha256: str
    endless: bool
    error: str
    ns: Count
    location: str
    encoding: str
    authenticate: str
    alt_svc: str

    @property
    def failed(self) -> bool:
        return bool(self.error) or self.endless


class Spoken(Shape):
    """What came of one protocol."""

    protocol: Literal["h1", "h2", "h3"]
    error: str
    """Why there is no connection; empty: there is one."""
    no_tls: bool
    only_tls_1_2: bool
    distrust: str
    """Why its certificate is not believed by the authorities that were named; empty: it is, or none were."""
    answers: list[list[Answer]]
    """By request, those of which one was tried, and then one after another."""


class Certificate(Shape):
    """The server's own."""

    subject: str
    issuer: str
    self_signed: bool
    names: list[str]
    fits: bool
    """It is for the name that was asked for."""
    not_before_unix: int
    not_after_unix: int


class Found(Document):
    """All of it."""

    h123: Literal["found/1"]
    protocols: list[Spoken] = Field(min_length=1)
    certificate: Certificate | None

    @property
    def mute(self) -> bool:
        """Whether nothing came about over any protocol, and nobody knows why."""
        return all(each.error and not each.no_tls and not each.only_tls_1_2 for each in self.protocols)

    def spoken(self) -> list[Spoken]:
        """The protocols over which there was a connection."""
        return [each for each in self.protocols if not each.error]
