"""Two causes at once."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from causes.drawing import (
    CONNECTING,
    CURL,
    LIMIT,
    LOSS,
    MANY,
    NAGLE,
    OTHERS,
    PLACE,
    SERVER,
    SHARED_RATE,
    STREAMING,
    TCP,
    Drawing,
    Pair,
    Truth,
    kind,
)
from causes.scene import Scene, network
from h123.study.networks.network import Cross, Loss, Queue, Traffic

# Two causes at once.


def _two(made: Scene, one: tuple[Truth, Mapping[str, Any]], other: tuple[Truth, Mapping[str, Any]]) -> Pair:
    """Each with what a scene has without it."""
    neither = made.but(**one[1]).but(**other[1])
    return Pair(made, neither, [(one[0], made.but(**one[1])), (other[0], made.but(**other[1]))])


def _two_of(server: Sequence[str], other: Sequence[str], made: Scene, truths: Sequence[Truth]) -> Pair:
    """Both by the server."""
    both = made.but(server=(*server, *other))
    each = [(truths[0], made.but(server=tuple(other))), (truths[1], made.but(server=tuple(server)))]
    return Pair(both, made, each)


@kind("think time and losses", SERVER | LOSS, "each is taken away by itself", loads=(1, 4))
def _think_loss(d: Drawing) -> Pair:
    ms = d.between(15, 60)
    lossy, plain = network(ms=ms, mbit=50, loss=Loss(random=0.02)), network(ms=ms, mbit=50)
    made = d.scene(over=lossy, size="100kB").but(server=("--think", f"{d.between(20, 200)}ms"))
    return _two(made, (SERVER, {"server": ()}), (LOSS, {"over": plain}))


@kind("think time and few streams", SERVER | PLACE, "who waits for a place waits for others' handlers", protocols=MANY,
      loads=(16,), either=True)  # fmt: skip
def _think_streams(d: Drawing) -> Pair:
    think, streams = ("--think", f"{d.between(10, 100)}ms"), ("--streams", str(d.of(4, 8)))
    pair = _two_of(think, streams, d.scene(ms=d.between(10, 60), size="2kB"), (SERVER, PLACE))
    return replace(pair, exact=SERVER | PLACE | CONNECTING) if d.client in CURL else pair


@kind("think time and a small upload window", SERVER | LIMIT, "one after the other", protocols=MANY, loads=(1,))
def _think_window(d: Drawing) -> Pair:
    window = "--window", "65535", "--stream-window", "65535"
    made = d.scene(ms=d.between(20, 60), method="POST", size="300kB", requests=3)
    return _two_of(("--think", f"{d.between(50, 300)}ms"), window, made, (SERVER, LIMIT))


@kind("think time over a full link", SERVER | SHARED_RATE, "one after the other", loads=(1,))
def _think_rate(d: Drawing) -> Pair:
    ms = d.between(5, 30)
    made = d.scene(over=network(ms=ms, mbit=5), size=d.of("50kB", "100kB"))
    made = made.but(server=("--think", f"{d.between(30, 300)}ms"))
    return _two(made, (SERVER, {"server": ()}), (SHARED_RATE, {"over": network(ms=ms, mbit=100)}))


@kind("think time and a dribbled body", STREAMING, "the handler's time both", loads=(1, 4))
def _think_dribble(d: Drawing) -> Pair:
    dribble = "--piece", "1000", "--pieces", "10", "--pause", f"{d.between(3, 15)}ms"
    made = d.scene(ms=d.between(5, 50), size="20kB")
    return _two_of(("--think", f"{d.between(20, 200)}ms"), dribble, made, (SERVER, STREAMING))


@kind("a small window over a long way", LIMIT | Truth({"trip"}), "each window costs one round trip", protocols=MANY,
      loads=(1,), either=True)  # fmt: skip
def _window_far(d: Drawing) -> Pair:
    ms = d.between(100, 250)
    window = "--window", "65535", "--stream-window", "65535"
    made = d.scene(ms=ms, method="POST", size="300kB", requests=2).but(server=window)
    return _two(made, (LIMIT, {"server": ()}), (LIMIT | Truth({"trip"}), {"over": network(ms=ms / 8, mbit=100)}))


@kind("losses over a full link", LOSS | SHARED_RATE, "each is taken away by itself", loads=(1,))
def _loss_rate(d: Drawing) -> Pair:
    ms, loss = d.between(15, 60), Loss(random=0.02)
    made = d.scene(over=network(ms=ms, mbit=5, loss=loss), size="200kB", requests=3)
    slow, lossy = made.but(over=network(ms=ms, mbit=5)), made.but(over=network(ms=ms, mbit=100, loss=loss))
    return Pair(made, made.but(over=network(ms=ms, mbit=100)), [(LOSS, slow), (SHARED_RATE, lossy)])


@kind("a dribbled body and losses", STREAMING | LOSS, "each is taken away by itself", loads=(1, 4))
def _dribble_loss(d: Drawing) -> Pair:
    ms = d.between(15, 60)
    made = d.scene(over=network(ms=ms, mbit=50, loss=Loss(random=0.03)), size="30kB")
    made = made.but(server=("--piece", "1000", "--pieces", "15", "--pause", f"{d.between(3, 15)}ms"))
    return _two(made, (STREAMING, {"server": ()}), (LOSS, {"over": network(ms=ms, mbit=50)}))


@kind("think time and a new connection", SERVER | CONNECTING, "cold, with think time, against warm, without")
def _think_new(d: Drawing) -> Pair:
    made = d.scene(ms=d.between(20, 100), size="1kB", phase="cold").but(server=("--think", f"{d.between(20, 300)}ms"))
    return _two(made, (SERVER, {"server": ()}), (CONNECTING, {"phase": "warm", "cold": True}))


@kind("think time and a deep queue", SERVER | OTHERS, "others fill the queue", loads=(1, 4))
def _think_queue(d: Drawing) -> Pair:
    over = network(ms=d.between(10, 40), mbit=20, queue=Queue(ns=150_000_000))
    crossed = over.model_copy(update={"cross": Cross(down=Traffic(tcp=3), ahead_ns=2_000_000_000)})
    made = d.scene(over=crossed, size="2kB").but(server=("--think", f"{d.between(30, 300)}ms"))
    return _two(made, (SERVER, {"server": ()}), (OTHERS, {"over": over}))


@kind("few streams and losses", PLACE | LOSS, "a lost packet keeps others waiting too", protocols=MANY, loads=(16,),
      either=True)  # fmt: skip
def _streams_loss(d: Drawing) -> Pair:
    ms = d.between(15, 60)
    made = d.scene(over=network(ms=ms, mbit=50, loss=Loss(random=0.02)), size="10kB").but(server=("--streams", "4"))
    pair = _two(made, (PLACE, {"server": ()}), (LOSS, {"over": network(ms=ms, mbit=50)}))
    return replace(pair, exact=PLACE | LOSS | CONNECTING) if d.client in CURL else pair


@kind("think time and Nagle", SERVER | NAGLE, "one after the other", protocols=TCP, loads=(1,))
def _think_nagle(d: Drawing) -> Pair:
    writes = "--head-first", "--piece", "1000000"
    made = d.scene(ms=d.between(2, 20), size="800B", requests=24).but(server=writes)
    truths = (SERVER, NAGLE)
    think = "--think", f"{d.between(10, 120)}ms", *writes
    both = made.but(server=(*think, "--nagle"))
    return Pair(both, made, [(truths[0], made.but(server=("--nagle", *writes))), (truths[1], made.but(server=think))])
