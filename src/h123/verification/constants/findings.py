"""Defines the constants that packets show about a stack, for a subject in one role over one protocol."""

from typing import Any

from pydantic import Field, model_validator

from h123.base.strict import Strict
from h123.documents.campaign_file import VerifiedRole


class NotMeasurable(Exception):
    """Raised if packets do not show a constant. The message gives the reason."""


class HandshakeSize(Strict):
    """The cost of a handshake: the round trips and bytes until the client could send its request."""

    round_trips: float
    bytes_up: int
    """The bytes of the client's IP packets, including headers, without the packets that carry the request."""
    bytes_down: int


class Flight(Strict):
    """The packets that were sent before an acknowledgement of any of them could arrive."""

    packets: int
    full: int
    """The number of packets that have the most common size."""
    bytes: int
    """Payload bytes, excluding TCP or UDP headers."""
    spread: float
    """The share of a round trip during which the flight was sent. 0 means that it was sent at once."""


class SlowStart(Strict):
    """A sender's slow start."""

    growth: float
    """The median ratio of a round trip's bytes to the previous round trip's, while the window grows."""
    spread: float
    """The share of a round trip during which one flight was sent: the last flight after which the window still grew."""
    ends: int | None
    """The bytes of the first round trip that the next one barely exceeds, if at all. None if the window grew until the
    body's end."""
    why: str
    """The apparent reason why slow start ended."""

    @model_validator(mode="before")
    @classmethod
    def _ignore_rounds(cls, data: Any) -> Any:
        """Ignore the bytes of each round trip in records of earlier versions."""
        return {key: value for key, value in data.items() if key != "rounds"} if isinstance(data, dict) else data


class InFlight(Strict):
    """The largest numbers of payload bytes in a round trip, on a link without losses."""

    early: int
    """The most bytes in a round trip that began within the first 10 MB of the body."""
    late: int
    """The most bytes in a later round trip."""
    held: bool
    """Whether the number of bytes is nearly constant in the last round trips. If so, a receiver's window or a sender's
    buffer limits it."""


class Datagrams(Strict):
    """The sizes of a sender's payloads, in bytes."""

    first: int
    """The most common size in the first flight."""
    common: int
    """The most common size in the whole body."""
    largest: int
    grew: float | None
    """The number of round trips from the first flight until most packets have at least the size `common`. None if most
    packets of the first flight do."""


class LossResponse(Strict):
    """The effect of one loss after slow start on the sender's window, as medians over several transfers."""

    keeps: float
    """The window after the recovery, as a share of the window before the loss."""
    each: list[float] = Field(default=[])
    """The value of `keeps` in each transfer, ascending. Empty in records of earlier versions of h123, which ran only
    one transfer."""
    regrown: dict[int, float]
    """Maps seconds after the loss to the window at that time, as a share of the window before the loss."""


class Tail(Strict):
    """The retransmissions of a body's last packet, when this packet and the first retransmissions are lost."""

    round_trip_ms: float
    first_ms: float
    """The time in ms from the sender's previous packet to the first retransmission."""
    second_ms: float | None
    """The time in ms from the sender's previous packet to the second retransmission. None if there was none."""


class Silence(Strict):
    """A pause of the sender, and the size of the first flight after it."""

    seconds: float
    packets: int
    bytes: int
    before: int
    """The payload bytes of the fullest round trip before the pause."""


class Constants(Strict):
    """The constants of one role and protocol. A constant that was not measured is None, and `unknown` gives the
    reason."""

    role: VerifiedRole
    protocol: str
    congestion: str
    """The subject's congestion controller."""
    handshake: HandshakeSize | None = None
    first_flight: Flight | None = None
    slow_start: SlowStart | None = None
    decrease: LossResponse | None = None
    datagrams: Datagrams | None = None
    in_flight: InFlight | None = None
    """The bytes in flight while the subject sends a body."""
    received: InFlight | None = None
    """The bytes in flight from the other end while the subject receives a body from it."""
    acknowledgements: float | None = None
    """The number of packets that the subject sends for each data packet that it receives."""
    tail_near: Tail | None = None
    """The tail on a link with such a short round trip that the sender's minimum timeout decides when it retransmits."""
    tail_far: Tail | None = None
    silences: list[Silence] | None = None
    unknown: dict[str, str] = Field(default={})
    """Reasons for missing constants, keyed by the constant's name."""
