"""Defines gateway.json: the delay that the path to a server outside the lab adds to the link's own delay
(docs/contracts/gateway.md)."""

from pathlib import Path
from typing import Literal

from h123.documents.reading import read_document
from h123.documents.shapes import Count, Document, Shape

NAME = "gateway.json"


class AddedDelay(Shape):
    """The median round-trip times to an echo server next to the gateway, in ns: through the gateway, and without it."""

    through_ns: Count
    without_ns: Count

    @property
    def ns(self) -> int:
        """The delay in ns that the gateway adds."""
        return self.through_ns - self.without_ns


class GatewayFacts(Document):
    """The measurements of one trial's gateway."""

    h123: Literal["gateway/1"]
    to: str
    tcp: AddedDelay
    udp: AddedDelay
    beyond_ns: Count | None
    """The time in ns that this machine takes to open a TCP connection to the server. None if the server accepts no
    connection."""


def read_gateway(trial: Path) -> GatewayFacts | None:
    """Return what a trial's gateway measured, or None if the server was in the lab."""
    path = trial / NAME
    return read_document(path, GatewayFacts) if path.is_file() else None
