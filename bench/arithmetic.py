"""Does a cold request take what round trips and serialization add up to? About 3 minutes.

    PYTHONPATH=src .venv/bin/python bench/arithmetic.py [SERVER,SERVER] [FOLDER]

Runs cold downloads of 1 kB, 100 kB and 1 MB over HTTP/2 and HTTP/3 under the virtual clock, where processing takes no
time, with `transport: matched` (both begin with 10 packets), over a link of 15 ms each way and 20 Mbit/s that loses
nothing. Beside each stands what this arithmetic says:

- a TCP and a TLS handshake take a round trip each, QUIC's takes one, the request another;
- a packet leaves the link when the one before it has left and its bits have passed;
- each packet acknowledged lets two follow (slow start), as long as the body lasts.

It knows no pacing, no delayed acknowledgements and no end of slow start: where a stack has them, it takes longer than
this, and the table says by how much. Ends with status 1 where that is more than 2 %. The campaign stays in FOLDER (a
temporary one by default).
"""

import heapq
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROUND_TRIP_S, RATE_BPS, WINDOW, TOLERATED = 0.03, 20_000_000, 10, 0.02
SIZES = {"1kB": 1_000, "100kB": 100_000, "1MB": 1_000_000}
HANDSHAKES = {"h2": 2, "h3": 1}
"""In round trips."""
PACKET = {"h2": (1500, 1448 - 22), "h3": (1280, 1252 - 30)}
"""Bytes on the link, and how many of them are body: TLS and frames take some."""
GREETING = {"h2": 1_800, "h3": 4_100}
"""Bytes of a handshake, both ways together, that nothing else waits behind."""
ACK = 60
NETWORK = """\
h123: network/1
name: straight
title: 30 ms round trip, 20 Mbit/s, no loss and room for every packet
both: {delay: 15ms, rate: 20Mbit/s, queue: 10MB}
"""
STUDY = """\
h123: study/1
name: arithmetic
question: Does a cold request take what round trips and serialization add up to?
factors:
  protocol: [h2, h3]
  server: [SERVERS]
  size: [1kB, 100kB, 1MB]
settings: {client: go, network: ./straight.yaml, users: 1, requests: 1, clock: virtual, transport: matched}
compare:
  factor: protocol
  pairs: [h3/h2]
  twin: h2
  families: [{name: cold, correction: bh, metrics: [cold_latency]}]
blocks: 3
"""


def main(arguments: list[str]) -> int:
    servers = arguments[0] if arguments else "go,quinn,quiche,netty,caddy"
    folder = Path(arguments[1] if arguments[1:] else tempfile.mkdtemp(prefix="h123-arithmetic-"))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "straight.yaml").write_text(NETWORK)
    (folder / "arithmetic.yaml").write_text(STUDY.replace("SERVERS", servers))
    run = [sys.executable, "-m", "h123", "run", str(folder / "arithmetic.yaml"), "--out", str(folder / "campaign")]
    subprocess.run(run, check=True, stdout=subprocess.DEVNULL)
    measured = _measured(json.loads((folder / "campaign/verdicts.json").read_text())["values"])
    print(f"{'server':10} {'size':6} {'':3} {'measured':>10} {'arithmetic':>10} {'off':>7}")
    within = True
    for (server, size, protocol), seconds in measured.items():
        expected = cold_seconds(protocol, SIZES[size])
        off = seconds / expected - 1
        within &= abs(off) <= TOLERATED
        print(f"{server:10} {size:6} {protocol:3} {1e3 * seconds:7.1f} ms {1e3 * expected:7.1f} ms {100 * off:+6.1f} %")
    print(f"campaign in {folder}")
    return 0 if within else 1


def cold_seconds(protocol: str, body: int) -> float:
    """From before the dial to the last byte of the body."""
    size, carried = PACKET[protocol]
    greeting = HANDSHAKES[protocol] * ROUND_TRIP_S + _bits_s(GREETING[protocol])
    # The request's way is half a round trip; the other half is the first packet's.
    return greeting + ROUND_TRIP_S / 2 + _bits_s(ACK) + _download(-(-body // carried), _bits_s(size))


def _download(packets: int, each_s: float) -> float:
    """From when the request has come until the last packet has."""
    credits = [0.0] * WINDOW  # when the sender may send a packet
    heapq.heapify(credits)
    free = arrived = 0.0
    for _ in range(packets):
        free = max(free, heapq.heappop(credits)) + each_s
        arrived = free + ROUND_TRIP_S / 2
        acknowledged = arrived + _bits_s(ACK) + ROUND_TRIP_S / 2
        heapq.heappush(credits, acknowledged)
        heapq.heappush(credits, acknowledged)
    return arrived


def _bits_s(size: int) -> float:
    return 8 * size / RATE_BPS


def _measured(values: list[dict[str, Any]]) -> dict[tuple[str, str, str], float]:
    found: dict[tuple[str, str, str], list[float]] = {}
    for value in values:
        cell, seconds = value["cell"], value["metrics"]["cold_latency"]
        if seconds is not None:
            found.setdefault((cell["server"], cell["size"], cell["protocol"]), []).append(seconds)
    return {place: statistics.median(times) for place, times in sorted(found.items(), key=_by_size)}


def _by_size(item: tuple[tuple[str, str, str], list[float]]) -> tuple[str, int, str]:
    server, size, protocol = item[0]
    return server, SIZES[size], protocol


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
