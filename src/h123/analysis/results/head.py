"""Reads the first line of a published result, and defines its model."""

from collections.abc import Sequence
from functools import cache
from typing import Literal

from pydantic import TypeAdapter, ValidationError, with_config
from typing_extensions import TypedDict

from h123.analysis.claims.rows import LedgerDecided
from h123.base.errors import UserError
from h123.documents import fault_of
from h123.documents.campaign_file import CampaignFile
from h123.documents.result_file import PublishedResult
from h123.documents.shapes import STRICT, Digest


@with_config(STRICT)
class Sealed(TypedDict):
    """The number of finished attempts, and a digest of all their seals."""

    attempts: int
    digest: Digest
    """SHA-256 of the sorted lines `TRIAL~ATTEMPT DIGEST`, including line ends."""


@with_config(STRICT)
class SpreadRow(TypedDict):
    """How much the ratios of some comparisons vary from block to block (statistics/spreads.py)."""

    network: str
    clock: str
    method: str
    size: int
    users: int
    requests: int
    metric: str
    blocks: int
    comparisons: int
    spread: float


@with_config(STRICT)
class ResultHead(TypedDict):
    """The origin of a result, and everything that commands read from many results at once."""

    h123: Literal["result/4"]
    name: str
    command: str
    """The command that repeats the campaign."""
    campaign: CampaignFile
    """The content of campaign.json: study, networks, seed, blocks, version, date, machine and its kernel, subjects."""
    seals: Sealed
    claims: Sequence[LedgerDecided]
    """The verdicts on claims, as in verdicts.json."""
    spreads: Sequence[SpreadRow]
    rest: Digest
    """SHA-256 of all following lines."""
    digest: Digest
    """SHA-256 of this line without `digest`."""


def head_of(result: PublishedResult) -> ResultHead:
    """Return the head of a result. Raises UserError if its shape is wrong or the result is damaged."""
    if not isinstance(result.head.get("campaign"), dict):
        raise UserError(f"{result.place} is not as h123 writes it: it has no `campaign`")
    try:
        return _model().validate_python({**result.head, "campaign": result.campaign}, strict=True)
    except ValidationError as invalid:
        raise UserError(f"{result.place} is not as h123 writes it: {fault_of(invalid)}") from None


@cache
def _model() -> TypeAdapter[ResultHead]:
    return TypeAdapter(ResultHead)
