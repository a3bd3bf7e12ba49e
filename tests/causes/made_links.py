"""Causes that links and busy processors make."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from causes.drawing import (
    CROSS,
    EVERY,
    LOSS,
    MANY,
    MARKED,
    OTHERS,
    POLICED,
    QUEUE_LOSS,
    QUIC,
    RATE,
    SHARED_RATE,
    TCP,
    TOO_LARGE,
    Drawing,
    Pair,
    Truth,
    kind,
)
from causes.scene import network
from h123.study.networks.disciplines import Codel, FqCodel
from h123.study.networks.network import (
    Aggregation,
    Blackout,
    Bottleneck,
    Change,
    Cross,
    GilbertElliott,
    Limit,
    Loss,
    Mtu,
    Policer,
    Queue,
    Traffic,
)

# Links.


def _link(d: Drawing, truth_size: str, made: Mapping[str, Any], **scene: Any) -> Pair:
    """The link as `made`, against a plain one."""
    ms, mbit = scene.pop("ms", 0) or d.between(15, 80), scene.pop("mbit", 50)
    without = d.scene(over=network(ms=ms, mbit=mbit), size=truth_size, **scene)
    return Pair(without.but(over=network(**{"ms": ms, "mbit": mbit, **made})), without)


@kind("random losses", LOSS, "a share of what the server sends", loads=(1, 4))
def _random_loss(d: Drawing) -> Pair:
    return _link(d, d.of("100kB", "300kB"), {"loss": Loss(random=d.of(0.01, 0.02, 0.03))})


@kind("random losses of uploads", LOSS, "a share of what the client sends", loads=(1, 4))
def _upload_loss(d: Drawing) -> Pair:
    loss = {"up": {"loss": Loss(random=d.of(0.01, 0.02, 0.03))}}
    return _link(d, d.of("100kB", "300kB"), loss, method="POST")


@kind("bursts of losses", LOSS, "several packets in a row", loads=(1, 4))
def _bursts(d: Drawing) -> Pair:
    bursts = GilbertElliott(p=d.of(0.003, 0.006), r=0.2, loss_good=0, loss_bad=d.of(0.5, 0.8))
    return _link(d, d.of("200kB", "400kB"), {"loss": Loss(gilbert_elliott=bursts)})


@kind("a few losses", LOSS, "chosen packets, early in slow start", loads=(1,))
def _few_losses(d: Drawing) -> Pair:
    lost = sorted(d.random.sample(range(12, 120), 4))
    return _link(d, "100kB", {"loss": Loss(packets=lost)}, requests=2)


@kind("losses of small answers", LOSS, "a lost packet that none follows costs a timeout", loads=(4, 16))
def _tail_loss(d: Drawing) -> Pair:
    return _link(d, "1kB", {"loss": Loss(random=0.1)}, connections="per-user", requests=8)


@kind("losses with a long least timeout", LOSS, "TCP waits so long for what none follows", protocols=TCP, loads=(4,))
def _min_rto(d: Drawing) -> Pair:
    loss = {"loss": Loss(random=0.1)}
    return _link(d, "1kB", loss, connections="per-user", requests=8, min_rto=d.of("400ms", "1s"))


@kind("losses and BBR", LOSS, "its window is not cut as others' are, but it mends", protocols=TCP, loads=(1, 4))
def _bbr(d: Drawing) -> Pair:
    return _link(d, "300kB", {"loss": Loss(random=d.of(0.03, 0.05))}, congestion="bbr")


@kind("losses on a shared connection", LOSS, "one holds all up", protocols=MANY, loads=(16,))
def _blocking(d: Drawing) -> Pair:
    return _link(d, d.of("20kB", "50kB"), {"loss": Loss(random=d.of(0.02, 0.03))})


@kind("a link that is dead for a while", LOSS, "all is lost for 200 ms, over and over", loads=(1, 4))
def _dead(d: Drawing) -> Pair:
    dead = [Blackout(from_ns=n * 10**9 + 300_000_000, to_ns=n * 10**9 + 500_000_000) for n in range(60)]
    return _link(d, "200kB", {"blackouts": dead}, mbit=10)


@kind("a short queue", QUEUE_LOSS, "what does not fit is lost", loads=(1, 4))
def _short_queue(d: Drawing) -> Pair:
    return _link(d, d.of("500kB", "1MB"), {"queue": Queue(packets=d.of(8, 10, 15))}, ms=d.between(30, 80), requests=2)


@kind("policed UDP", POLICED, "what is more than the limit is dropped", protocols=QUIC, loads=(1, 4))
def _policed(d: Drawing) -> Pair:
    limit = Limit(limit=d.of(5_000_000, 10_000_000))
    return _link(d, "500kB", {"udp": limit}, requests=2)


@kind("a full link", RATE, "a body takes its size by the rate", loads=(1,))
def _rate(d: Drawing) -> Pair:
    return _link(d, d.of("200kB", "500kB"), {"mbit": d.of(2, 5)}, ms=d.between(5, 30), requests=3)


@kind(
    "a rate that falls",
    RATE,
    "a tenth of it from the first half second on",
    loads=(1,),
)
def _falling_rate(d: Drawing) -> Pair:
    fallen = [Change(at_ns=500_000_000, rate=Bottleneck(bps=3_000_000))]
    return _link(d, d.of("100kB", "200kB"), {"changes": fallen}, ms=d.between(20, 40), requests=24)


@kind("a full link for uploads", RATE, "a body takes its size by the rate", loads=(1,))
def _rate_up(d: Drawing) -> Pair:
    return _link(d, d.of("200kB", "500kB"), {"mbit": d.of(2, 5)}, ms=d.between(5, 30), requests=3, method="POST")


@kind("a full link that users share", SHARED_RATE, "the link's rate, and the queue of others' bytes before it",
      loads=(4, 16))  # fmt: skip
def _shared_rate(d: Drawing) -> Pair:
    return _link(d, "50kB", {"mbit": d.of(5, 10)}, ms=d.between(5, 30), requests=3)


@kind("many users where one was", SHARED_RATE, "they wait for one another's bytes", loads=(16,))
def _crowd(d: Drawing) -> Pair:
    made = d.scene(over=network(ms=d.between(5, 30), mbit=10), size="50kB", connections="per-user")
    return Pair(made, made.but(users=1))


@kind(
    "a deep queue that others fill",
    OTHERS,
    "packets stand in it, or find no room: both go with the others",
    loads=(1, 4),
)
def _bufferbloat(d: Drawing) -> Pair:
    depth = d.of(100, 200, 300) * 1_000_000
    over = network(ms=d.between(10, 40), mbit=20, queue=Queue(ns=depth))
    crossed = over.model_copy(update={"cross": Cross(down=Traffic(tcp=d.of(2, 4)), ahead_ns=2_000_000_000)})
    without = d.scene(over=over, size=d.of("1kB", "5kB"))
    return Pair(without.but(over=crossed), without)


@kind("a policer", POLICED, "what exceeds its rate is dropped, of any protocol", loads=(1, 4))
def _policer(d: Drawing) -> Pair:
    policer = Policer(bps=d.of(3_000_000, 5_000_000, 8_000_000), burst_bytes=d.of(10_000, 30_000))
    return _link(d, d.of("200kB", "500kB"), {"policer": policer}, requests=2)


@kind("a policer of uploads", POLICED, "what exceeds its rate is dropped, of any protocol", loads=(1, 4))
def _policer_up(d: Drawing) -> Pair:
    policer = Policer(bps=d.of(3_000_000, 5_000_000), burst_bytes=d.of(10_000, 30_000))
    return _link(d, d.of("200kB", "500kB"), {"up": {"policer": policer}}, requests=2, method="POST")


@kind("marks at a low threshold", MARKED, "the queue marks packets before it is long", loads=(1, 4))
def _marks(d: Drawing) -> Pair:
    codel = Codel(limit=10_000, target_ns=d.of(1, 5) * 10**8, interval_ns=10**9, ecn=True)
    low = codel.model_copy(update={"ce_threshold_ns": d.of(1, 2) * 1_000_000})
    ms, size, ecn = d.between(60, 120), d.of("500kB", "1MB"), {"tcp_ecn": True, "requests": 2}
    made, without = (network(ms=ms, mbit=50, queue=Queue(codel=of)) for of in (low, codel))
    return Pair(d.scene(over=made, size=size, **ecn), d.scene(over=without, size=size, **ecn))


@kind("a path that marks all packets", MARKED, "the window stays at its least", protocols=TCP, loads=(1, 4))
def _marks_all(d: Drawing) -> Pair:
    return _link(d, d.of("100kB", "300kB"), {"ecn": "mark"}, tcp_ecn=True, requests=2)


@kind("a black hole for a while", TOO_LARGE, "full packets vanish until the path is wide again", loads=(1,))
def _black_hole(d: Drawing) -> Pair:
    begin = d.between(300, 600) * 1_000_000
    narrow, wide = Mtu(bytes=d.of(600, 900), silent=True), Mtu(bytes=1500)
    changes = [Change(at_ns=begin, mtu=narrow), Change(at_ns=begin + d.of(1, 2) * 10**9, mtu=wide)]
    return _link(d, "200kB", {"changes": changes}, requests=d.of(12, 16))


def _crossed(d: Drawing, queue: Queue, mbit: float, **others: Any) -> Pair:
    over = network(ms=d.between(10, 40), mbit=mbit, queue=queue, **others)
    crossed = over.model_copy(update={"cross": Cross(down=Traffic(udp=round(mbit * 9e5)), ahead_ns=10**9)})
    without = d.scene(over=over, size=d.of("20kB", "50kB"))
    return Pair(without.but(over=crossed), without)


@kind("cross traffic before a full link", CROSS, "its packets are sent in between", loads=(1, 4))
def _cross(d: Drawing) -> Pair:
    return _crossed(d, Queue(packets=1000), d.of(5, 10))


@kind("a token bucket that others empty", CROSS, "they use most of its tokens", loads=(1,))
def _cross_bucket(d: Drawing) -> Pair:
    pair = _crossed(d, Queue(packets=1000), 10)
    down = pair.made.over.down
    assert down
    bucket = down.model_copy(update={"rate": Bottleneck(bps=10_000_000, burst_bytes=5_000)})
    made, without = (
        scene.but(over=scene.over.model_copy(update={"down": bucket}))
        for scene in (pair.made, pair.without or pair.made)
    )
    return Pair(made, without)


@kind("cross traffic in a fair queue", CROSS, "each has its turn", loads=(1, 4))
def _fair_cross(d: Drawing) -> Pair:
    return _crossed(d, _fair(), d.of(5, 10))


def _fair() -> Queue:
    codel = {"limit": 10_240, "target_ns": 10**9, "interval_ns": 10**9, "ecn": False}
    return Queue(fq_codel=FqCodel(**codel, flows=1024, quantum=1514, drop_batch=64))


@kind("many users in a fair queue", Truth({"queue"}), "each waits while others have their turn", loads=(16,))
def _fair_crowd(d: Drawing) -> Pair:
    over = network(ms=d.between(5, 30), mbit=10, queue=_fair())
    made = d.scene(over=over, size="20kB", connections="per-user")
    return Pair(made, made.but(users=1))


@kind("a full link that sends in groups", RATE, "a body takes its size by the rate", loads=(1,))
def _grouped_rate(d: Drawing) -> Pair:
    groups = Aggregation(every_ns=d.of(2, 4, 8) * 1_000_000)
    made = {"mbit": d.of(2, 5), "aggregation": groups}
    pair = _link(d, d.of("200kB", "500kB"), made, ms=d.between(5, 30), requests=3)
    assert pair.without
    over = pair.without.over
    down = over.down.model_copy(update={"aggregation": groups}) if over.down else None
    return replace(pair, without=pair.without.but(over=over.model_copy(update={"down": down})))


@kind("a full token bucket", RATE, "a body takes its size by the rate", loads=(1,))
def _bucket(d: Drawing) -> Pair:
    pair = _link(d, d.of("200kB", "500kB"), {}, ms=d.between(5, 30), requests=3)
    over, bucket = pair.made.over, Bottleneck(bps=d.of(2_000_000, 5_000_000), burst_bytes=d.of(5_000, 30_000))
    down = over.down.model_copy(update={"rate": bucket, "queue": Queue(packets=1000)}) if over.down else None
    return replace(pair, made=pair.made.but(over=over.model_copy(update={"down": down})))


@kind("a long way", Truth({"trip"}), "a small request takes one round trip")
def _far(d: Drawing) -> Pair:
    return _link(d, "1kB", {"ms": d.between(100, 400)}, ms=d.between(5, 20))


# Processors, under the wall clock.


@kind(
    "a busy server",
    Truth({"server-work"}),
    "it computes before each answer",
    protocols=EVERY,
    clients=("go",),
    loads=(1,),
)
def _busy_server(d: Drawing) -> Pair:
    pair = d.by_server("--compute", f"{d.between(20, 50)}ms", ms=4, size="5kB")
    return replace(pair, made=pair.made.but(clock="wall"), without=pair.without and pair.without.but(clock="wall"))


@kind(
    "a busy client", Truth({"client-work"}), "it shares its processor with others", clients=("go", "load"), loads=(1,)
)
def _busy_client(d: Drawing) -> Pair:
    without = d.scene(ms=4, mbit=1000, size="100kB").but(clock="wall")
    return Pair(without.but(busy="client"), without)


@kind("datagrams that find no room", Truth({"drops", "loss"}), "the server does not read for 20 ms in 50",
      protocols=QUIC, loads=(1,))  # fmt: skip
def _drops(d: Drawing) -> Pair:
    return replace(d.by_server("--overflow", ms=20, method="POST", size="500kB", requests=3), exact=Truth({"drops"}))
