"""Defines the result of a standard situation: the time of a request, divided into causes."""

from pydantic import Field, field_validator

from h123.base.strict import Strict
from h123.causes import FORMER_NAMES
from h123.documents.campaign_file import VerifiedRole


class SituationResult(Strict):
    """The result of one role, protocol and situation. If there is no result, `seconds` is None, and `unknown` gives the
    reason."""

    role: VerifiedRole
    protocol: str
    congestion: str
    """The subject's congestion controller."""
    situation: str
    seconds: float | None = None
    """The mean time of a request in seconds."""
    least: float
    """The minimum time of a request in seconds: a round trip, plus the time of the body at the link's rate."""
    parts: dict[str, float] = Field(default={})
    """Maps causes (docs/why.md) to seconds, which add up to `seconds`. Former names of causes are accepted when
    reading."""
    in_flight: int | None = None
    """The most payload bytes sent in a round trip. None if unknown."""
    spread: float | None = None
    """The share of a round trip during which a slow-start flight was sent. It is measured only for a subject that sends
    over a long, fast link with QUIC, where only the subject's own pacer could delay so few packets."""
    unknown: str = ""

    @field_validator("parts")
    @classmethod
    def _rename(cls, parts: dict[str, float]) -> dict[str, float]:
        return {FORMER_NAMES.get(name, name): seconds for name, seconds in parts.items()}
