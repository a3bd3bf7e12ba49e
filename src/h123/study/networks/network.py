"""A network: an emulated path in both directions, in the lab's terms (see docs/contracts/trial.md)."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from h123.base.units import format_rate

Resolved = dict[str, Any]
"""A study or a network as JSON, complete: what `resolved` writes and `from_resolved` reads."""


class LinkModel(BaseModel):
    """The base class of everything that trial.json contains unchanged."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class Bottleneck(LinkModel):
    """A constant rate, or a repeated trace of delivery opportunities."""

    bps: int | None = None
    trace_ms: list[int] | None = None
    """Delivery opportunities in ms, repeated."""
    opportunity_bytes: int | None = None

    @property
    def mean_bps(self) -> float:
        """Bits a second on average."""
        if self.bps is not None:
            return float(self.bps)
        assert self.trace_ms is not None
        assert self.opportunity_bytes is not None
        return len(self.trace_ms) * self.opportunity_bytes * 8 / (self.trace_ms[-1] / 1000)


class Queue(LinkModel):
    """The drop-tail queue before the bottleneck; exactly one field is set."""

    bytes: int | None = None
    packets: int | None = None
    ns: int | None = None


class GilbertElliott(LinkModel):
    """Two-state loss: p good to bad, r bad to good, and the loss share in each state (Gilbert 1960, Elliott 1963)."""

    p: float
    r: float
    loss_good: float
    loss_bad: float

    @property
    def mean(self) -> float:
        """Share lost in the long run."""
        if self.p + self.r == 0:
            return self.loss_good
        bad = self.p / (self.p + self.r)
        return bad * self.loss_bad + (1 - bad) * self.loss_good


class Loss(LinkModel):
    """How packets are lost. Exactly one field is set."""

    random: float | None = None
    """The share of packets that are lost at random."""
    gilbert_elliott: GilbertElliott | None = None
    """Two states with their own losses."""
    packets: list[int] | None = None
    """Indices from 0."""
    bytes: list[int] | None = None
    """Losses of the packets that carry these bytes, counted from 0 over everything offered."""

    @property
    def mean(self) -> float:
        """Share lost in the long run (listed packets: none)."""
        if self.gilbert_elliott:
            return self.gilbert_elliott.mean
        return self.random or 0.0


class Blackout(LinkModel):
    """A span in which every packet is lost."""

    from_ns: int
    to_ns: int


class Jitter(LinkModel):
    """Random extra delay."""

    spread_ns: int
    distribution: Literal["uniform", "normal"] = "uniform"
    keep_order: bool = True


class Reorder(LinkModel):
    """A share of packets that leaves earlier than its turn."""

    share: float
    ahead_ns: int


class Limit(LinkModel):
    """A rate above which UDP is dropped."""

    limit: int
    """Bits per second."""


Udp = Literal["pass", "drop", "reject"] | Limit
"""The treatment of UDP packets."""


class Change(LinkModel):
    """A change of the link at a moment of the trial."""

    at_ns: int
    delay_ns: int | None = None
    rate: Bottleneck | None = None
    loss: Loss | None = None
    udp: Udp | None = None


class Direction(LinkModel):
    """One direction of a link; a field that is None has no effect."""

    rate: Bottleneck | None = None
    """Applied first, with the queue."""
    queue: Queue | None = None
    """Needed with a rate."""
    loss: Loss | None = None
    """Applied after the queue."""
    blackouts: list[Blackout] | None = None
    duplicate: float | None = None
    """The share of packets that are duplicated."""
    delay_ns: int | None = None
    """Applied last."""
    jitter: Jitter | None = None
    reorder: Reorder | None = None
    udp: Udp | None = None
    """Pass, drop, reject, or a limit."""
    changes: list[Change] | None = None
    """Timed changes, each from its `at_ns` on."""


class Move(LinkModel):
    """A move of the client: from a moment on it has a new address or port, and for `overlap_ns` packets to the old one
    still reach it."""

    at_ns: int
    """Time from the start of the main role."""
    new: Literal["port", "address"]
    """Whether each flow gets a new port, or the client a new address and new ports."""
    overlap_ns: int = 0
    """How long packets to the old place still arrive."""


class Traffic(LinkModel):
    """The traffic of other hosts in one direction. Exactly one field is set."""

    tcp: int | None = None
    """Connections, each never short of data."""
    udp: int | None = None
    """Bits per second, in full packets at equal distances."""


class Cross(LinkModel):
    """Cross traffic: what other hosts send through the same queue, from `ahead_ns` before the client starts."""

    up: Traffic | None = None
    down: Traffic | None = None
    ahead_ns: int
    """How long before the main role it begins, at most 60 s."""
    spread_ns: int = 0
    """It starts up to this much earlier, ns, so that different blocks meet different moments of it."""

    @property
    def mean_ahead_s(self) -> float:
        """The mean time that a trial waits for it, s."""
        return (self.ahead_ns + self.spread_ns / 2) / 1e9


class Network(LinkModel):
    """A named path. `up` is client to server, `down` server to client; both None for a plain veth pair."""

    name: str
    title: str
    up: Direction | None = None
    down: Direction | None = None
    moves: list[Move] | None = None
    cross: Cross | None = None

    @property
    def shaped(self) -> bool:
        """Whether packets pass the emulated link."""
        return self.up is not None

    @property
    def round_trip_ns(self) -> int:
        """Delay that the link adds to a round trip, without queueing and jitter."""
        return sum(direction.delay_ns or 0 for direction in (self.up, self.down) if direction)

    @property
    def takes_time(self) -> bool:
        """Whether the link takes time: it has a delay, a rate, or a loss that must be detected."""
        ways = (_bare(direction) for direction in (self.up, self.down) if direction)
        return any(effect for way in ways for name, effect in way.items() if name not in ("queue", "duplicate"))

    def link(self) -> Resolved:
        """The fields `kind`, `up`, `down` of a link in trial.json; `moves` and `cross` if there are any."""
        if self.up is None or self.down is None:
            return {"kind": "veth"}
        link: Resolved = {"kind": "emulated", "up": _bare(self.up), "down": _bare(self.down)}
        if self.moves:
            link["moves"] = [_bare(move) for move in self.moves]
        if self.cross:
            link["cross"] = self.cross.model_dump(mode="json", exclude_none=True, exclude={"spread_ns"})
        return link

    def at_moment(self, moment: float) -> "Network":
        """The network as a block meets it, at a place from 0 to 1 in the course of its cross traffic."""
        if not self.cross:
            return self
        ahead_ns = self.cross.ahead_ns + round(moment * self.cross.spread_ns)
        return self.model_copy(update={"cross": self.cross.model_copy(update={"ahead_ns": ahead_ns, "spread_ns": 0})})

    def resolved(self) -> Resolved:
        """JSON-ready and complete; `Network.from_resolved` is its inverse."""
        return _bare(self)

    @classmethod
    def from_resolved(cls, data: Resolved) -> "Network":
        """A network from campaign.json."""
        return cls.model_validate(data)

    def describe(self) -> tuple[str, str]:
        """Describe what each direction, up and down, does to packets."""
        return _describe(self.up), _describe(self.down)

    def describe_moves(self) -> str:
        """`client seen from a new port at 2 s`; empty if the client stays where it is."""
        return ", ".join(_describe_move(move) for move in self.moves or [])

    def describe_cross(self) -> str:
        """Describe the cross traffic: `cross traffic down: 4 bulk TCP connections`. Empty without any."""
        ways = {"up": self.cross.up, "down": self.cross.down} if self.cross else {}
        lines = [f"cross traffic {way}: {_describe_traffic(traffic)}" for way, traffic in ways.items() if traffic]
        return ", ".join(lines)


def _bare(model: BaseModel) -> Resolved:
    return model.model_dump(mode="json", exclude_none=True)


def _describe(direction: Direction | None) -> str:
    if direction is None:
        return "not shaped (plain veth)"
    parts = [f"{(direction.delay_ns or 0) / 1e6:g} ms delay"]
    if direction.rate:
        parts.append(format_rate(direction.rate.mean_bps) + (" on average" if direction.rate.trace_ms else ""))
    if direction.loss:
        parts.append(_describe_loss(direction.loss))
    if direction.udp and direction.udp != "pass":
        parts.append(f"UDP {_describe_udp(direction.udp)}")
    extras = {"jitter": direction.jitter, "reordering": direction.reorder, "duplicates": direction.duplicate}
    parts += [name for name, value in extras.items() if value]
    parts += [name for name, value in {"blackouts": direction.blackouts, "changes": direction.changes}.items() if value]
    return ", ".join(parts)


def _describe_udp(udp: Udp) -> str:
    return f"limited to {format_rate(udp.limit)}" if isinstance(udp, Limit) else udp


def _describe_move(move: Move) -> str:
    overlap = f" (the old one still reached for {move.overlap_ns / 1e9:g} s)" if move.overlap_ns else ""
    return f"client seen from a new {move.new} at {move.at_ns / 1e9:g} s{overlap}"


def _describe_traffic(traffic: Traffic) -> str:
    if traffic.udp:
        return f"{format_rate(traffic.udp)} of UDP"
    return f"{traffic.tcp} bulk TCP connection{'' if traffic.tcp == 1 else 's'}"


def _describe_loss(loss: Loss) -> str:
    if places := loss.packets or loss.bytes:
        return f"{len(places)} chosen packets lost"
    return f"{loss.mean * 100:.3g} % loss" + (" in bursts" if loss.gilbert_elliott else "")
