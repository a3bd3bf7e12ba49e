"""The constants of a stack: what packets show of a subject in one role over one protocol."""

from pydantic import Field

from h123.base.strict import Strict
from h123.documents.campaign_file import VerifiedRole


class NotMeasurable(Exception):
    """Packets do not show a constant. The message is a sentence."""


class HandshakeSize(Strict):
    """The handshake until the client could send its request."""

    round_trips: float
    bytes_up: int
    """Bytes of IP packets, including headers, without those that carry the request."""
    bytes_down: int


class Flight(Strict):
    """The packets that were sent before an acknowledgement of any of them could have come back."""

    packets: int
    full: int
    """Packets of the most frequent size."""
    bytes: int
    """Payload bytes, without the headers of TCP or UDP."""
    spread: float
    """The share of a round trip during which the flight was sent. 0: all at once."""


class SlowStart(Strict):
    """Payload bytes sent in each round trip, from the first flight on."""

    rounds: list[int]
    growth: float
    """The growth factor from one round trip to the next, while it grows."""
    spread: float
    """Share of a round trip during which its fullest growing round trip was sent."""
    ends: int | None
    """Bytes of the first round trip that the next one barely exceeds. None if it grew to the end."""
    why: str
    """The apparent reason for its end."""


class InFlight(Strict):
    """The most payload bytes in a round trip when nothing is lost."""

    early: int
    """Bytes in a round trip within the first 10 MB."""
    late: int
    """Bytes in a round trip after them."""
    held: bool
    """Whether it stays constant in the end. If so, a receiver's window or a sender's buffer limits it."""


class Datagrams(Strict):
    """Sizes of payloads."""

    first: int
    """The most common size in the first flight."""
    common: int
    """The most common size of all."""
    largest: int
    grew: float | None
    """Round trips from the first flight until most packets have the common size; None if the first flight has it."""


class LossResponse(Strict):
    """The effect of one loss in steady state on the window, as medians over several transfers."""

    keeps: float
    """The share of the window that is used in the round trip after the recovery."""
    each: list[float] = Field(default=[])
    """The same in each transfer, ascending. Empty in records of versions that ran only one transfer."""
    regrown: dict[int, float]
    """The share of the window that is reached this many seconds after the loss."""


class Tail(Strict):
    """A lost last packet whose first retransmissions are lost too."""

    round_trip_ms: float
    first_ms: float
    """Time from the last packet before it, which starts the timer, to the first retransmission, ms."""
    second_ms: float | None
    """Time from the first retransmission to the second, ms."""


class Silence(Strict):
    """The first flight of an answer after a pause."""

    seconds: float
    packets: int
    bytes: int
    before: int
    """Payload bytes of the fullest round trip before the pause."""


class Constants(Strict):
    """The constants of one role and protocol. A constant that is None was not measured, and `untold` says why."""

    role: VerifiedRole
    protocol: str
    congestion: str
    """The controller of the sender."""
    handshake: HandshakeSize | None = None
    first_flight: Flight | None = None
    slow_start: SlowStart | None = None
    decrease: LossResponse | None = None
    datagrams: Datagrams | None = None
    in_flight: InFlight | None = None
    """Bytes in flight as the sender of bodies."""
    received: InFlight | None = None
    """Bytes in flight as the receiver of bodies: what the other end has in flight towards it."""
    acknowledgements: float | None = None
    """Packets that it sends for each data packet that it receives."""
    tail_near: Tail | None = None
    """The value over a round trip so short that it shows little more than the sender's minimum."""
    tail_far: Tail | None = None
    silences: list[Silence] | None = None
    untold: dict[str, str] = Field(default={})
    """Reasons for missing constants, by name."""
