"""Defines the findings of the scout, the program that examines an unknown server (docs/contracts/scout.md)."""

import re
from typing import Literal

from pydantic import Field

from h123.documents import Count, Document, Shape

_HTTP_3 = re.compile(r"""(?:^|[\s,])h3="(?P<host>[^":]*):(?P<port>[0-9]{1,5})\"""")


class Answer(Shape):
    """One response, or the reason why there is none."""

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
        """The host and UDP port at which the response announces HTTP/3 (RFC 7838), or None. An empty host means the
        server's own."""
        match = _HTTP_3.search(self.alt_svc)
        return (match["host"], int(match["port"])) if match and 1 <= int(match["port"]) <= 65535 else None


class ProtocolFindings(Shape):
    """The scout's findings over one protocol."""

    protocol: Literal["h1", "h2", "h3"]
    error: str
    """Why there is no connection. Empty if there is one."""
    no_tls: bool
    only_tls_1_2: bool
    asks_for_certificate: bool
    """Whether the server requests a client certificate. The scout has none."""
    connections: Count
    """The number of connections over which the responses arrived."""
    distrust: str
    """Why the given authorities do not confirm the server's certificate. Empty if they do, or if none were given."""
    answers: list[list[Answer]]
    """The responses to each request, in the order in which the scout made the requests."""


class PresentedCertificate(Shape):
    """The server's own certificate."""

    subject: str
    issuer: str
    self_signed: bool
    names: list[str]
    fits: bool
    """Whether the certificate is for the requested name."""
    not_before_unix: int
    not_after_unix: int


class ProbeFindings(Document):
    """All findings about a server."""

    h123: Literal["found/1"]
    protocols: list[ProtocolFindings] = Field(min_length=1)
    certificate: PresentedCertificate | None

    @property
    def mute(self) -> bool:
        """Whether no protocol led to a connection, without a sign that TLS or its version is the reason."""
        return all(each.error and not each.no_tls and not each.only_tls_1_2 for each in self.protocols)

    def announced(self) -> tuple[str, int] | None:
        """Return the host and UDP port at which the server's responses announce HTTP/3, or None. An empty host means
        the server's own."""
        answers = [answer for each in self.protocols for had in each.answers for answer in had]
        return next((answer.announced for answer in answers if answer.announced), None)

    def of(self, protocol: str) -> ProtocolFindings:
        return next(each for each in self.protocols if each.protocol == protocol)

    def spoken(self) -> list[ProtocolFindings]:
        """Return the findings over the protocols that led to a connection."""
        return [each for each in self.protocols if not each.error]
