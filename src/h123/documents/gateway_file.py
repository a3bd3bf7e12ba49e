"""gateway.json: what the way to a server that runs elsewhere adds to what the link does (docs/contracts/gateway.md)."""

from pathlib import Path
from typing import Literal

from h123.documents.reading import read_document
from h123.documents.shapes import Count, Document, Shape

NAME = "gateway.json"


class AddedDelay(Shape):
    """A round trip to an echo beside the gateway, ns, median."""

    through_ns: Count
    without_ns: Count

    @property
    def ns(self) -> int:
        """That the gateway adds."""
        return self.through_ns - self.without_ns


class GatewayFacts(Document):
    """Of one trial."""

    h123: Literal["gateway/1"]
    to: str
    tcp: AddedDelay
    udp: AddedDelay
    beyond_ns: Count | None
    """That a TCP connection to the server takes from this machine; None: it takes none."""


def read_gateway(trial: Path) -> GatewayFacts | None:
    """What a trial's gateway measured; None where the server was in the lab."""
    path = trial / NAME
    return read_document(path, GatewayFacts) if path.is_file() else None
