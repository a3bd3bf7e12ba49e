"""Defines the standard situations, each a request over a link."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from h123.base.units import format_bytes
from h123.study import Network
from h123.study.networks.network import Bottleneck, Direction, Loss, Queue
from h123.verification.constants.experiment import SenderCase

Way = Literal["sends", "gets", "asks"]
"""The subject's part. `sends`: the subject sends the body. `gets`: the subject receives the body. `asks`: the request
is a GET, so the server sends the body, whatever the subject's role."""


@dataclass(frozen=True)
class Situation:
    """A standard situation: a request over a link."""

    name: str
    title: str
    way: Way
    size: int
    round_trip_ms: int
    mbit: int
    loss: float = 0.0
    """The probability that a packet from the end that sends the body is lost."""
    queue: int | None = None
    """The number of packets for which the bottleneck's queue has room. None: room for 100 ms."""
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def phase(self) -> str:
        """The phase of the requests that the profile covers."""
        return "cold" if self.parameters.get("cold") else "warm"

    @property
    def description(self) -> str:
        """A description such as `10 MB over 100 ms and 200 Mbit/s, the mean of 3 requests on a connection`."""
        link = f"{format_bytes(self.size)} over {self.round_trip_ms} ms and {self.mbit} Mbit/s"
        loss = f", {self.loss:.1%} lost" if self.loss else ""
        queue = f", a queue of {self.queue} packets" if self.queue else ""
        count = self.parameters["requests"]
        setting = "on a new connection" if self.phase == "cold" else f"the mean of {count} requests on a connection"
        return f"{link}{loss}{queue}, {setting}"

    @property
    def least_s(self) -> float:
        """The minimum time of a request in seconds: a round trip, plus the time of the body at the link's rate."""
        return self.round_trip_ms / 1e3 + self.size * 8 / (self.mbit * 1e6)

    def method(self, sender: SenderCase) -> str:
        """Return the method of the requests."""
        return {"sends": sender.sends, "gets": sender.gets, "asks": "GET"}[self.way]

    def network(self, method: str) -> Network:
        """Return the network. Both directions are the same, except that packets are lost only in the body's
        direction."""
        queue = Queue(packets=self.queue) if self.queue else Queue(ns=100_000_000)
        plain = Direction(
            delay_ns=self.round_trip_ms * 500_000, rate=Bottleneck(bps=self.mbit * 1_000_000), queue=queue
        )
        losing = plain.model_copy(update={"loss": Loss(random=self.loss)}) if self.loss else plain
        up, down = (plain, losing) if method == "GET" else (losing, plain)
        return Network(name="profile", title=self.title, up=up, down=down)


_FIRST = {"cold": True, "requests": 1}
_THREE, _FOUR, _TWELVE = ({"requests": count} for count in (3, 4, 12))
PACING = "far-sending"
"""The situation that shows whether a sender spaces its packets."""
SITUATIONS = (
    Situation(PACING, "sends over a long, fast link", "sends", 10_000_000, 100, 200, parameters=_THREE),
    Situation("far-getting", "receives over a long, fast link", "gets", 10_000_000, 100, 200, parameters=_THREE),
    Situation("losses", "sends through losses", "sends", 1_000_000, 30, 20, loss=0.005, parameters=_TWELVE),
    Situation("short-queue", "sends through a short queue", "sends", 2_000_000, 40, 50, queue=20, parameters=_FOUR),
    Situation("first-small", "first request, 1 kB", "asks", 1_000, 100, 100, parameters=_FIRST),
    Situation("first-large", "first request, 100 kB", "asks", 100_000, 100, 100, parameters=_FIRST),
)
