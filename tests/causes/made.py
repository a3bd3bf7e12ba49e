"""Kinds of trials whose time goes to a cause that was made, and cases of them, drawn by a seed.

The truth is by construction: a case is a trial with the cause, and the same trial, of the same seed, without it. What
the cause costs is the time that goes away with it. Where two causes meet, each is there by itself as well.
"""

import math
import random
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from adversary.zoo import Program
from causes.scene import ASK, FALLBACK, Scene, network
from h123.study.networks.network import (
    Blackout,
    Bottleneck,
    Change,
    Cross,
    GilbertElliott,
    Limit,
    Loss,
    Network,
    Queue,
    Traffic,
)

Truth = frozenset[str]
"""Groups of causes, or single causes of them, any of which is right to name."""
TCP: Final = ("h1", "h2")
MANY: Final = ("h2", "h3")
EVERY: Final = ("h1", "h2", "h3")
QUIC: Final = ("h3",)
CLIENTS: Final = ("go", "load", "curl-openssl", "pycurl")
CURL: Final = ("curl-openssl", "pycurl")
LOADS: Final = (1, 4, 16)
_REQUESTS: Final = {1: 6, 4: 4, 16: 3}
SAY_BLOCKED: Final = ("go", "load")
"""Clients that say over QUIC when flow control holds them back, which the server then writes down."""
_RENO: Final = ("curl-openssl",)
"""Clients whose QUIC has that controller alone."""

ON_NODE: Final = {
    *("--think", "--think-most", "--think-every", "--pause", "--head-first", "--chunked", "--piece", "--pieces"),
    *("--nagle", "--window", "--stream-window", "--streams"),
}
"""What the made server on Node.js can be asked for."""

SERVER: Final = Truth({"server"})
STREAMING: Final = Truth({"idle", "server"})
LIMIT: Final = Truth({"limit"})
PLACE: Final = Truth({"place"})
LOSS: Final = Truth({"loss"})
QUEUE: Final = Truth({"queue"})
OTHERS: Final = Truth({"queue", "loss"})
RATE: Final = Truth({"rate"})
SHARED_RATE: Final = Truth({"rate", "queue"})
CONNECTING: Final = Truth({"connecting"})
CHAIN: Final = Truth({"amplification"})
SLOW_START: Final = Truth({"slow-start"})
SMALL: Final = Truth({"slow-start", "window", "limit"})
NAGLE: Final = Truth({"nagle"})


@dataclass(frozen=True)
class Pair:
    """A trial with a cause, and without."""

    made: Scene
    without: Scene | None = None
    """None: the cause cannot be taken away; the trial's own time counts."""
    each: Sequence[tuple[Truth, Scene]] = ()
    """Of two causes: each, with the trial that has the other one alone."""
    exact: Truth | None = None
    """What is right to name, where this pair says it more closely than its kind."""


@dataclass(frozen=True)
class Kind:
    """One kind of cause."""

    name: str
    truth: Truth
    why: str
    """Why this is the truth."""
    draw: Callable[["Drawing"], Pair]
    protocols: Sequence[str] = EVERY
    clients: Sequence[str] = CLIENTS
    loads: Sequence[int] = LOADS
    either: bool = False
    """Of two causes that feed each other: each is right to name, whichever costs more by itself."""


@dataclass(frozen=True)
class Case:
    """One that was drawn."""

    number: int
    seed: int
    kind: Kind
    pair: Pair

    def __str__(self) -> str:
        made = self.pair.made
        shown = {name: value for name, value in made.parameters.items() if name != "requests"}
        words = [f"{made.over.round_trip_ns / 1e6:g} ms", *(f"{name}={value}" for name, value in shown.items())]
        words += [made.program, *made.server, *made.asking, *(["qlog"] if made.qlog else [])]
        return f"{self.number}: {self.kind.name}, {made.protocol}, {made.client}, {' '.join(words)}"


@dataclass
class Drawing:
    """What a kind's cases are drawn from."""

    random: random.Random
    protocol: str
    client: str
    users: int

    def between(self, low: float, high: float) -> int:
        """A whole number; small ones as likely as large ones, by their ratio."""
        return round(low * math.pow(high / low, self.random.random()))

    def of(self, *choices: Any) -> Any:
        """One of them."""
        return self.random.choice(choices)

    def scene(
        self, *, over: Network | None = None, ms: float = 0, mbit: float = 100, phase: str = "warm", **parameters: Any
    ) -> Scene:
        """Of the client and the load that were drawn."""
        over = over or network(ms=ms or self.between(8, 100), mbit=mbit)
        requests = 1 if phase == "cold" else _REQUESTS.get(self.users, 3)
        given = {"users": self.users, "requests": requests, "size": "5kB", **parameters}
        if given.get("method") == "POST" and self.protocol == "h3" and self.client in _RENO:
            given["congestion"] = "reno"
        return Scene(over, self.protocol, self.client, given, phase=phase)

    def by_server(self, *reasons: str, less: Sequence[str] = (), **scene: Any) -> Pair:
        """Made by the server, which has `less` of it in the other trial."""
        without = replace(self.scene(**scene), program=self.program(reasons))
        return Pair(without.but(server=reasons), without.but(server=tuple(less)))

    def program(self, reasons: Sequence[str]) -> Program:
        """What the server is written in."""
        can = self.protocol in TCP and all(one in ON_NODE for one in reasons if one.startswith("--"))
        return self.of("go", "node") if can else "go"


Draw = Callable[[Drawing], Pair]
KINDS: list[Kind] = []


def kind(name: str, truth: Truth, why: str, **of: Any) -> Callable[[Draw], Draw]:
    """Adds one."""

    def add(draw: Draw) -> Draw:
        KINDS.append(Kind(name, truth, why, draw, **of))
        return draw

    return add


def drawn(seed: int, number: int, kinds: Sequence[Kind] | None = None, again: int = 0) -> Case:
    """The case of this number. Each kind comes once before any comes twice. `again`: how often it was drawn in vain."""
    kinds = kinds or KINDS
    turn, place = divmod(number, len(kinds))
    order = random.Random(f"{seed} {turn}").sample(range(len(kinds)), len(kinds))
    one = kinds[order[place]]
    of = random.Random(f"{seed} {one.name} {turn} {again}")  # whatever other kinds there are
    drawing = Drawing(of, of.choice(one.protocols), of.choice(one.clients), of.choice(one.loads))
    return Case(number, of.randrange(2**32), one, one.draw(drawing))


# Servers that take their time.


def _thinking(d: Drawing, low: float = 1, high: float = 300) -> tuple[int, dict[str, Any]]:
    """A think time, and a scene whose round trip leaves it notable."""
    think = d.between(low, high)
    return think, {"ms": d.between(2, min(100, 3 * think + 2)), "size": d.of("1kB", "5kB", "20kB")}


@kind("think time", SERVER, "the answer is not asked of anything but the handler, which sleeps")
def _think(d: Drawing) -> Pair:
    think, scene = _thinking(d)
    return d.by_server("--think", f"{think}ms", **scene)


@kind("think time, own connections", SERVER, "the same with a connection a user", loads=(4, 16))
def _think_apart(d: Drawing) -> Pair:
    think, scene = _thinking(d, 3)
    return d.by_server("--think", f"{think}ms", connections="per-user", **scene)


@kind("think time, four users on a connection", SERVER, "the default load of compare", protocols=MANY, loads=(4,))
def _think_four(d: Drawing) -> Pair:
    think, scene = _thinking(d, 10, 60)
    return d.by_server("--think", f"{think}ms", **scene)


@kind("think time, more against less", SERVER, "both sleep, one longer; nothing else differs")
def _think_more(d: Drawing) -> Pair:
    think, scene = _thinking(d, 10, 100)
    return d.by_server("--think", f"{3 * think}ms", less=["--think", f"{think}ms"], **{**scene, "size": "20kB"})


@kind("think time of a round trip", SERVER, "the wait looks like a round trip, and is none")
def _think_trip(d: Drawing) -> Pair:
    trip = d.of(10, 20, 40, 80)
    return d.by_server("--think", f"{trip}ms", ms=trip, size=d.of("1kB", "20kB"))


@kind("think time of two round trips", SERVER, "the wait looks like two round trips, and is none")
def _think_two_trips(d: Drawing) -> Pair:
    trip = d.of(10, 20, 40)
    return d.by_server("--think", f"{2 * trip}ms", ms=trip, size=d.of("1kB", "20kB"))


@kind("think time that varies", SERVER, "each answer waits a time of its own, at random")
def _think_varies(d: Drawing) -> Pair:
    think, scene = _thinking(d, 5, 150)
    return d.by_server("--think", "1ms", "--think-most", f"{2 * think}ms", **scene)


@kind("think time now and then", SERVER, "one answer in three waits: a cache that misses")
def _think_some(d: Drawing) -> Pair:
    think, scene = _thinking(d, 100, 300)
    return d.by_server("--think", f"{think}ms", "--think-every", "3", **{**scene, "ms": d.between(5, 30)})


@kind("think time before a large answer", SERVER, "the body takes as long without it")
def _think_large(d: Drawing) -> Pair:
    think = d.between(100, 300)
    return d.by_server("--think", f"{think}ms", ms=d.between(5, 40), size=d.of("100kB", "200kB"))


@kind("think time after an upload", SERVER, "the upload has come when the handler sleeps")
def _think_upload(d: Drawing) -> Pair:
    think = d.between(20, 300)
    return d.by_server("--think", f"{think}ms", ms=d.between(4, 40), method="POST", size=d.of("1kB", "20kB", "100kB"))


@kind("think time, cold", SERVER, "the same on a new connection, warm ones left out")
def _think_cold(d: Drawing) -> Pair:
    return d.by_server("--think", f"{d.between(50, 300)}ms", ms=d.between(5, 40), size="5kB", phase="cold")


@kind("one worker", SERVER, "requests wait in the server for others' handlers", loads=(4, 16))
def _worker(d: Drawing) -> Pair:
    return d.by_server(
        "--think", f"{d.between(3, 20)}ms", "--one-at-once", ms=d.between(4, 40), size=d.of("1kB", "5kB")
    )


@kind("a proxy with a slow origin", SERVER, "the proxy waits for its origin, on its own host")
def _proxy(d: Drawing) -> Pair:
    think, scene = _thinking(d, 10, 200)
    return d.by_server("--proxy", "--think", f"{think}ms", less=["--proxy"], **scene)


@kind(
    "a proxy with few connections to its origin", SERVER, "requests wait in the proxy for others' answers", loads=(16,)
)
def _proxy_few(d: Drawing) -> Pair:
    origin = "--proxy", "--think", f"{d.between(10, 60)}ms"
    few = "--origin-connections", str(d.of(2, 4))
    return d.by_server(*origin, *few, less=origin, ms=d.between(4, 40), size=d.of("1kB", "5kB"))


@kind("a server that stops now and then", SERVER, "no handler goes on meanwhile: a collector of garbage, or a lock")
def _stall(d: Drawing) -> Pair:
    return d.by_server("--stall", f"{d.between(100, 300)}ms", ms=d.between(5, 40), size=d.of("1kB", "5kB"), requests=12)


# Answers that come piece by piece.


@kind("head first, then a pause", STREAMING, "the handler sleeps between head and body, so the sender has nothing")
def _head_first(d: Drawing) -> Pair:
    pause, scene = _thinking(d, 10, 200)
    return d.by_server("--head-first", "--pause", f"{pause}ms", "--piece", "1000000", less=["--head-first"], **scene)


@kind("a dribbled body", STREAMING, "the handler sleeps before each kilobyte")
def _dribble(d: Drawing) -> Pair:
    pause = d.between(2, 20)
    pieces = "--head-first", "--piece", d.of("500", "1000", "1400"), "--pieces", str(d.between(5, 20))
    return d.by_server(*pieces, "--pause", f"{pause}ms", ms=d.between(4, 60), size=d.of("20kB", "50kB"))


@kind("two writes with a pause", STREAMING, "chunked: half of the body, a pause, the rest")
def _two_writes(d: Drawing) -> Pair:
    pause, scene = _thinking(d, 10, 200)
    pieces = "--chunked", "--piece", "2000", "--pieces", "1"
    return d.by_server(*pieces, "--pause", f"{pause}ms", less=pieces, **{**scene, "size": "4kB"})


@kind("a body at the pace of its source", STREAMING, "20 kB at a time, with pauses longer than they take to send")
def _paced(d: Drawing) -> Pair:
    pieces = "--piece", "20000", "--pause", f"{d.between(20, 60)}ms"
    return d.by_server(*pieces, less=pieces[:2], ms=d.between(4, 30), size=d.of("100kB", "200kB"))


@kind("events now and then", STREAMING, "small pieces far apart", loads=(1, 4))
def _events(d: Drawing) -> Pair:
    pieces = "--chunked", "--piece", "100", "--pause", f"{d.between(30, 120)}ms"
    return d.by_server(*pieces, less=pieces[:3], ms=d.between(4, 60), size="1kB")


@kind("a proxy whose origin dribbles", STREAMING, "what the origin has not given, the proxy has not to send")
def _proxy_dribbles(d: Drawing) -> Pair:
    pieces = "--proxy", "--head-first", "--piece", "1000", "--pieces", "10"
    return d.by_server(*pieces, "--pause", f"{d.between(3, 20)}ms", less=["--proxy"], ms=d.between(4, 60), size="20kB")


# Windows and buffers that do not grow.


def _narrow(d: Drawing, *options: str, exact: str = "", **scene: Any) -> Pair:
    """An upload that a server lets in by little at once; its log says so where QUIC has one."""
    pair = d.by_server(*options, **{"ms": d.between(30, 90), "method": "POST", "size": "500kB", "requests": 2, **scene})
    if exact and d.protocol == "h3" and d.client in SAY_BLOCKED and d.of(True, False):
        return replace(pair, made=replace(pair.made, qlog=True), exact=Truth({exact}))
    return pair


def _bytes(d: Drawing) -> str:
    return str(d.of(65_535, 65_536, 32_000, 100_000))


@kind("a small upload window", LIMIT, "one window a round trip; a large one lets all in", protocols=MANY, loads=(1, 4))
def _windows(d: Drawing) -> Pair:
    size = str(d.of(65_535, 65_536, 100_000))
    return _narrow(d, "--window", size, "--stream-window", size)


@kind("HTTP/2's window of 65 535", LIMIT, "what many servers leave it at", protocols=("h2",), loads=(1,))
def _window_h2(d: Drawing) -> Pair:
    return _narrow(d, "--window", "65535", "--stream-window", "65535", size=d.of("300kB", "1MB", "2MB"))


@kind("a small stream window", LIMIT, "one window a round trip on each stream", protocols=MANY, loads=(1,))
def _stream_window(d: Drawing) -> Pair:
    return _narrow(d, "--stream-window", _bytes(d), exact="stream-limit")


@kind("a small connection window", LIMIT, "one window a round trip for all streams", protocols=MANY, loads=(1, 4))
def _connection_window(d: Drawing) -> Pair:
    return _narrow(d, "--window", str(d.of(65_535, 65_536, 100_000)), exact="connection-limit")


@kind("a small receive buffer of the server", LIMIT, "TCP's window has room for so much", protocols=TCP, loads=(1, 4))
def _server_buffer(d: Drawing) -> Pair:
    pair = _narrow(d, "--receive-buffer", _bytes(d))
    return replace(pair, exact=Truth({"receiver"}))


@kind("a server that reads slowly", LIMIT, "windows are full while it does not read", loads=(1,))
def _reads_slowly(d: Drawing) -> Pair:
    windows = ("--window", "65536", "--stream-window", "65536")
    small = ("--receive-buffer", "65536") if d.protocol == "h1" else windows
    slow = "--read-piece", "16384", "--read-pause", f"{d.between(20, 60)}ms"
    return d.by_server(*small, *slow, less=small, ms=d.between(5, 20), method="POST", size="500kB", requests=2)


def _taking(d: Drawing, *ways: str, less: Sequence[str] = (), **scene: Any) -> Pair:
    """A download that the client takes in its own way."""
    without = d.scene(**{"ms": d.between(30, 90), "size": "500kB", "requests": 2, "cold": True, **scene})
    return Pair(without.but(asking=ways), without.but(asking=tuple(less)))


@kind("a small window for a download", LIMIT, "the client grants so much", protocols=MANY, clients=(ASK,), loads=(1, 4))
def _down_window(d: Drawing) -> Pair:
    size = _bytes(d)
    return _taking(d, "--stream-window", size, "--window", size)


@kind("a small stream window for a download", LIMIT, "on each stream", protocols=MANY, clients=(ASK,), loads=(1,))
def _down_stream_window(d: Drawing) -> Pair:
    return _taking(d, "--stream-window", _bytes(d))


@kind("a small receive buffer of the client", LIMIT, "TCP's window", protocols=TCP, clients=(ASK,), loads=(1, 4))
def _client_buffer(d: Drawing) -> Pair:
    return replace(_taking(d, "--receive-buffer", _bytes(d)), exact=Truth({"receiver"}))


@kind("a client that reads slowly", LIMIT, "windows are full while it does not read", clients=(ASK,), loads=(1,))
def _takes_slowly(d: Drawing) -> Pair:
    windows = ("--window", "65536", "--stream-window", "65536")
    small = ("--receive-buffer", "65536") if d.protocol == "h1" else windows
    slow = "--piece", "16384", "--pause", f"{d.between(20, 60)}ms"
    return _taking(d, *small, *slow, less=small, ms=d.between(5, 20))


@kind("a small send buffer", LIMIT, "the kernel takes so much until it is acknowledged", protocols=TCP, loads=(1, 4))
def _send_buffer(d: Drawing) -> Pair:
    return d.by_server("--send-buffer", str(d.of(16_384, 32_768)), ms=d.between(30, 90), size="500kB", requests=2)


# Places on a connection.


def _placed(d: Drawing, pair: Pair) -> Pair:
    """libcurl makes connections, some in vain, where one has no place: what it waits for is both."""
    return replace(pair, exact=PLACE | CONNECTING) if d.client in CURL else pair


@kind("few streams at a time", PLACE, "users wait until others' requests have ended", protocols=MANY, loads=(16,))
def _streams(d: Drawing) -> Pair:
    pair = d.by_server("--streams", str(d.of(2, 4, 8)), ms=d.between(5, 80), size=d.of("1kB", "2kB", "5kB"))
    return _placed(d, pair)


@kind("few streams at a time for uploads", PLACE, "the same, of small uploads", protocols=MANY, loads=(16,))
def _streams_up(d: Drawing) -> Pair:
    return _placed(d, d.by_server("--streams", str(d.of(2, 4)), ms=d.between(5, 80), method="POST", size="2kB"))


@kind("fewer connections than users", PLACE, "HTTP/1.1 has one request at a time on each", protocols=("h1",),
      clients=("go", "load"), loads=(16,))  # fmt: skip
def _few_connections(d: Drawing) -> Pair:
    without = d.scene(ms=d.between(5, 80), size=d.of("1kB", "5kB"))
    return Pair(without.but(connections=d.of(2, 4, 8)), without)


# How TCP sends.


@kind("Nagle against delayed acknowledgements", NAGLE, "the second write waits until the first is acknowledged",
      protocols=TCP, loads=(1, 4))  # fmt: skip
def _nagle(d: Drawing) -> Pair:
    writes = "--head-first", "--piece", "1000000"
    scene = {"ms": d.between(2, 20), "size": d.of("200B", "800B"), "requests": 24, "connections": "per-user"}
    return d.by_server("--nagle", *writes, less=writes, **scene)


@kind(
    "a window full of small packets", SMALL, "windows count packets, and each has few bytes", protocols=TCP, loads=(1,)
)
def _small_packets(d: Drawing) -> Pair:
    small = "--piece", d.of("100", "200"), "--pieces", "200"
    pair = d.by_server(*small, ms=d.between(60, 150), size="60kB")
    assert pair.without
    # Node.js writes a piece a millisecond, as its timers have no finer grain: that alone takes 200 ms.
    return replace(pair, made=replace(pair.made, program="go"), without=replace(pair.without, program="go"))


@kind("a small initial window", SLOW_START, "more round trips until it has grown", protocols=TCP)
def _initial_window(d: Drawing) -> Pair:
    without = d.scene(ms=d.between(20, 150), size=d.of("20kB", "50kB"), initial_window=40, phase="cold")
    return Pair(without.but(initial_window=d.of(2, 4)), without)


@kind("a TLS record that the initial window does not hold", SLOW_START, "16 kB want eleven packets, the window has ten",
      protocols=TCP, loads=(1,))  # fmt: skip
def _record(d: Drawing) -> Pair:
    without = d.scene(ms=d.between(20, 150), size="16000B", initial_window=20, phase="cold")
    return Pair(without.but(initial_window=10), without)


@kind("slow start", SLOW_START, "a new connection over a long, fast way: half of the time and more", loads=(1,))
def _slow_start(d: Drawing) -> Pair:
    over = network(ms=d.between(100, 200), mbit=1000)
    return Pair(d.scene(over=over, size=d.of("1MB", "2MB"), method=d.of("GET", "POST"), phase="cold"))


# Handshakes.


@kind("a new connection", CONNECTING, "cold requests against warm ones")
def _new(d: Drawing) -> Pair:
    made = d.scene(ms=d.between(30, 150), size="1kB", phase="cold")
    return Pair(made, made.but(phase="warm", cold=True))


@kind("an answer that ends its connection", CONNECTING, "each request connects first", protocols=("h1",), loads=(1, 4))
def _ends(d: Drawing) -> Pair:
    return d.by_server("--close", ms=d.between(10, 100), size=d.of("1kB", "5kB"))


@kind("TLS 1.2", CONNECTING, "a handshake of one more round trip", protocols=TCP, clients=("go",), loads=(1,))
def _old_tls(d: Drawing) -> Pair:
    without = d.scene(ms=d.between(20, 150), size="1kB", phase="cold")
    return Pair(without.but(tls="1.2"), without)


@kind("a HelloRetryRequest", CONNECTING, "the client must send another key", clients=(ASK,), loads=(1,))
def _hello_retry(d: Drawing) -> Pair:
    return d.by_server("--p256", ms=d.between(20, 150), size="1kB", phase="cold")


@kind("a Retry", Truth({"retry"}), "the client must prove its address first", protocols=QUIC, loads=(1,))
def _retry(d: Drawing) -> Pair:
    return d.by_server("--retry", ms=d.between(20, 150), size="1kB", phase="cold")


@kind(
    "early data that the server refuses",
    CONNECTING,
    "the request is sent again after the handshake",
    protocols=QUIC,
    clients=("go", "load"),
    loads=(1,),
)
def _no_early_data(d: Drawing) -> Pair:
    return d.by_server("--no-early-data", ms=d.between(20, 150), size="1kB", phase="cold", sessions="early")


@kind(
    "a long certificate chain over QUIC", CHAIN, "three times what the client sent, until it is heard", protocols=QUIC
)
def _chain(d: Drawing) -> Pair:
    without = d.scene(ms=d.between(20, 150), size="1kB", phase="cold")
    return Pair(without.but(certificate=d.of("7kB", "8kB", "10kB")), without)


@kind("a long certificate chain over TCP", Truth({"connecting", "slow-start"}), "it does not fit the initial window",
      protocols=TCP)  # fmt: skip
def _chain_tcp(d: Drawing) -> Pair:
    without = d.scene(ms=d.between(20, 150), size="1kB", initial_window=4, phase="cold")
    return Pair(without.but(certificate=d.of("8kB", "12kB")), without)


@kind("blocked UDP", Truth({"blocked"}), "the client waits 250 ms for HTTP/3 first", protocols=TCP, clients=(FALLBACK,),
      loads=(1, 4))  # fmt: skip
def _blocked(d: Drawing) -> Pair:
    over = network(ms=d.between(10, 40), mbit=100, udp="drop", up={"udp": "drop"})
    return Pair(d.scene(over=over, size="10kB", phase="cold", connections="per-user"))


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


@kind("a short queue", LOSS, "what does not fit is lost", loads=(1, 4))
def _short_queue(d: Drawing) -> Pair:
    return _link(d, d.of("500kB", "1MB"), {"queue": Queue(packets=d.of(8, 10, 15))}, ms=d.between(30, 80), requests=2)


@kind("policed UDP", LOSS, "what is more than the limit is dropped", protocols=QUIC, loads=(1, 4))
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


def named(names: Collection[str]) -> list[Kind]:
    """Those whose names have one of these words in them; all, for none."""
    return [one for one in KINDS if not names or any(name in one.name for name in names)]
