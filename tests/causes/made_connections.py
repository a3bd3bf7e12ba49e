"""Causes that connections make: how TCP sends, and handshakes."""

from dataclasses import replace

from causes.drawing import CHAIN, CONNECTING, NAGLE, QUIC, SLOW_START, SMALL, TCP, Drawing, Pair, Truth, kind
from causes.scene import ASK, FALLBACK, network

# How TCP sends.


@kind("Nagle against delayed acknowledgements", NAGLE, "the second write waits until the first is acknowledged",
      protocols=TCP, loads=(1, 4))  # fmt: skip
def _nagle(d: Drawing) -> Pair:
    writes = "--head-first", "--piece", "1000000"
    scene = {"ms": d.between(2, 20), "size": d.of("200B", "800B"), "requests": 24, "connections": "per-user"}
    return d.by_server("--nagle", *writes, less=writes, **scene)


@kind("Nagle behind full segments", NAGLE, "the end of a body waits until its head is acknowledged",
      protocols=TCP, loads=(1, 4))  # fmt: skip
def _nagle_behind_full(d: Drawing) -> Pair:
    writes = "--head-first", "--piece", "1000000"
    scene = {"ms": d.between(10, 40), "size": d.of("6kB", "11kB", "20kB"), "requests": 24, "connections": "per-user"}
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
