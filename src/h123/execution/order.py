"""A block order: all that a machine needs to run blocks of a campaign, and no path of any machine
(docs/contracts/pool.md).

A server of your own is the exception: it is a program of one machine, or an address as that machine sees it. Its order
runs there alone.
"""

from collections.abc import Iterable
from typing import Any, Literal

from pydantic import Field, with_config
from typing_extensions import TypedDict

from h123 import __version__
from h123.base.errors import UserError
from h123.catalogue import OwnServer
from h123.documents.events import TrialName
from h123.documents.shapes import Count, Digest, Reason, Share, Whole
from h123.execution.jobs import Headroom
from h123.execution.retry_policy import LiveAttempt, Patience, Retries
from h123.execution.wire import CLOSED, Message, MessagePart
from h123.study import RESOLVED, Network, PlannedTrial


@with_config(CLOSED)
class PastAttempt(TypedDict, total=False):
    """What of an earlier attempt decides whether there is another."""

    trial: TrialName
    attempt: Count
    block: Count
    position: Count | None
    valid: bool
    reasons: list[Reason]
    disturbed: bool
    disturbance: Share | None
    noise: float
    forgiven: bool


class Policy(MessagePart):
    """How the blocks are run: all that the machine decides by."""

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
    """Those whose disturbance is recorded. None at all: no attempt is judged."""
    retries: Retries
    patience: Patience


class BlockOrder(Message):
    """Blocks to run on one machine."""

    h123: Literal["order/1"] = "order/1"
    version: str = __version__
    """Of h123: another one might measure otherwise."""
    number: Count
    """Of the order, among those of one run of a campaign."""
    seed: Whole
    """The campaign's: of certificates."""
    blocks: list[list[PlannedTrial]]
    """Whole, each in its planned order: also what has been tried already."""
    history: dict[str, list[PastAttempt]]
    """Earlier attempts, by trial (`history`)."""
    networks: dict[str, dict[str, Any]]
    """Resolved, by name."""
    servers: dict[str, OwnServer]
    """Your own, by name."""
    subjects: dict[str, Digest]
    """Those of the catalogue that the machine installs, with the fingerprints of their files."""
    roots: dict[str, Digest]
    """Archives with files that only these trials have, by the root that the trials name, with their digests."""
    prepared: dict[str, Digest] = Field(default={})
    """Archives with the files of trials that are not written by the plan, by the trial, with their digests."""
    policy: Policy

    @classmethod
    def read(cls, text: str | bytes) -> "BlockOrder":
        """What `model_dump_json` wrote. Raises ValidationError for anything else."""
        return cls.model_validate_json(text, context=RESOLVED)

    def portable(self) -> str:
        """The order as it travels to another machine. Raises UserError where it cannot."""
        for name, server in self.servers.items():
            what = f"runs at {server.address}" if server.address else f"is a program of this machine ({server.command})"
            raise UserError(
                f"server {name} {what}; other machines do not have it",
                remedy="run the study on this machine alone, or make the server a subject (docs/contracts/subject.md)",
            )
        return self.model_dump_json()

    def profiles(self) -> dict[str, Network]:
        """The networks by name."""
        return {name: Network.from_resolved(resolved) for name, resolved in self.networks.items()}

    def trials(self) -> list[PlannedTrial]:
        """Of all blocks."""
        return [trial for block in self.blocks for trial in block]

    def archives(self) -> dict[str, Digest]:
        """All that travel with it, with their digests."""
        return {**self.roots, **self.prepared}


def history(attempts: Iterable[LiveAttempt]) -> list[PastAttempt]:
    """Earlier attempts at a trial as an order has them."""
    fields = PastAttempt.__annotations__
    return [PastAttempt(**{name: value for name, value in event.items() if name in fields}) for event in attempts]  # type: ignore[typeddict-item]
