"""What the scout found (docs/contracts/scout.md)."""

import re
from typing import Literal

from pydantic import Field

from h123.documents import Count, Document, Shape

_HTTP_3 = re.compile(r"""(?:^|[\s,])h3="(?P<host>[^":]*):(?P<port>[0-9]{1,5})\"""")


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

    @property
    def announced(self) -> tuple[str, int] | None:
        """Host, empty for the server's own, and UDP port of the HTTP/3 that it announces (RFC 7838)."""
        match = _HTTP_3.search(self.alt_svc)
        return (match["host"], int(match["port"])) if match and 1 <= int(match["port"]) <= 65535 else None


class ProtocolFindings(Shape):
    """What came of one protocol."""

    protocol: Literal["h1", "h2", "h3"]
    error: str
    """Why there is no connection; empty: there is one."""
    no_tls: bool
    only_tls_1_2: bool
    asks_for_certificate: bool
    """Of the client, which has none."""
    connections: Count
    """That all its answers took."""
    distrust: str
    """Why its certificate is not believed by the authorities that were named; empty: it is, or none were."""
    answers: list[list[Answer]]
    """By request, those of which one was tried, and then one after another."""


class PresentedCertificate(Shape):
    """The server's own."""

    subject: str
    issuer: str
    self_signed: bool
    names: list[str]
    fits: bool
    """It is for the name that was asked for."""
    not_before_unix: int
    not_after_unix: int


class ProbeFindings(Document):
    """All of it."""

    h123: Literal["found/1"]
    protocols: list[ProtocolFindings] = Field(min_length=1)
    certificate: PresentedCertificate | None

    @property
    def mute(self) -> bool:
        """Whether nothing came about over any protocol, and nobody knows why."""
        return all(each.error and not each.no_tls and not each.only_tls_1_2 for each in self.protocols)

    def announced(self) -> tuple[str, int] | None:
        """Host, empty for the server's own, and UDP port of the HTTP/3 that its answers announce."""
        answers = [answer for each in self.protocols for had in each.answers for answer in had]
        return next((answer.announced for answer in answers if answer.announced), None)

    def of(self, protocol: str) -> ProtocolFindings:
        """What came of it."""
        return next(each for each in self.protocols if each.protocol == protocol)

    def spoken(self) -> list[ProtocolFindings]:
        """The protocols over which there was a connection."""
        return [each for each in self.protocols if not each.error]
