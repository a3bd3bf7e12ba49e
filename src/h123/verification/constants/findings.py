"""The constants of a stack: what packets show of a subject in one role over one protocol."""

from pydantic import Field

from h123.base.strict import Strict
from h123.documents.campaign_file import VerifiedRole


class NotMeasurable(Exception):
    """Why packets do not tell a constant; a sentence."""


class HandshakeSize(Strict):
    """Until the client could send its request."""

    round_trips: float
    bytes_up: int
    """Of IP packets, headers included; without those that carry the request."""
    bytes_down: int


class Flight(Strict):
    """What was sent before an acknowledgement of any of it could have come back."""

    packets: int
    full: int
    """Of the size that most of them have."""
    bytes: int
    """Of payload: of what follows TCP's or UDP's header."""
    spread: float
    """Share of a round trip over which it was sent: 0, all at once."""


class SlowStart(Strict):
    """Payload bytes sent in each round trip, from the first flight on."""

    rounds: list[int]
    growth: float
    """Of one round trip over the last, while it grows."""
    spread: float
    """Share of a round trip over which the fullest growing one was sent."""
    ends: int | None
    """Bytes of the first round trip that the next one hardly exceeds; None: it grew to the end."""
    why: str
    """What it ends by, as it seems."""


class InFlight(Strict):
    """Most payload bytes in a round trip when nothing is lost."""

    early: int
    """In the first 10 MB."""
    late: int
    """After them."""
    held: bool
    """Whether it stays the same in the end: then a window of the receiver or a buffer of the sender limits it."""


class Datagrams(Strict):
    """Sizes of payloads."""

    first: int
    """The most common one of the first flight."""
    common: int
    """The most common one of all."""
    largest: int
    grew: float | None
    """Round trips from the first flight until most packets have the common size; None: it is the first one."""


class LossResponse(Strict):
    """What one loss in steady state does to the window; of several transfers, the medians."""

    keeps: float
    """Share of it in the round trip after the recovery."""
    each: list[float] = Field(default=[])
    """The same in each transfer, ascending; empty in records of versions that asked one transfer."""
    regrown: dict[int, float]
    """Share of it so many seconds after the loss."""


class Tail(Strict):
    """A last packet that is lost, and its first retransmissions too."""

    round_trip_ms: float
    first_ms: float
    """From the last packet before it, which starts the timer, to the first retransmission."""
    second_ms: float | None
    """Likewise the next one."""


class Silence(Strict):
    """The first flight of an answer after a pause."""

    seconds: float
    packets: int
    bytes: int
    before: int
    """Payload bytes of the fullest round trip before the pause."""


class Constants(Strict):
    """Of one role and protocol; what is None is not told, and `untold` says why."""

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
    """As the sender of bodies."""
    received: InFlight | None = None
    """As the receiver of bodies: what the other end has in flight towards it."""
    acknowledgements: float | None = None
    """Packets that it sends for each one of data that it gets."""
    tail_near: Tail | None = None
    """Over a round trip so short that hardly more than the sender's least time is left."""
    tail_far: Tail | None = None
    silences: list[Silence] | None = None
    untold: dict[str, str] = Field(default={})
    """By the name of what is missing."""
