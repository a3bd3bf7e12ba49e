"""A block order: all that a machine needs to run blocks of a campaign, and no path of any machine.

A person's own server is the exception that cannot be helped: it is a program of one machine, and its order names the
folder there.
"""

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

from h123.catalogue import OwnServer
from h123.documents.shapes import Count, Digest, Document, Shape, Share, Whole
from h123.execution.jobs import Headroom
from h123.execution.retry_policy import Event
from h123.study import RESOLVED, Network, PlannedTrial

_HISTORY = (
    "trial",
    "attempt",
    "block",
    "position",
    "valid",
    "reasons",
    "disturbed",
    "disturbance",
    "noise",
    "forgiven",
)
"""What of an earlier attempt decides whether there is another."""


class Policy(Shape):
    """How the blocks are run."""

    jobs: Count | None
    """At once at most; None: chosen by the links' rates and the headroom."""
    headroom: Headroom
    """Of the machine, by what has run there."""
    compared: str
    """The factor whose levels are compared."""
    tolerated: Share
    """Of a metric, that may be the machine's in a trial that counts as undisturbed."""
    question: list[str]
    """The metrics by which a trial counts as disturbed."""
    metrics: list[str]
    """Those whose disturbance is recorded."""


class BlockOrder(Document):
    """Blocks to run on one machine."""

    h123: Literal["order/1"]
    version: str
    """Of h123: another one might measure otherwise."""
    number: Count
    """Of the order, among those of one run of a campaign."""
    seed: Whole
    """The campaign's: of certificates."""
    blocks: list[list[PlannedTrial]]
    """Whole, each in its planned order: also what has been tried already."""
    tried: dict[str, list[dict[str, Any]]]
    """Earlier attempts, by trial (`history`)."""
    networks: dict[str, dict[str, Any]]
    """Resolved, by name."""
    servers: dict[str, OwnServer]
    """A person's own, by name."""
    subjects: dict[str, Digest]
    """Those of the catalogue that take part, with the fingerprints of their files."""
    roots: dict[str, Digest]
    """Folders of files that only this campaign has, with the digests of what is in them."""
    policy: Policy

    @classmethod
    def read(cls, text: str) -> "BlockOrder":
        """What `model_dump_json` wrote."""
        return cls.model_validate_json(text, context=RESOLVED)

    def profiles(self) -> dict[str, Network]:
        """The networks by name."""
        return {name: Network.from_resolved(resolved) for name, resolved in self.networks.items()}

    def trials(self) -> list[PlannedTrial]:
        """Of all blocks."""
        return [trial for block in self.blocks for trial in block]


def history(tried: Iterable[Event]) -> list[dict[str, Any]]:
    """Earlier attempts at a trial as an order has them."""
    return [{name: value for name, value in event.items() if name in _HISTORY} for event in tried]


def folder_digest(folder: Path) -> str:
    """Of the names and contents of all files in a folder."""
    digest = hashlib.sha256()
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        content = file.read_bytes()
        digest.update(f"{file.relative_to(folder)}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()
