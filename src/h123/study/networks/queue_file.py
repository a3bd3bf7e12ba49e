"""Reads the `queue` of a network's file: a drop-tail limit, or a discipline with the same parameters as in `tc`."""

import re
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Discriminator, Field, StrictBool, StrictFloat, StrictInt, Tag, model_validator

from h123.base.complaints import choose, excerpt
from h123.base.strict import Strict
from h123.base.units import parse_delay, parse_size
from h123.study.networks import disciplines
from h123.study.networks import network as resolved
from h123.study.quantities import BitRate, Duration, Share, Size

FULL_PACKET_BYTES = 1500
MOST_BYTES, MOST_PACKETS = 1_000_000_000, 1_000_000
LEAST_TIME, MOST_TIME = 1024, 60 * 10**9
"""The smallest and the largest time that a discipline accepts, in ns. Linux counts these times in units of 1024 ns."""
DISCIPLINES = ("fifo", "codel", "fq_codel", "pie", "fq_pie", "red", "dualpi2", "cake")

Packets = Annotated[StrictInt, Field(ge=1, le=MOST_PACKETS)]
Time = Annotated[Duration, Field(ge=LEAST_TIME, le=MOST_TIME)]
"""A time parameter of a discipline, in ns."""
Flows = Annotated[StrictInt, Field(ge=1, le=65_536)]
Quantum = Annotated[StrictInt, Field(ge=256, le=1 << 20)]
Factor = Annotated[StrictInt, Field(ge=0, le=32)]
"""One of PIE's factors, in sixteenths."""
Bytes = Annotated[Size, Field(ge=1, le=MOST_BYTES)]


def _read_limit(value: Any) -> resolved.Queue:
    if isinstance(value, dict):
        raise ValueError(
            f"a queue's `discipline` is missing or not known; {choose(value.get('discipline'), DISCIPLINES)}"
        )
    text = str(value).strip()
    if match := re.fullmatch(r"([0-9]{1,30})\s*p", text, re.ASCII):
        queue = resolved.Queue(packets=int(match[1]))
    elif re.search(r"[0-9]\s*(ns|us|ms|s)$", text[-10:]):
        queue = resolved.Queue(ns=parse_delay(text))
    else:
        queue = resolved.Queue(bytes=parse_size(value))
    if not (queue.bytes or queue.packets or queue.ns):
        raise ValueError(f"a queue of {text} cannot hold anything; write bytes (100kB), packets (64p) or time (50ms)")
    if 0 < (queue.bytes or 0) < FULL_PACKET_BYTES:
        raise ValueError(f"a queue of {text} has no room for a packet of {FULL_PACKET_BYTES}B, so none would ever pass")
    if (queue.bytes or 0) > MOST_BYTES or (queue.packets or 0) > MOST_PACKETS:
        raise ValueError(f"a queue of {excerpt(text)} is too large; the largest is 1GB, {MOST_PACKETS}p or 1min")
    return queue


Limit = Annotated[resolved.Queue, BeforeValidator(_read_limit)]
"""A drop-tail queue, given by its limit in bytes (100kB), packets (64p) or time (50ms)."""


class FifoFile(Strict):
    """A drop-tail queue, such as `{discipline: fifo, limit: 100kB}`, which is the same as `queue: 100kB`."""

    discipline: Literal["fifo"]
    limit: Limit
    """The limit in bytes (100kB), packets (64p) or time (50ms)."""

    def resolve(self) -> resolved.Queue:
        return self.limit


class _ControlledDelay(Strict):
    """The parameters that CoDel and FQ-CoDel share."""

    target: Time = 5_000_000
    """The acceptable delay of a standing queue."""
    interval: Time = 100_000_000
    """How long the queue delay may stay above the target before packets are dropped: about the longest round-trip
    time."""
    ce_threshold: Time | None = None
    """Every ECN-capable packet that has waited longer than this is marked."""

    def _law(self) -> dict[str, Any]:
        return {"target_ns": self.target, "interval_ns": self.interval, "ce_threshold_ns": self.ce_threshold}


class CodelFile(_ControlledDelay):
    """A CoDel queue (RFC 8289), such as `{discipline: codel, limit: 1000, target: 5ms, interval: 100ms}`."""

    discipline: Literal["codel"]
    limit: Packets = 1000
    """The largest number of packets that may wait."""
    ecn: StrictBool = False
    """Whether ECN-capable packets are marked instead of dropped."""

    def resolve(self) -> resolved.Queue:
        return resolved.Queue(codel=disciplines.Codel(limit=self.limit, ecn=self.ecn, **self._law()))


class FqCodelFile(_ControlledDelay):
    """An FQ-CoDel queue (RFC 8290), such as `{discipline: fq_codel, limit: 10240, flows: 1024, quantum: 1500}`."""

    discipline: Literal["fq_codel"]
    limit: Packets = 10_240
    """The largest number of packets that may wait across all flows."""
    ecn: StrictBool = True
    """Whether ECN-capable packets are marked instead of dropped."""
    flows: Flows = 1024
    """The number of queues. Flows whose hashes choose the same queue share it."""
    quantum: Quantum = FULL_PACKET_BYTES
    """The number of bytes that a flow may send in each round."""
    drop_batch: Annotated[StrictInt, Field(ge=1, le=MOST_PACKETS)] = 64
    """The largest number of packets that are dropped at once when the limit is exceeded."""

    def resolve(self) -> resolved.Queue:
        fair = disciplines.FqCodel(
            limit=self.limit,
            ecn=self.ecn,
            flows=self.flows,
            quantum=self.quantum,
            drop_batch=self.drop_batch,
            **self._law(),
        )
        return resolved.Queue(fq_codel=fair)


class _Proportional(Strict):
    """The parameters that PIE and FQ-PIE share."""

    target: Time = 15_000_000
    """The queue delay that PIE aims for."""
    tupdate: Annotated[Duration, Field(ge=1_000_000, le=MOST_TIME)] = 15_000_000
    """The time between two calculations of the drop probability. Linux rounds it up to whole clock ticks and adds one
    tick."""
    alpha: Factor = 2
    """How strongly the drop probability reacts to the queue delay, in sixteenths."""
    beta: Factor = 20
    """How strongly the drop probability reacts to growth of the queue delay, in sixteenths."""
    ecn: StrictBool = False
    """Whether ECN-capable packets are marked instead of dropped while the drop probability is low."""
    bytemode: StrictBool = False
    """Whether smaller packets are dropped less often."""
    dq_rate_estimator: StrictBool = False
    """Whether the queue delay is estimated from the backlog and the rate at which packets leave, instead of
    measured."""

    def _law(self) -> dict[str, Any]:
        same = ("alpha", "beta", "ecn", "bytemode", "dq_rate_estimator")
        return {
            "target_ns": self.target,
            "tupdate_ns": self.tupdate,
            **{name: getattr(self, name) for name in same},
        }


class PieFile(_Proportional):
    """A PIE queue (RFC 8033), such as `{discipline: pie, limit: 1000, target: 15ms}`."""

    discipline: Literal["pie"]
    limit: Packets = 1000
    """The largest number of packets that may wait."""

    def resolve(self) -> resolved.Queue:
        return resolved.Queue(pie=disciplines.Pie(limit=self.limit, **self._law()))


class FqPieFile(_Proportional):
    """A queue with PIE for each flow, such as `{discipline: fq_pie, limit: 10240, flows: 1024, quantum: 1500}`."""

    discipline: Literal["fq_pie"]
    limit: Packets = 10_240
    """The largest number of packets that may wait across all flows."""
    flows: Flows = 1024
    """The number of queues. Flows whose hashes choose the same queue share it."""
    quantum: Quantum = FULL_PACKET_BYTES
    """The number of bytes that a flow may send in each round."""
    ecn_prob: Annotated[StrictInt, Field(ge=0, le=100)] = 10
    """The drop probability, in percent, up to which packets are marked instead of dropped."""

    def resolve(self) -> resolved.Queue:
        fair = disciplines.FqPie(
            limit=self.limit, flows=self.flows, quantum=self.quantum, ecn_prob=self.ecn_prob, **self._law()
        )
        return resolved.Queue(fq_pie=fair)


class RedFile(Strict):
    """A RED queue (Floyd and Jacobson 1993), such as `{discipline: red, limit: 400kB, avpkt: 1000}`."""

    discipline: Literal["red"]
    limit: Annotated[Bytes, Field(ge=FULL_PACKET_BYTES)]
    """The largest number of bytes that may wait."""
    avpkt: Bytes
    """The size of an average packet in bytes."""
    min: Bytes | None = None
    """The average backlog above which packets may be dropped; a third of `max` by default."""
    max: Bytes | None = None
    """The average backlog above which all packets are dropped; 3 times `min`, or a quarter of `limit`, by default."""
    burst: Packets | None = None
    """The number of packets that may arrive at once without losses; (2 min + max) / (3 avpkt) by default."""
    probability: Annotated[Share, Field(gt=0, lt=1)] = 0.02
    """The drop probability when the average backlog reaches `max`."""
    bandwidth: Annotated[BitRate, Field(ge=1000, le=10**12)] = 10_000_000
    """The rate from which RED calculates how fast the average backlog decays while the queue is empty. As in Linux, the
    average does not decay behind a token bucket."""
    ecn: StrictBool = False
    """Whether ECN-capable packets are marked instead of dropped."""
    harddrop: StrictBool = False
    """Whether all packets are dropped while the average backlog is above `max`, even if they could be marked."""
    nodrop: StrictBool = False
    """Whether packets that cannot be marked are kept instead of dropped."""
    adaptive: StrictBool = False
    """Whether `probability` adapts to the average backlog."""

    @model_validator(mode="after")
    def _works(self) -> "RedFile":
        red = self._red()
        if self.nodrop and not self.ecn:
            raise ValueError("`nodrop` has no effect without `ecn: true`")
        if not red.min < red.max:
            raise ValueError(f"`min` must be less than `max`; they are {red.min} and {red.max} bytes")
        if red.probability * 2**31 <= red.max - red.min:
            raise ValueError(
                f"`probability` must be greater than (max - min) / 2^31, {(red.max - red.min) / 2**31:.3g}"
            )
        if not _follows(red):
            raise ValueError(
                f"with a `burst` of {red.burst} packets the average cannot follow; write one from min / avpkt, "
                f"{red.min / red.avpkt:.3g}, to a few times that, and a `min` greater than `avpkt`"
            )
        return self

    def _red(self) -> disciplines.Red:
        most = self.max or (self.min * 3 if self.min else self.limit // 4)
        least = self.min or most // 3
        return disciplines.Red(
            limit=self.limit,
            min=least,
            max=most,
            avpkt=self.avpkt,
            burst=self.burst or max((2 * least + most) // (3 * self.avpkt), 1),
            probability=self.probability,
            bandwidth_bps=self.bandwidth,
            ecn=self.ecn,
            harddrop=self.harddrop,
            nodrop=self.nodrop,
            adaptive=self.adaptive,
        )

    def resolve(self) -> resolved.Queue:
        return resolved.Queue(red=self._red())


Gain = Annotated[StrictInt | StrictFloat, Field(ge=0.004, le=8_000_000)]
"""A gain of DualPI2 in Hertz."""
_GAIN_UNIT = 256


class DualPi2File(Strict):
    """A DualPI2 queue (RFC 9332), such as `{discipline: dualpi2, target: 15ms, step_thresh: 1ms}`. It consists of a
    classic queue and a queue for L4S."""

    discipline: Literal["dualpi2"]
    limit: Packets = 10_000
    """The largest number of packets that may wait across both queues."""
    target: Annotated[Duration, Field(le=4 * 10**9)] = 15_000_000
    """The delay that the controller aims for in the classic queue."""
    tupdate: Annotated[Time, Field(ge=1_000_000)] = 16_000_000
    """The time between two calculations of the drop probability."""
    alpha: Gain = 0.16
    """How strongly the drop probability reacts to the queue delay, in Hertz."""
    beta: Gain = 3.2
    """How strongly the drop probability reacts to growth of the queue delay, in Hertz."""
    coupling_factor: Annotated[StrictInt, Field(ge=1, le=255)] = 2
    """The probability of marking L4S packets, divided by the square root of the drop probability in the classic
    queue."""
    step_thresh: Annotated[Duration, Field(le=4 * 10**9)] = 1_000_000
    """Every L4S packet that has waited longer than this is marked."""
    drop_on_overload: StrictBool = True
    """Whether L4S packets are dropped in overload, too. Otherwise only a full queue drops them."""
    classic_protection: Annotated[StrictInt, Field(ge=0, le=100)] = 10
    """The weight of the classic queue in the scheduler, in percent."""

    def resolve(self) -> resolved.Queue:
        dual = disciplines.DualPi2(
            limit=self.limit,
            target_ns=self.target,
            tupdate_ns=self.tupdate,
            alpha=round(self.alpha * _GAIN_UNIT),
            beta=round(self.beta * _GAIN_UNIT),
            coupling_factor=self.coupling_factor,
            step_thresh_ns=self.step_thresh,
            drop_overload=self.drop_on_overload,
            classic_protection=self.classic_protection,
        )
        return resolved.Queue(dualpi2=dual)


def _follows(red: disciplines.Red) -> bool:
    """Return whether `tc` finds a weight 1 / 2^n for a packet in the average queue length, and Linux can calculate with
    this weight."""
    packets = red.burst + 1 - red.min / red.avpkt
    fits = (n for n in range(1, 32) if 1 <= packets <= (1 - (1 - 0.5**n) ** red.burst) * 2.0**n)
    weight = next(fits, None)
    if weight is None or red.max.bit_length() + weight >= 32:
        return False
    packet_us = red.avpkt * 8e6 / red.bandwidth_bps
    return packet_us < 2**28 and packet_us * 2.0**weight < 2**31


class CakeFile(Strict):
    """A CAKE queue, such as `{discipline: cake}`. It isolates flows, and marks ECN-capable packets instead of dropping
    them."""

    discipline: Literal["cake"]
    rtt: Time = 100_000_000
    """The expected round-trip time of flows. The acceptable queue delay is a twentieth of it."""
    memlimit: Annotated[Size, Field(ge=4096, le=MOST_BYTES)] | None = None
    """The largest amount of memory that packets may take. The default is 4 MiB, or four times what the link can send in
    `rtt` if that is more."""
    isolation: Literal["flowblind", "flows", "triple-isolate"] = "triple-isolate"
    """What gets a fair share: nothing, each flow, or each host and each of its flows. Cross traffic has one pair of
    hosts."""

    def resolve(self) -> resolved.Queue:
        cake = disciplines.Cake(rtt_ns=self.rtt, memlimit=self.memlimit, isolation=self.isolation)
        return resolved.Queue(cake=cake)


def _kind_of_queue(value: Any) -> str:
    name = value.get("discipline") if isinstance(value, dict) else None
    return name if name in DISCIPLINES else "drop-tail"


QueueFile = Annotated[
    Annotated[FifoFile, Tag("fifo")]
    | Annotated[CodelFile, Tag("codel")]
    | Annotated[FqCodelFile, Tag("fq_codel")]
    | Annotated[PieFile, Tag("pie")]
    | Annotated[FqPieFile, Tag("fq_pie")]
    | Annotated[RedFile, Tag("red")]
    | Annotated[DualPi2File, Tag("dualpi2")]
    | Annotated[CakeFile, Tag("cake")]
    | Annotated[Limit, Tag("drop-tail")],
    Discriminator(_kind_of_queue),
]


def resolve_queue(queue: QueueFile | None) -> resolved.Queue | None:
    return queue if queue is None or isinstance(queue, resolved.Queue) else queue.resolve()
