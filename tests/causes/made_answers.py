"""Causes that servers make: time before an answer, and answers that come piece by piece."""

from typing import Any

from causes.drawing import MANY, SERVER, STREAMING, Drawing, Pair, kind

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
