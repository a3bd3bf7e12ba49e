"""Causes of a subject's request time in one of the standard situations."""

from pydantic import Field, field_validator

from h123.base.strict import Strict
from h123.causes import FORMER_NAMES
from h123.documents.campaign_file import VerifiedRole


class SituationResult(Strict):
    """The result of one role, protocol and situation. Without `seconds` there is no result, and `untold` says why."""

    role: VerifiedRole
    protocol: str
    congestion: str
    """The controller of the sender of bodies: the subject's or, if it only receives them, the other end's."""
    situation: str
    seconds: float | None = None
    """Seconds of the mean request."""
    least: float
    """The minimum time of a request, s: a round trip, and the body at the link's rate."""
    parts: dict[str, float] = Field(default={})
    """Seconds by cause (docs/why.md); they sum up to `seconds`. Former names of causes are read, too."""
    in_flight: int | None = None
    """The most payload bytes in a round trip."""
    spread: float | None = None
    """Share of a round trip during which a flight of slow start was sent; only for a subject that sends far and fast
    over QUIC, where nothing except its own pacer could hold back so few packets."""
    untold: str = ""

    @field_validator("parts")
    @classmethod
    def _rename(cls, parts: dict[str, float]) -> dict[str, float]:
        return {FORMER_NAMES.get(name, name): seconds for name, seconds in parts.items()}
