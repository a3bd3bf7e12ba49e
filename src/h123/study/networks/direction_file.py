"""Reads one direction of a network's file: rate, queue, losses, delay, and what happens to packets before the queue."""

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

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
from h123.base.strict import Strict, fault_at
from h123.study.networks import network as resolved
from h123.study.networks.queue_file import FULL_PACKET_BYTES, MOST_BYTES, QueueFile, resolve_queue
from h123.study.networks.record import OPPORTUNITY_BYTES, LinkRecord
from h123.study.networks.record_file import read_record, read_trace
from h123.study.networks.travel_file import JitterFile, Positive, ReorderFile, RetransmissionFile
from h123.study.quantities import BitRate, Delay, Duration, Share, Size

POLICIES = ("pass", "drop", "reject")
MOST_INDEX = 1_000_000_000
"""The largest index of a lost packet, far beyond any trial."""
LEAST_MTU, MOST_MTU = 576, 65_535
"""The smallest and the largest MTU in bytes. Every host handles packets of 576 bytes (RFC 1122, 3.3.2)."""
LONGEST_INTERVAL = 1_000_000_000
"""The longest interval in ns between opportunities to send."""


class BurstsFile(Strict):
    """Losses in bursts, such as `loss: {bad_after: 1%, good_after: 20%}`. After each packet, `bad_after` is the
    probability of entering the bad state, and `good_after` of leaving it. `loss_good` and `loss_bad` are the loss
    probabilities in the two states."""

    bad_after: Share
    good_after: Annotated[Share, Positive]
    loss_good: Share = 0.0
    loss_bad: Share = 1.0


class ListedFile(Strict):
    """Chosen losses, such as `loss: {packets: [3, 17]}`: exactly these packets are lost, counted from 0."""

    packets: list[Annotated[StrictInt, Field(ge=0, le=MOST_INDEX)]] = Field(min_length=1)


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


class PolicerFile(Strict):
    """A policer for all traffic, such as `policer: {rate: 5Mbit/s, burst: 30kB}`. It drops packets that exceed the
    rate."""

    rate: BitRate
    burst: Annotated[Size, Field(ge=FULL_PACKET_BYTES, le=MOST_BYTES)]
    """The number of bytes that may pass at once after a silence."""

    def resolve(self) -> resolved.Policer:
        return resolved.Policer(bps=self.rate, burst_bytes=self.burst)


class MtuFile(Strict):
    """The size of the largest IP packet that passes, such as `mtu: {size: 1280, black_hole: true}`."""

    size: Annotated[StrictInt, Field(ge=LEAST_MTU, le=MOST_MTU)]
    """The size in bytes, including the IP header."""
    black_hole: StrictBool = False
    """Whether larger packets vanish without the ICMP message from which the sender would learn the size."""

    def resolve(self) -> resolved.Mtu:
        return resolved.Mtu(bytes=self.size, silent=self.black_hole)


def _read_mtu(value: Any) -> Any:
    if isinstance(value, int) and not isinstance(value, bool):
        return {"size": value}
    if isinstance(value, dict):
        return value
    raise ValueError(f"{excerpt(value)} is not allowed; write bytes, such as 1280, or {{size: 1280, black_hole: true}}")


AnyMtuFile = Annotated[MtuFile, BeforeValidator(_read_mtu)]


class AggregationFile(Strict):
    """Opportunities to send, such as `aggregation: {interval: 4ms, spread: 2ms}`. Packets wait for the next
    opportunity."""

    interval: Annotated[Duration, Field(gt=0, le=LONGEST_INTERVAL)]
    """The length of an interval. Each interval has one opportunity."""
    spread: Duration = 0
    """The longest time from the beginning of an interval to its opportunity. The actual time is random. 0: the
    opportunity is at the beginning."""
    thin_acks: StrictBool = False
    """Whether packets that only acknowledge TCP data are dropped if a later acknowledgement of their flow waits behind
    them."""

    @model_validator(mode="after")
    def _within_the_interval(self) -> "AggregationFile":
        if self.spread > self.interval:
            raise fault_at(["spread"], "the spread is longer than the interval that it is a part of")
        return self

    def resolve(self) -> resolved.Aggregation:
        return resolved.Aggregation(every_ns=self.interval, spread_ns=self.spread, thin_acks=self.thin_acks or None)


class ChangeFile(Strict):
    """A change of the link at a given time, such as `{at: 5s, rate: 2Mbit/s}`."""

    at: Duration
    delay: Delay | None = None
    rate: BitRate | None = None
    loss: LossFile | None = None
    udp: Annotated[resolved.Udp | None, BeforeValidator(_read_udp)] = None
    mtu: AnyMtuFile | None = None

    @model_validator(mode="after")
    def _changes_something(self) -> "ChangeFile":
        if all(value is None for name, value in self if name != "at"):
            raise ValueError("this changes nothing; set at least one of delay, rate, loss, udp, mtu")
        return self

    def resolve(self) -> resolved.Change:
        return resolved.Change(
            at_ns=self.at,
            delay_ns=self.delay,
            rate=resolved.Bottleneck(bps=self.rate) if self.rate else None,
            loss=_resolve_loss(self.loss),
            udp=self.udp,
            mtu=self.mtu.resolve() if self.mtu else None,
        )


def _read_trace(value: Any, info: ValidationInfo) -> Any:
    return _read_file(read_trace, value, info)


def _read_record(value: Any, info: ValidationInfo) -> Any:
    return _read_file(read_record, value, info)


def _read_file(read: Callable[[Path], object], value: Any, info: ValidationInfo) -> object:
    assert isinstance(info.context, Path), "a trace is named relative to the folder of the network's file"
    try:
        return read(info.context / str(value))
    except UserError as error:
        raise ValueError(error.message) from None


class DirectionFile(Strict):
    """One direction of a network. A field that is left out has no effect on packets."""

    delay: Delay = 0
    """The one-way delay."""
    jitter: JitterFile | None = None
    rate: BitRate | None = None
    """The rate of the bottleneck."""
    trace: Annotated[list[int] | None, BeforeValidator(_read_trace)] = None
    """A Mahimahi file instead of a rate. Each line is a time in milliseconds at which 1500 bytes can be delivered; the
    trace repeats."""
    record: Annotated[LinkRecord | None, BeforeValidator(_read_record)] = None
    """A CSV file or a Mahimahi trace that gives rate, delay or loss over time. Leave out the keys for what it gives.
    Each block starts at a different point in the record."""
    burst: Size | None = None
    """The number of bytes that may pass at once after a silence. The rate limit is then a token bucket (Linux's
    TBF)."""
    queue: QueueFile | None = None
    """A drop-tail limit in bytes, packets (`64p`) or time (`50ms`), or a discipline: `{discipline: fq_codel}`. Required
    if there is a rate, or a change that sets one."""
    loss: LossFile | None = None
    """The share of packets that are lost; `{bad_after: p, good_after: r, loss_good: 0, loss_bad: 1}` (Gilbert-Elliott);
    or `{packets: [3, 17]}`."""
    blackouts: list[tuple[Duration, Duration]] | None = None
    """Periods in which all packets are lost, such as `[[1s, 1.5s]]`, in order and not overlapping."""
    duplicate: Share | None = None
    """The share of packets that arrive twice."""
    reorder: ReorderFile | None = None
    retransmission: RetransmissionFile | None = None
    udp: Annotated[resolved.Udp | None, BeforeValidator(_read_udp)] = None
    """What happens to UDP packets: `pass`; `drop` without notice; `reject` with ICMP port unreachable; or a rate such
    as `1Mbit/s`, above which they are dropped. After a silence, as many bytes may pass at once as the rate allows in
    100 ms."""
    ipv4: resolved.IpPolicy | None = None
    ipv6: resolved.IpPolicy | None = None
    """What happens to packets of this IP version: `pass`; `drop` without notice; `reject` with ICMP port
    unreachable."""
    policer: PolicerFile | None = None
    """A rate above which packets of all protocols are dropped, before the queue."""
    ecn: resolved.EcnPolicy | None = None
    """What happens to the ECN field before the queue: `pass`; `bleach` clears it; `mark` sets CE in every ECN-capable
    packet; `swap` exchanges ECT(0) and ECT(1); `drop` drops ECN-capable packets."""
    mtu: AnyMtuFile | None = None
    """The size of the largest IP packet that passes: bytes, or `{size: 1280, black_hole: true}`."""
    aggregation: AggregationFile | None = None
    """Packets leave in groups, as with cable modems and Wi-Fi."""
    changes: list[ChangeFile] | None = None
    """Timed changes, such as `[{at: 5s, rate: 2Mbit/s, delay: 50ms, loss: 1%, udp: drop}]`, in order."""

    @model_validator(mode="after")
    def _makes_sense(self) -> "DirectionFile":
        """Refuse everything that the lab would refuse (tests/study/directions.json.xz), because messages here can name
        the line."""
        self._check_record()
        self._check_rate()
        self._check_bucket()
        self._check_shaper()
        self._check_delays()
        self._check_times()
        return self

    @property
    def limited(self) -> bool:
        """Whether the direction has a rate limit from the beginning."""
        recorded = self.record is not None and (self.record.bps or self.record.trace_ms)
        return bool(self.rate is not None or self.trace is not None or recorded)

    def _check_record(self) -> None:
        if (record := self.record) is None:
            return
        if (record.bps or record.trace_ms) and (self.rate or self.trace):
            raise fault_at(["record"], "the record has rates: leave out `rate` and `trace`")
        if record.delay_ns and "delay" in self.model_fields_set:
            raise fault_at(["record"], "the record has delays: leave out `delay`")
        if record.loss and self.loss is not None:
            raise fault_at(["record"], "the record has losses: leave out `loss`")
        if self.changes:
            raise fault_at(["changes"], "a record says itself what changes: leave out `record` or `changes`")

    @property
    def _least_delay(self) -> int:
        return min(self.record.delay_ns) if self.record and self.record.delay_ns else self.delay

    def _check_rate(self) -> None:
        later = any(change.rate is not None for change in self.changes or [])
        if self.rate is not None and self.trace is not None:
            raise ValueError("write either `rate` or `trace`, not both")
        if (self.limited or later) and self.queue is None:
            raise ValueError("a rate needs a `queue` (100kB, 64p or 50ms): without one, nothing is ever dropped")
        if self.queue is not None and not (self.limited or later):
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

    def _check_shaper(self) -> None:
        queue = resolve_queue(self.queue)
        for index, change in enumerate(self.changes or []):
            if queue and queue.cake and change.rate is not None:
                raise fault_at(["changes", index, "rate"], "a rate with CAKE's queue cannot change")

    def _check_delays(self) -> None:
        if self.reorder and self.reorder.ahead > self._least_delay:
            raise ValueError("`reorder.ahead` is longer than `delay`: a packet cannot leave before it arrives")
        spread = self.jitter.spread if self.jitter else 0
        if spread > self._least_delay:
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
        return resolved.Direction(
            rate=self._bottleneck(),
            queue=resolve_queue(self.queue),
            loss=self._mean_loss(),
            blackouts=[resolved.Blackout(from_ns=start, to_ns=end) for start, end in self.blackouts or []] or None,
            duplicate=self.duplicate,
            delay_ns=self._mean_delay(),
            jitter=self.jitter.resolve() if self.jitter else None,
            reorder=self.reorder.resolve() if self.reorder else None,
            retransmission=self.retransmission.resolve() if self.retransmission else None,
            udp=self.udp,
            ipv4=self.ipv4 if self.ipv4 != "pass" else None,
            ipv6=self.ipv6 if self.ipv6 != "pass" else None,
            policer=self.policer.resolve() if self.policer else None,
            ecn=self.ecn if self.ecn != "pass" else None,
            mtu=self.mtu.resolve() if self.mtu else None,
            aggregation=self.aggregation.resolve() if self.aggregation else None,
            changes=[change.resolve() for change in self.changes or []] or None,
        )

    def _bottleneck(self) -> resolved.Bottleneck | None:
        """Return the rate. For a record, return its average rate, which the link has until the trial starts."""
        if self.rate:
            return resolved.Bottleneck(bps=self.rate, burst_bytes=self.burst)
        if self.trace:
            return resolved.Bottleneck(trace_ms=self.trace, opportunity_bytes=OPPORTUNITY_BYTES)
        record = self.record
        if record and record.trace_ms:
            trace = resolved.Bottleneck(trace_ms=record.trace_ms, opportunity_bytes=OPPORTUNITY_BYTES)
            return resolved.Bottleneck(bps=max(1, round(trace.mean_bps)))
        return resolved.Bottleneck(bps=max(1, round(record.mean(record.bps)))) if record and record.bps else None

    def _mean_delay(self) -> int:
        record = self.record
        return round(record.mean(record.delay_ns) / 1e5) * 100_000 if record and record.delay_ns else self.delay

    def _mean_loss(self) -> resolved.Loss | None:
        record = self.record
        return resolved.Loss(random=record.mean(record.loss)) if record and record.loss else _resolve_loss(self.loss)
