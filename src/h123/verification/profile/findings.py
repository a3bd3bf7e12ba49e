"""Defines the result of a standard situation: the causes of a subject's request time."""

from pydantic import Field, field_validator

from h123.base.strict import Strict
from h123.causes import FORMER_NAMES
from h123.documents.campaign_file import VerifiedRole


class SituationResult(Strict):
    """The result of one role, protocol and situation. If `seconds` is None there is no result, and `unknown` gives the
    reason."""

    role: VerifiedRole
    protocol: str
    congestion: str
    """The controller of the end that sends bodies: the subject's, or the other end's if the subject only receives."""
    situation: str
    seconds: float | None = None
    """The mean time of a request in seconds."""
    least: float
    """The minimum time of a request in seconds: a round trip, plus the body at the link's rate."""
    parts: dict[str, float] = Field(default={})
    """Seconds by cause (docs/why.md), which add up to `seconds`. Former names of causes are accepted when reading."""
    in_flight: int | None = None
    """The most payload bytes in a round trip."""
    spread: float | None = None
    """The share of a round trip during which a flight of slow start was sent. Only for a subject that sends over a
    long, fast QUIC path, where only its own pacer could delay so few packets."""
    unknown: str = ""

    @field_validator("parts")
    @classmethod
    def _rename(cls, parts: dict[str, float]) -> dict[str, float]:
        return {FORMER_NAMES.get(name, name): seconds for name, seconds in parts.items()}
