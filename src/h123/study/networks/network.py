"""Defines a network: an emulated path with two directions, in the form of trial.json (docs/contracts/trial.md)."""

from collections.abc import Iterator
from typing import Any, Literal

from pydantic import BaseModel

from h123.base.units import format_rate
from h123.study.networks.disciplines import Cake, Codel, DualPi2, FqCodel, FqPie, LinkModel, Pie, Red
from h123.study.networks.record import RecordPair
from h123.study.networks.travel import Jitter, Reorder, SentAgain

Resolved = dict[str, Any]
"""A complete study or network as JSON. `resolved` writes it, and `from_resolved` reads it."""


class Bottleneck(LinkModel):
    """The rate of a link: constant, or a repeated trace of delivery opportunities."""

    bps: int | None = None
    burst_bytes: int | None = None
    """The depth of a token bucket: the number of bytes that may be sent at once after a silence."""
    trace_ms: list[int] | None = None
    """The times of delivery opportunities in ms. The last one is the period after which they repeat."""
    opportunity_bytes: int | None = None

    @property
    def mean_bps(self) -> float:
        """The average rate in bits per second."""
        if self.bps is not None:
            return float(self.bps)
        assert self.trace_ms is not None
        assert self.opportunity_bytes is not None
        return len(self.trace_ms) * self.opportunity_bytes * 8 / (self.trace_ms[-1] / 1000)


class Queue(LinkModel):
    """The queue before the bottleneck. Exactly one field is set: a drop-tail limit (bytes, packets or ns), or a
    discipline."""

    bytes: int | None = None
    packets: int | None = None
    ns: int | None = None
    codel: Codel | None = None
    fq_codel: FqCodel | None = None
    pie: Pie | None = None
    fq_pie: FqPie | None = None
    red: Red | None = None
    dualpi2: DualPi2 | None = None
    cake: Cake | None = None

    @property
    def marks(self) -> bool:
        """Whether the queue marks ECN-capable packets instead of dropping them."""
        return any(managed.ecn for managed in self.disciplines().values() if managed)

    def disciplines(self) -> dict[str, Codel | Pie | Red | DualPi2 | Cake | None]:
        """Return all disciplines by name. At most one is set."""
        return {
            "CoDel": self.codel,
            "FQ-CoDel": self.fq_codel,
            "PIE": self.pie,
            "FQ-PIE": self.fq_pie,
            "RED": self.red,
            "DualPI2": self.dualpi2,
            "CAKE": self.cake,
        }


class GilbertElliott(LinkModel):
    """A loss model with two states (Gilbert 1960, Elliott 1963). After each packet, `p` is the probability of changing
    from the good state to the bad one, and `r` of changing back. Each state has its own loss probability."""

    p: float
    r: float
    loss_good: float
    loss_bad: float

    @property
    def mean(self) -> float:
        """The share of packets that are lost in the long run."""
        if self.p + self.r == 0:
            return self.loss_good
        bad = self.p / (self.p + self.r)
        return bad * self.loss_bad + (1 - bad) * self.loss_good


class Loss(LinkModel):
    """The losses of a link. Exactly one field is set."""

    random: float | None = None
    """The share of packets that are lost at random."""
    gilbert_elliott: GilbertElliott | None = None
    """A loss model with two states, each with its own loss probability."""
    packets: list[int] | None = None
    """The indices of the lost packets, from 0."""
    bytes: list[int] | None = None
    """The positions of bytes, counted from 0 over all arriving packets. The packets that contain these bytes are
    lost."""

    @property
    def mean(self) -> float:
        """The share of packets that are lost in the long run. Losses listed in `packets` or `bytes` count as 0."""
        if self.gilbert_elliott:
            return self.gilbert_elliott.mean
        return self.random or 0.0


class Blackout(LinkModel):
    """A period in which every packet is lost."""

    from_ns: int
    to_ns: int


class Limit(LinkModel):
    """A rate above which UDP packets are dropped."""

    limit: int
    """The limit in bits per second."""


Udp = Literal["pass", "drop", "reject"] | Limit
"""What the link does with UDP packets."""


class Policer(LinkModel):
    """A rate above which packets of all protocols are dropped instead of queued."""

    bps: int
    burst_bytes: int
    """The number of bytes that may pass at once after a silence."""


EcnPolicy = Literal["pass", "bleach", "mark", "swap", "drop"]
IpPolicy = Literal["pass", "drop", "reject"]
"""What the link does with packets of an IP version."""


class Mtu(LinkModel):
    """The size of the largest IP packet that passes."""

    bytes: int
    silent: bool = False
    """Whether larger packets vanish without an ICMP message to the sender: a black hole."""


class Aggregation(LinkModel):
    """Opportunities to send, one in each interval. Packets wait for the next opportunity and leave together."""

    every_ns: int
    spread_ns: int = 0
    """The longest time from the beginning of an interval to its opportunity."""
    thin_acks: bool | None = None
    """Whether, if several acknowledgements of a TCP flow wait together, only the last one is sent."""


class Change(LinkModel):
    """A change of the link at a given time of the trial."""

    at_ns: int
    delay_ns: int | None = None
    rate: Bottleneck | None = None
    loss: Loss | None = None
    udp: Udp | None = None
    mtu: Mtu | None = None


class Direction(LinkModel):
    """One direction of a link. A field that is None has no effect."""

    rate: Bottleneck | None = None
    """The bottleneck's rate, which applies together with the queue."""
    queue: Queue | None = None
    """The queue, which is required with a rate."""
    loss: Loss | None = None
    """The losses, which apply after the queue."""
    blackouts: list[Blackout] | None = None
    duplicate: float | None = None
    """The share of packets that are duplicated."""
    delay_ns: int | None = None
    """The delay, which applies last."""
    jitter: Jitter | None = None
    reorder: Reorder | None = None
    retransmission: SentAgain | None = None
    udp: Udp | None = None
    """Whether UDP packets pass, are dropped or rejected, or are limited."""
    ipv4: IpPolicy | None = None
    ipv6: IpPolicy | None = None
    policer: Policer | None = None
    ecn: EcnPolicy | None = None
    mtu: Mtu | None = None
    aggregation: Aggregation | None = None
    changes: list[Change] | None = None
    """Timed changes. Each applies from its `at_ns` onwards."""


class Move(LinkModel):
    """A move of the client to a new address or port. For `overlap_ns`, packets to the old address or port still reach
    the client."""

    at_ns: int
    """The time of the move, in ns after the start of the main role."""
    new: Literal["port", "address"]
    """port: each flow gets a new port. address: the client gets a new address and new ports."""
    overlap_ns: int = 0
    """The time in ns for which packets to the old address or port still arrive."""


class Traffic(LinkModel):
    """The traffic of other hosts in one direction. Exactly one field is set."""

    tcp: int | None = None
    """The number of connections, which always have data to send."""
    udp: int | None = None
    """A constant rate in bits per second, sent in evenly spaced full packets."""


class Cross(LinkModel):
    """Traffic that other hosts send through the link's queue. It starts `ahead_ns` before the client."""

    up: Traffic | None = None
    down: Traffic | None = None
    ahead_ns: int
    """The time in ns from the start of the traffic to the start of the main role, at most 60 s."""
    spread_ns: int = 0
    """The traffic starts up to this many ns earlier, so that different blocks run at different moments of the
    traffic."""

    @property
    def mean_ahead_s(self) -> float:
        """The average time in s from the traffic's start to the main role's start."""
        return (self.ahead_ns + self.spread_ns / 2) / 1e9


class Network(LinkModel):
    """A named path. `up` leads from client to server and `down` leads back. Both are None for a plain veth pair."""

    name: str
    title: str
    up: Direction | None = None
    down: Direction | None = None
    moves: list[Move] | None = None
    cross: Cross | None = None
    records: RecordPair | None = None
    """The recorded values of the directions over time. `up` and `down` contain the averages."""

    @property
    def shaped(self) -> bool:
        return self.up is not None

    @property
    def round_trip_ns(self) -> int:
        """The delay in ns that the link adds to a round trip, without queueing and jitter."""
        return sum(direction.delay_ns or 0 for direction in (self.up, self.down) if direction)

    @property
    def takes_time(self) -> bool:
        """Whether packets take time on the link: it has a delay, a rate, or losses that senders must detect."""
        ways = (_bare(direction) for direction in (self.up, self.down) if direction)
        return any(effect for way in ways for name, effect in way.items() if name not in ("queue", "duplicate", "ecn"))

    def link(self) -> Resolved:
        """Return the fields `kind`, `up` and `down` of a link in trial.json, and `moves` and `cross` if there are
        any."""
        if self.up is None or self.down is None:
            return {"kind": "veth"}
        link: Resolved = {"kind": "emulated", "up": _bare(self.up), "down": _bare(self.down)}
        if self.moves:
            link["moves"] = [_bare(move) for move in self.moves]
        if self.cross:
            link["cross"] = self.cross.model_dump(mode="json", exclude_none=True, exclude={"spread_ns"})
        return link

    def at_moment(self, moment: float) -> "Network":
        """Return the network with a fixed start of its cross traffic: the latest possible start for `moment` 0, and the
        earliest for 1."""
        if not self.cross:
            return self
        ahead_ns = self.cross.ahead_ns + round(moment * self.cross.spread_ns)
        return self.model_copy(update={"cross": self.cross.model_copy(update={"ahead_ns": ahead_ns, "spread_ns": 0})})

    def resolved(self) -> Resolved:
        """Return the complete network as data for JSON. `Network.from_resolved` is the inverse."""
        return _bare(self)

    @classmethod
    def from_resolved(cls, data: Resolved) -> "Network":
        """Return the network that `data`, from campaign.json, describes."""
        return cls.model_validate(data)

    def describe(self) -> tuple[str, str]:
        """Return two descriptions of what the link does to packets, for `up` and for `down`."""
        records = self.records or RecordPair()
        return _describe(self.up, records.up is not None), _describe(self.down, records.down is not None)

    def describe_moves(self) -> str:
        """Return text such as `client seen from a new port at 2 s`, or an empty string if the client does not move."""
        return ", ".join(_describe_move(move) for move in self.moves or [])

    def describe_cross(self) -> str:
        """Return text such as `cross traffic down: 4 bulk TCP connections`, or an empty string if there is none."""
        ways = {"up": self.cross.up, "down": self.cross.down} if self.cross else {}
        lines = [f"cross traffic {way}: {_describe_traffic(traffic)}" for way, traffic in ways.items() if traffic]
        return ", ".join(lines)


def _bare(model: BaseModel) -> Resolved:
    return model.model_dump(mode="json", exclude_none=True)


def _describe(direction: Direction | None, recorded: bool = False) -> str:
    if direction is None:
        return "not shaped (plain veth)"
    parts = [f"{(direction.delay_ns or 0) / 1e6:g} ms delay"]
    if direction.rate:
        parts.append(format_rate(direction.rate.mean_bps) + (" on average" if direction.rate.trace_ms else ""))
    if direction.queue and (name := _discipline(direction.queue)):
        parts.append(name)
    if direction.loss:
        parts.append(_describe_loss(direction.loss))
    if direction.udp and direction.udp != "pass":
        parts.append(f"UDP {_describe_udp(direction.udp)}")
    for version, policy in (("IPv4", direction.ipv4), ("IPv6", direction.ipv6)):
        parts += [f"{version} {_REFUSED[policy]}"] if policy else []
    parts += _describe_entrance(direction)
    extras = {"jitter": direction.jitter, "reordering": direction.reorder, "duplicates": direction.duplicate}
    parts += [name for name, value in extras.items() if value]
    parts += [direction.retransmission.describe()] if direction.retransmission else []
    parts += [name for name, value in {"blackouts": direction.blackouts, "changes": direction.changes}.items() if value]
    parts += ["on average, as recorded"] if recorded else []
    return ", ".join(parts)


def _discipline(queue: Queue) -> str | None:
    """Return the name of a queue's discipline, or None for a drop-tail queue."""
    for name, managed in queue.disciplines().items():
        if managed:
            return f"{name} with ECN" if managed.ecn else name
    return None


_REFUSED = {"pass": "passed", "drop": "dropped", "reject": "rejected"}
_ECN = {
    "bleach": "ECN bleached",
    "mark": "all ECN-capable packets marked",
    "swap": "ECT(0) and ECT(1) swapped",
    "drop": "ECN-capable packets dropped",
}


def _describe_entrance(direction: Direction) -> Iterator[str]:
    """Yield descriptions of what happens to packets before the queue, and of opportunities to send."""
    if direction.policer:
        yield f"policed to {format_rate(direction.policer.bps)}"
    if direction.ecn and direction.ecn != "pass":
        yield _ECN[direction.ecn]
    if direction.mtu:
        yield f"MTU {direction.mtu.bytes}" + (" (black hole)" if direction.mtu.silent else "")
    if direction.aggregation:
        thinned = " and TCP's acknowledgements are thinned out" if direction.aggregation.thin_acks else ""
        yield f"packets leave every {direction.aggregation.every_ns / 1e6:g} ms{thinned}"


def _describe_udp(udp: Udp) -> str:
    return f"limited to {format_rate(udp.limit)}" if isinstance(udp, Limit) else _REFUSED[udp]


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
