"""claims/*.yaml: what published work claims, sentence by sentence, with what would decide each claim.

`checks` are figures of a claim that arithmetic or physics can judge without any measurement; h123.analysis.claims
computes them. Their quantities are written with units, as everywhere.
"""

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, StrictInt, model_validator

from h123.errors import UserError
from h123.strict import Strict
from h123.study.document import Document
from h123.study.quantities import BitRate, Duration, Share, Size
from h123.study.shelf import list_claims

FORMAT = "claims/1"
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Sample = Annotated[StrictInt, Field(ge=1, le=500)]


class RateCheck(Strict):
    """Requests a second of a size, over a link."""

    check: Literal["rate-within-link"]
    rps: Positive
    size: Annotated[Size, Field(gt=0)]
    link: BitRate


class TransferCheck(Strict):
    """One request's body in its time, over a link that `users` share."""

    check: Literal["transfer-within-link"]
    size: Annotated[Size, Field(gt=0)]
    time: Annotated[Duration, Field(gt=0)]
    users: Annotated[StrictInt, Field(ge=1)] = 1
    link: BitRate


class LittleCheck(Strict):
    """Requests a second, with so many in flight over a round trip."""

    check: Literal["requests-within-littles-law"]
    rps: Positive
    in_flight: Annotated[StrictInt, Field(ge=1)]
    round_trip: Annotated[Duration, Field(gt=0)]


class PercentageCheck(Strict):
    """The change from one figure to another, beside the percentage printed: `-31.2` for 31.2 % lower."""

    check: Literal["percentage"]
    before: Positive
    after: Positive
    printed: Annotated[float, Field(allow_inf_nan=False)]
    digits: Annotated[StrictInt, Field(ge=0, le=6)] = 1
    """Decimals of the percentage."""


class RankBiserialCheck(Strict):
    """A rank-biserial correlation of two groups."""

    check: Literal["rank-biserial"]
    first: Sample
    second: Sample
    printed: Annotated[float, Field(ge=-1, le=1)]
    digits: Annotated[StrictInt, Field(ge=1, le=6)] = 3


class SmallestPCheck(Strict):
    """Two groups and a level at which Mann-Whitney's exact two-sided test is said to reject."""

    check: Literal["smallest-p"]
    first: Sample
    second: Sample
    alpha: Annotated[Share, Field(gt=0, lt=1)] = 0.05


class TlsCheck(Strict):
    """A version of TLS under a version of HTTP."""

    check: Literal["tls-version"]
    protocol: Literal["h1", "h2", "h3"]
    tls: Literal["1.2", "1.3"]


Check = RateCheck | TransferCheck | LittleCheck | PercentageCheck | RankBiserialCheck | SmallestPCheck | TlsCheck


class Origin(Strict):
    """The work that a file of claims is about."""

    title: str
    where: str
    """How to find it: journal, site, year."""


class Claim(Strict):
    """One claim."""

    id: Annotated[str, Field(pattern=r"^[A-Z][0-9]+[a-z]?$")]
    source: str | None = None
    """Of this claim, where the file speaks of several works."""
    quotation: Annotated[str, Field(min_length=1)] | None = None
    """A sentence of the source, letter by letter; what a figure or table says is in `condition`."""
    summary: Annotated[str, Field(min_length=1)] | None = None
    """The claim in our words, where several works say it in theirs."""
    condition: dict[str, Any] = Field(default={})
    metric: str
    estimand: str
    direction: Literal["lower", "higher", "equivalent", "none"]
    """What a is said to be beside b."""
    size: str | None = None
    a: str | None = None
    b: str | None = None
    rule: Annotated[str, Field(min_length=1)]
    """How it is decided, or what would decide it."""
    checks: list[Annotated[Check, Field(discriminator="check")]] = Field(default=[])

    @model_validator(mode="after")
    def _makes_sense(self) -> "Claim":
        if (self.a is None) != (self.b is None):
            raise ValueError("`a` and `b` belong together")
        if (self.quotation is None) == (self.summary is None):
            raise ValueError("write either `quotation` or `summary`")
        return self


class Ledger(Strict):
    """One file of claims."""

    source: Origin
    study: str | None = None
    """The study whose campaigns can decide these claims."""
    claims: list[Claim] = Field(min_length=1)


def load_ledger(path: Path) -> Ledger:
    """A file of claims. Raises UserError naming file, line and what is allowed there."""
    document = Document.read(path, FORMAT)
    ledger = document.validate(Ledger, document.data)
    names = [claim.id for claim in ledger.claims]
    for index, name in enumerate(names):
        if name in names[:index]:
            raise document.error(["claims", index, "id"], f"two claims are named {name!r}")
    return ledger


def ledgers_of(study: str | None) -> list[Ledger]:
    """The ledgers that come with h123; with `study`, those that its campaigns can decide. Raises UserError."""
    found = [ledger for ledger in map(load_ledger, list_claims()) if study in (None, ledger.study)]
    if not found:
        raise UserError(f"no file of claims is about study {study!r}", remedy="`h123 claims` lists all claims")
    return found
