"""Defines the constants that packets show about a stack, for a subject in one role over one protocol."""

from pydantic import Field

from h123.base.strict import Strict
from h123.documents.campaign_file import VerifiedRole


class NotMeasurable(Exception):
    """Raised if packets do not show a constant. The message is a sentence."""


class HandshakeSize(Strict):
    """The size of a handshake: the round trips and bytes until the client could send its request."""

    round_trips: float
    bytes_up: int
    """Bytes of IP packets, including headers, without those that carry the request."""
    bytes_down: int


class Flight(Strict):
    """The packets that were sent before an acknowledgement of any of them could arrive."""

    packets: int
    full: int
    """The number of packets with the most frequent size."""
    bytes: int
    """Payload bytes, without the headers of TCP or UDP."""
    spread: float
    """The share of a round trip during which the flight was sent. 0: all at once."""


class SlowStart(Strict):
    """The payload bytes sent in each round trip, beginning with the first flight."""

    rounds: list[int]
    growth: float
    """The growth factor from one round trip to the next, while the window grows."""
    spread: float
    """The share of a round trip over which the largest flight was spread while the window grew."""
    ends: int | None
    """The bytes of the first round trip that the next one barely exceeds. None if the window grew until the end."""
    why: str
    """The apparent reason why slow start ended."""


class InFlight(Strict):
    """The largest number of payload bytes in a round trip without losses."""

    early: int
    """The most bytes in a round trip within the first 10 MB."""
    late: int
    """The most bytes in a round trip after the first 10 MB."""
    held: bool
    """Whether the number of bytes is constant at the end. If so, a receiver's window or a sender's buffer limits it."""


class Datagrams(Strict):
    """Sizes of payloads in bytes."""

    first: int
    """The most common size in the first flight."""
    common: int
    """The most common size of all."""
    largest: int
    grew: float | None
    """The round trips from the first flight until most packets have the common size. None if the first flight already
    has it."""


class LossResponse(Strict):
    """The effect of one loss in steady state on the window, as medians over several transfers."""

    keeps: float
    """The share of the window that is used in the round trip after the recovery."""
    each: list[float] = Field(default=[])
    """The value of `keeps` in each transfer, ascending. Empty in records of versions that ran only one transfer."""
    regrown: dict[int, float]
    """Maps seconds after the loss to the share of the window that is reached by then."""


class Tail(Strict):
    """The retransmissions of a lost last packet. The first retransmissions are lost too."""

    round_trip_ms: float
    first_ms: float
    """The time in ms from the packet before the lost one, which starts the timer, to the first retransmission."""
    second_ms: float | None
    """The time in ms from the first retransmission to the second."""


class Silence(Strict):
    """The first flight of an answer after a pause."""

    seconds: float
    packets: int
    bytes: int
    before: int
    """Payload bytes of the fullest round trip before the pause."""


class Constants(Strict):
    """The constants of one role and protocol. A constant that is None was not measured, and `unknown` gives the
    reason."""

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
    """The bytes in flight while the subject sends a body."""
    received: InFlight | None = None
    """The bytes in flight from the other end while the subject receives a body."""
    acknowledgements: float | None = None
    """Packets that the subject sends for each data packet that it receives."""
    tail_near: Tail | None = None
    """The tail over a round trip so short that little more than the sender's minimum timeout shows."""
    tail_far: Tail | None = None
    silences: list[Silence] | None = None
    unknown: dict[str, str] = Field(default={})
    """Reasons for missing constants, keyed by the constant's name."""
