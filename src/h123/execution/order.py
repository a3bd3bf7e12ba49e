"""Defines a block order: all that a machine needs to run blocks of a campaign, without paths (docs/contracts/pool.md).

An order with the user's own server is an exception: only the machine that has the server's program, or can reach its
address, can run the order.
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
    """The facts about an earlier attempt that decide whether the trial runs again."""

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
    """The rules by which the machine runs the blocks."""

    jobs: Count | None
    """The largest number of simultaneous trials. None: the links' rates and the headroom decide."""
    headroom: Headroom
    """The headroom of the machine, from earlier orders."""
    compared: str
    """The factor whose levels are compared."""
    tolerated: Share
    """The largest fraction of a metric's value that may be due to the machine in an undisturbed trial."""
    question: list[str]
    """The metrics that decide whether a trial counts as disturbed."""
    metrics: list[str]
    """The metrics whose disturbance is recorded. Empty: disturbances are not measured."""
    retries: Retries
    patience: Patience


class BlockOrder(Message):
    """An order to run blocks on one machine."""

    h123: Literal["order/1"] = "order/1"
    version: str = __version__
    """The version of h123. A different version might measure differently."""
    number: Count
    """The number of the order within one run of a campaign."""
    seed: Whole
    """The campaign's seed, for certificates."""
    blocks: list[list[PlannedTrial]]
    """Complete blocks in their planned order, including trials that have already been attempted."""
    history: dict[str, list[PastAttempt]]
    """Earlier attempts by trial, as the function `history` returns them."""
    networks: dict[str, dict[str, Any]]
    """Resolved networks by name."""
    servers: dict[str, OwnServer]
    """The user's own servers by name."""
    subjects: dict[str, Digest]
    """The subjects of the catalogue that the machine installs, with the fingerprints of their files."""
    roots: dict[str, Digest]
    """The digests of archives with files that only these trials need, by the root that the trials name."""
    prepared: dict[str, Digest] = Field(default={})
    """The digests of archives with a trial's files, by trial, if these files do not come from the plan."""
    policy: Policy

    @classmethod
    def read(cls, text: str | bytes) -> "BlockOrder":
        """Parse the JSON that `model_dump_json` wrote. Raises ValidationError for anything else."""
        return cls.model_validate_json(text, context=RESOLVED)

    def portable(self) -> str:
        """Return the order in a form that another machine can execute. Raises UserError if there is none."""
        for name, server in self.servers.items():
            if server.travels:
                continue
            what = f"runs at {server.address}" if server.address else f"is a program on this machine ({server.command})"
            raise UserError(
                f"server {name} {what}; other machines do not have it",
                remedy="run the study on this machine alone, or make the server a subject (docs/contracts/subject.md)",
            )
        return self.model_dump_json()

    def profiles(self) -> dict[str, Network]:
        return {name: Network.from_resolved(resolved) for name, resolved in self.networks.items()}

    def trials(self) -> list[PlannedTrial]:
        return [trial for block in self.blocks for trial in block]

    def archives(self) -> dict[str, Digest]:
        """Return all archives that are sent with the order, with their digests."""
        return {**self.roots, **self.prepared}


def history(attempts: Iterable[LiveAttempt]) -> list[PastAttempt]:
    """Return earlier attempts at a trial in the form that orders use."""
    fields = PastAttempt.__annotations__
    return [PastAttempt(**{name: value for name, value in event.items() if name in fields}) for event in attempts]  # type: ignore[typeddict-item]
