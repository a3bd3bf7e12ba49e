"""Reads networks/*.yaml, which have quantities with units, and `both` for two equal directions."""

import itertools
import re
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    BeforeValidator,
    Discriminator,
    Field,
    StrictBool,
    StrictInt,
    Tag,
    TypeAdapter,
    ValidationInfo,
    model_validator,
)

from h123.base.complaints import excerpt
from h123.base.errors import UserError
from h123.base.files.textfile import read_text
from h123.base.strict import Strict, fault_at
from h123.study.networks import network as resolved
from h123.study.networks.queue_file import FULL_PACKET_BYTES, MOST_BYTES, QueueFile, resolve_queue
from h123.study.quantities import BitRate, Delay, Duration, Share, Size
from h123.study.yaml_document import YamlDocument

Positive = Field(gt=0)
POLICIES = ("pass", "drop", "reject")
OPPORTUNITY_BYTES = 1500
"""The number of bytes that one line of a Mahimahi trace delivers (Netravali et al., USENIX ATC 2015)."""
MOST_MOVES = 250
"""The largest number of moves for which the lab has addresses."""
MOST_CONNECTIONS = 100
LONGEST_AHEAD = 60 * 1_000_000_000
"""The longest time by which cross traffic may start before the client, in ns."""
LEAST_STREAM, MOST_STREAM = 1_000, 10_000_000_000
"""The range of the UDP rate of cross traffic, in bit/s."""
MOST_INDEX = 1_000_000_000
"""The largest index of a lost packet, far beyond any trial."""
MOST_TRACE_BYTES, MOST_TRACE_LINES, MOST_TRACE_MS = 10_000_000, 1_000_000, 168 * 3600 * 1000

_TRACE_LINE = re.compile(r"[ \t]{0,20}[0-9]{1,15}[ \t]{0,20}")


class JitterFile(Strict):
    """Jitter, such as `jitter: {spread: 5ms, distribution: normal, keep_order: true}`."""

    spread: Annotated[Delay, Positive]
    distribution: Literal["uniform", "normal"] = "uniform"
    keep_order: StrictBool = True

    def resolve(self) -> resolved.Jitter:
        """Return this part of the network in the form of trial.json."""
        return resolved.Jitter(spread_ns=self.spread, distribution=self.distribution, keep_order=self.keep_order)


class BurstsFile(Strict):
    """Losses in bursts, `loss: {bad_after: 1%, good_after: 20%}`: the chances, per packet, of entering and leaving the
    bad state."""

    bad_after: Share
    good_after: Annotated[Share, Positive]
    loss_good: Share = 0.0
    loss_bad: Share = 1.0


class ListedFile(Strict):
    """Chosen losses, `loss: {packets: [3, 17]}`: exactly these packets, counted from 0."""

    packets: list[Annotated[StrictInt, Field(ge=0, le=MOST_INDEX)]] = Field(min_length=1)


class ReorderFile(Strict):
    """Reordering, such as `reorder: {share: 1%, ahead: 10ms}`."""

    share: Share
    ahead: Annotated[Delay, Positive]


def _kind_of_loss(value: Any) -> str:
    if not isinstance(value, dict):
        return "share"
    return "listed" if "packets" in value else "bursts"


LossFile = Annotated[
    Annotated[BurstsFile, Tag("bursts")] | Annotated[ListedFile, Tag("listed")] | Annotated[Share, Tag("share")],
    Discriminator(_kind_of_loss),
]


def _resolve_loss(loss: BurstsFile | ListedFile | float | None) -> resolved.Loss | None:
    match loss:
        case None:
            return None
        case ListedFile():
            return resolved.Loss(packets=sorted(set(loss.packets)))
        case BurstsFile():
            states = resolved.GilbertElliott(
                p=loss.bad_after, r=loss.good_after, loss_good=loss.loss_good, loss_bad=loss.loss_bad
            )
            return resolved.Loss(gilbert_elliott=states)
        case _:
            return resolved.Loss(random=loss)


_RATE = TypeAdapter[int](BitRate)


def _read_udp(value: Any) -> Any:
    """Accept `pass`, `drop`, `reject` or a rate, which becomes a `Limit`."""
    if value is None or value in POLICIES:
        return value
    if not str(value)[:1].isdigit():
        limited = "or a rate to limit UDP to, such as 1Mbit/s"
        raise ValueError(f"{excerpt(value)} is not allowed; write {', '.join(POLICIES)}, {limited}")
    return resolved.Limit(limit=_RATE.validate_python(value))


class ChangeFile(Strict):
    """A change of the link at a given time, such as `{at: 5s, rate: 2Mbit/s}`."""

    at: Duration
    delay: Delay | None = None
    rate: BitRate | None = None
    loss: LossFile | None = None
    udp: Annotated[resolved.Udp | None, BeforeValidator(_read_udp)] = None

    @model_validator(mode="after")
    def _changes_something(self) -> "ChangeFile":
        if self.delay is None and self.rate is None and self.loss is None and self.udp is None:
            raise ValueError("this changes nothing; set at least one of delay, rate, loss, udp")
        return self

    def resolve(self) -> resolved.Change:
        """Return this part of the network in the form of trial.json."""
        return resolved.Change(
            at_ns=self.at,
            delay_ns=self.delay,
            rate=resolved.Bottleneck(bps=self.rate) if self.rate else None,
            loss=_resolve_loss(self.loss),
            udp=self.udp,
        )


def read_trace(path: Path) -> list[int]:
    """Return the delivery opportunities of a Mahimahi trace, in ms. Raises UserError if the file is not a trace."""
    lines = read_text(path, MOST_TRACE_BYTES).splitlines()
    if len(lines) > MOST_TRACE_LINES:
        raise UserError(f"{path}: a trace can have at most {MOST_TRACE_LINES} lines; this one has {len(lines)}")
    times: list[int] = []
    for number, line in enumerate(lines, 1):
        if not _TRACE_LINE.fullmatch(line):
            raise UserError(f"{path}:{number}: {excerpt(line)} is not a number of milliseconds")
        if times and int(line) < times[-1]:
            raise UserError(f"{path}:{number}: {int(line)} comes after {times[-1]}; times must not decrease")
        times.append(int(line))
    if not times or times[-1] == 0:
        raise UserError(f"{path}: a trace needs at least one time of 1 ms or more: the last one is its period")
    if times[-1] > MOST_TRACE_MS:
        raise UserError(f"{path}:{len(lines)}: {times[-1]} ms is longer than 168 h, the longest that a trace can be")
    return times


def _read_trace(value: Any, info: ValidationInfo) -> Any:
    assert isinstance(info.context, Path), "a trace is named relative to the folder of the network's file"
    try:
        return read_trace(info.context / str(value))
    except UserError as error:
        raise ValueError(error.message) from None


class DirectionFile(Strict):
    """One direction. A field that is left out has no effect on packets."""

    delay: Delay = 0
    """The one-way delay."""
    jitter: JitterFile | None = None
    rate: BitRate | None = None
    """The rate of the bottleneck."""
    trace: Annotated[list[int] | None, BeforeValidator(_read_trace)] = None
    """A Mahimahi file instead of a rate. Each line is a time in milliseconds at which 1500 bytes can be delivered; the
    trace repeats."""
    burst: Size | None = None
    """Make the rate a token bucket, which sends this many bytes at once after a silence (Linux's TBF)."""
    queue: QueueFile | None = None
    """A drop-tail limit in bytes, packets (`64p`) or time (`50ms`), or a discipline: `{discipline: fq_codel}`. Required
    if there is a rate, or a change that sets one."""
    loss: LossFile | None = None
    """A share; `{bad_after: p, good_after: r, loss_good: 0, loss_bad: 1}` (Gilbert-Elliott); or `{packets: [3,
    17]}`."""
    blackouts: list[tuple[Duration, Duration]] | None = None
    """Spans of total loss, such as `[[1s, 1.5s]]`, in order and not overlapping."""
    duplicate: Share | None = None
    """The share of packets that arrive twice."""
    reorder: ReorderFile | None = None
    udp: Annotated[resolved.Udp | None, BeforeValidator(_read_udp)] = None
    """`pass`; `drop` without notice; `reject` with ICMP port unreachable; or a rate such as `1Mbit/s` above which
    packets are dropped, with an allowance of 100 ms after silence."""
    changes: list[ChangeFile] | None = None
    """Timed changes, such as `[{at: 5s, rate: 2Mbit/s, delay: 50ms, loss: 1%, udp: drop}]`, in order."""

    @model_validator(mode="after")
    def _makes_sense(self) -> "DirectionFile":
        """Refuse everything that the lab would refuse (lab/tests/directions.json): messages here can name the line."""
        self._check_rate()
        self._check_bucket()
        self._check_delays()
        self._check_times()
        return self

    def _check_rate(self) -> None:
        limited = self.rate is not None or self.trace is not None
        later = any(change.rate is not None for change in self.changes or [])
        if self.rate is not None and self.trace is not None:
            raise ValueError("write either `rate` or `trace`, not both")
        if (limited or later) and self.queue is None:
            raise ValueError("a rate needs a `queue` (100kB, 64p or 50ms): without one, nothing is ever dropped")
        if self.queue is not None and not (limited or later):
            raise ValueError("`queue` has no effect without `rate` or `trace`")

    def _check_bucket(self) -> None:
        if self.burst is None:
            return
        if self.rate is None:
            raise fault_at(["burst"], "`burst` needs a `rate`, to which it adds what may be sent at once")
        if not FULL_PACKET_BYTES <= self.burst <= MOST_BYTES:
            allowed = f"a burst is from {FULL_PACKET_BYTES}B, a full packet, to 1GB"
            raise fault_at(["burst"], allowed)
        queue = resolve_queue(self.queue)
        if queue and queue.ns is not None:
            raise fault_at(["queue"], "with a `burst`, write the limit of the queue in bytes (100kB) or packets (64p)")
        for index, change in enumerate(self.changes or []):
            if change.rate is not None:
                raise fault_at(["changes", index, "rate"], "a rate with a `burst` cannot change")

    def _check_delays(self) -> None:
        if self.reorder and self.reorder.ahead > self.delay:
            raise ValueError("`reorder.ahead` is longer than `delay`: a packet cannot leave before it arrives")
        spread = self.jitter.spread if self.jitter else 0
        if spread > self.delay:
            raise fault_at(["jitter", "spread"], "the jitter is larger than `delay`: a delay cannot fall below 0")
        for index, change in enumerate(self.changes or []):
            if change.delay is not None and change.delay < spread:
                message = "this delay is smaller than the jitter: a delay cannot fall below 0"
                raise fault_at(["changes", index, "delay"], message)

    def _check_times(self) -> None:
        previous_end = 0
        for index, (start, end) in enumerate(self.blackouts or []):
            if start >= end:
                raise fault_at(["blackouts", index], "a blackout must end after it starts: [[1s, 1.5s]]")
            if start < previous_end:
                message = "this blackout begins before the one above it ends; write them in order, or join them"
                raise fault_at(["blackouts", index], message)
            previous_end = end
        moments = [change.at for change in self.changes or []]
        for index, (earlier, later) in enumerate(itertools.pairwise(moments), 1):
            if later <= earlier:
                message = "`changes` must be in order of time, each at a different time"
                raise fault_at(["changes", index, "at"], message)

    def resolve(self) -> resolved.Direction:
        """Return this part of the network in the form of trial.json."""
        bottleneck = resolved.Bottleneck(bps=self.rate, burst_bytes=self.burst) if self.rate else None
        if self.trace:
            bottleneck = resolved.Bottleneck(trace_ms=self.trace, opportunity_bytes=OPPORTUNITY_BYTES)
        return resolved.Direction(
            rate=bottleneck,
            queue=resolve_queue(self.queue),
            loss=_resolve_loss(self.loss),
            blackouts=[resolved.Blackout(from_ns=start, to_ns=end) for start, end in self.blackouts or []] or None,
            duplicate=self.duplicate,
            delay_ns=self.delay,
            jitter=self.jitter.resolve() if self.jitter else None,
            reorder=resolved.Reorder(share=self.reorder.share, ahead_ns=self.reorder.ahead) if self.reorder else None,
            udp=self.udp,
            changes=[change.resolve() for change in self.changes or []] or None,
        )


class MoveFile(Strict):
    """A move, such as `{at: 2s, new: address, overlap: 200ms}`: from then on, the client has a new address or port."""

    at: Duration
    """The time of the move, from the start of the client's run."""
    new: Literal["port", "address"]
    """`port`: a new port for each flow (NAT rebinding). `address`: a new address and new ports."""
    overlap: Duration = 0
    """The time for which packets to the old address or port still arrive."""

    def resolve(self) -> resolved.Move:
        """Return this part of the network in the form of trial.json."""
        return resolved.Move(at_ns=self.at, new=self.new, overlap_ns=self.overlap)


class TrafficFile(Strict):
    """Cross traffic in one direction: `{tcp: 4}` for bulk transfers, or `{udp: 30Mbit/s}` for a constant stream."""

    tcp: Annotated[StrictInt, Field(ge=1, le=MOST_CONNECTIONS)] | None = None
    """The number of connections of Linux's TCP with CUBIC, which always have data to send."""
    udp: Annotated[BitRate, Field(ge=LEAST_STREAM, le=MOST_STREAM)] | None = None
    """The rate of a stream of evenly spaced full packets."""

    @model_validator(mode="after")
    def _one_kind(self) -> "TrafficFile":
        if (self.tcp is None) == (self.udp is None):
            raise ValueError("write either `tcp`, a number of bulk transfers, or `udp`, a rate")
        return self

    def resolve(self) -> resolved.Traffic:
        """Return this part of the network in the form of trial.json."""
        return resolved.Traffic(tcp=self.tcp, udp=self.udp)


class CrossFile(Strict):
    """Traffic that other hosts send through the same queue: `{down: {tcp: 4}, ahead: 3s, spread: 2s}`."""

    up: TrafficFile | None = None
    down: TrafficFile | None = None
    ahead: Annotated[Duration, Field(le=LONGEST_AHEAD)] = 1_000_000_000
    """The time by which the traffic starts before the client."""
    spread: Duration = 0
    """The traffic starts up to this much earlier, by an amount that depends on the seed and block only."""

    @model_validator(mode="after")
    def _some_way(self) -> "CrossFile":
        if self.up is None and self.down is None:
            raise ValueError("cross traffic goes `up`, `down` or both ways: {down: {tcp: 1}}")
        if self.ahead + self.spread > LONGEST_AHEAD:
            longest = LONGEST_AHEAD / 1e9
            raise ValueError(f"`ahead` and `spread` together must be at most {longest:g} s")
        return self

    def resolve(self) -> resolved.Cross:
        """Return this part of the network in the form of trial.json."""
        up = self.up.resolve() if self.up else None
        down = self.down.resolve() if self.down else None
        return resolved.Cross(up=up, down=down, ahead_ns=self.ahead, spread_ns=self.spread)


class NetworkFile(Strict):
    """A network's file: `both`, or `up` and `down`, or `unshaped: true`."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=40)]
    title: str
    both: DirectionFile | None = None
    """Two equal directions."""
    up: DirectionFile | None = None
    """The direction from client to server."""
    down: DirectionFile | None = None
    """The direction from server to client."""
    moves: list[MoveFile] = Field(default=[], max_length=MOST_MOVES)
    cross: CrossFile | None = None
    unshaped: StrictBool = False
    """Whether the link is a plain veth pair."""

    @model_validator(mode="after")
    def _moves_in_order(self) -> "NetworkFile":
        if self.moves and self.unshaped:
            raise fault_at(["moves"], "clients cannot move over a plain veth pair: write `both`, or `up` and `down`")
        for index, (earlier, later) in enumerate(itertools.pairwise(self.moves), 1):
            if later.at <= earlier.at:
                raise fault_at(["moves", index, "at"], "`moves` must be in order of time, each at a different time")
        return self

    @model_validator(mode="after")
    def _something_to_share(self) -> "NetworkFile":
        for name in ("up", "down") if self.cross else ():
            way = self.both or getattr(self, name)
            if getattr(self.cross, name) and not (way and (way.rate or way.trace)):
                raise fault_at(["cross", name], "cross traffic needs a queue, and so a `rate` or `trace`")
        return self

    @model_validator(mode="after")
    def _one_shape(self) -> "NetworkFile":
        ways = [self.both is not None, self.up is not None or self.down is not None, self.unshaped]
        if ways.count(True) != 1 or (self.up is None) != (self.down is None):
            raise ValueError("write either `both`, or `up` and `down`, or `unshaped: true`")
        return self

    def resolve(self) -> resolved.Network:
        """Return the network in the form of trial.json."""
        up, down = self.both or self.up, self.both or self.down
        return resolved.Network(
            name=self.name,
            title=self.title,
            up=up.resolve() if up else None,
            down=down.resolve() if down else None,
            moves=[move.resolve() for move in self.moves] or None,
            cross=self.cross.resolve() if self.cross else None,
        )


def read_network(path: Path) -> resolved.Network:
    """Read a network from its file. Raises UserError that names the file and line."""
    document = YamlDocument.read(path, "network/1")
    return document.validate(NetworkFile, document.data, context=path.parent).resolve()
