"""Causes by limits: windows and buffers that do not grow, and places on a connection."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from causes.drawing import CONNECTING, CURL, LIMIT, MANY, PLACE, SAY_BLOCKED, TCP, Drawing, Pair, Truth, kind
from causes.scene import ASK

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
