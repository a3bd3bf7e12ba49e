"""Does a cold request take what round trips and serialization add up to? About 3 minutes for five servers.

    PYTHONPATH=src .venv/bin/python bench/arithmetic.py [SERVER,SERVER] [FOLDER]

Runs cold downloads of 1 kB, 100 kB and 1 MB over HTTP/2 and HTTP/3 under the virtual clock, where processing takes no
time, with `transport: matched` (both begin with 10 packets, payloads have up to 1448 bytes, and nobody paces who can be
told not to), over a link of 15 ms each way and 20 Mbit/s that loses nothing. Beside each stands what this says:

- a TCP and a TLS handshake take a round trip each, QUIC's takes one, the request another;
- a packet leaves the link when the one before it has left and its bits have passed;
- each packet acknowledged lets two follow (slow start), as long as the body lasts; a server that does not take an
  initial window begins with as many as `h123 verify` has counted (docs/verified), and one that is known to keep no more
  than a buffer under way keeps to that.

How many packets a body takes, and of which size, is counted on the link. The arithmetic knows no pacing, no delayed
acknowledgements and no end of slow start: where a stack has them, it takes longer than this, and the table says by how
much. Ends with status 1 where that is more than 2 %. The campaign stays in FOLDER (a
temporary one by default).
"""

import json
import math
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from h123.catalogue import catalogue
from h123.study import handshake_round_trips
from h123.study.round_trips import ACKNOWLEDGEMENT_BYTES, Straight, download_s
from h123.verification import public_records

LINK = Straight(round_trip_s=0.03, rate_bps=20_000_000)
WINDOW, TOLERATED = 10, 0.02
SIZES = {"1kB": 1_000, "100kB": 100_000, "1MB": 1_000_000}
GREETING = {"h2": 1_800, "h3": 4_100}
"""Bytes of a handshake, both ways together, that nothing else waits behind."""
HEADERS = 60
"""Bytes around a small body."""
BUFFER = {("nginx", "h3"): 65_536}
"""Bytes of a body that a server keeps under way at most (nginx's `http3_stream_buffer_size`)."""
Place = tuple[str, str, str]
"""Server, size, protocol."""
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
settings:
  {client: go, network: ./straight.yaml, users: 1, requests: 1, congestion: default, clock: virtual, transport: matched}
compare:
  factor: protocol
  pairs: [h3/h2]
  twin: h2
  families: [{name: cold, correction: bh, metrics: [cold_latency]}]
blocks: 1
"""


def main(arguments: list[str]) -> int:
    servers = arguments[0] if arguments else "go,quinn,quiche,netty,nginx"
    folder = Path(arguments[1] if arguments[1:] else tempfile.mkdtemp(prefix="h123-arithmetic-"))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "straight.yaml").write_text(NETWORK)
    (folder / "arithmetic.yaml").write_text(STUDY.replace("SERVERS", servers))
    run = [sys.executable, "-m", "h123", "run", str(folder / "arithmetic.yaml"), "--out", str(folder / "campaign")]
    subprocess.run(run, check=True, stdout=subprocess.DEVNULL)
    seconds, bodies = _measured(folder / "campaign"), _bodies(folder / "campaign")
    print(f"{'server':10} {'size':6} {'':3} {'packets':>7} {'measured':>10} {'arithmetic':>10} {'off':>7}")
    within = True
    for place in sorted(seconds, key=lambda place: (place[0], SIZES[place[1]], place[2])):
        server, size, protocol = place
        measured, body = seconds[place], bodies[place]
        expected = cold_seconds(server, protocol, body)
        off = measured / expected - 1
        within &= abs(off) <= TOLERATED
        times = f"{1e3 * measured:7.1f} ms {1e3 * expected:7.1f} ms {100 * off:+6.1f} %"
        print(f"{server:10} {size:6} {protocol:3} {body.packets:7} {times}")
    print(f"campaign in {folder}")
    return 0 if within else 1


@dataclass(frozen=True)
class Body:
    """What a body is over the link."""

    packets: int
    bytes: float
    """Of a packet, on average, with all headers."""
    content: float
    """Of them, of the body."""


def first_window(server: str, protocol: str) -> int:
    """Packets that the server begins with."""
    if protocol == "h2" or protocol in catalogue()[server].features.initial_window:
        return WINDOW
    counted = public_records()[server].record.constants or []
    (flight,) = (one.first_flight for one in counted if (one.role, one.protocol) == ("server", protocol))
    assert flight is not None
    return flight.packets


def cold_seconds(server: str, protocol: str, body: Body) -> float:
    """From before the dial to the last byte of the body."""
    greeting = handshake_round_trips(protocol) * LINK.round_trip_s + LINK.bits_s(GREETING[protocol])
    most = math.floor(min(BUFFER.get((server, protocol), math.inf) / body.content, body.packets))
    download = download_s(body.packets, body.bytes, first_window(server, protocol), LINK, most)
    # The request's way is half a round trip; the other half is the first packet's.
    return greeting + LINK.round_trip_s / 2 + LINK.bits_s(ACKNOWLEDGEMENT_BYTES) + download


def _trials(campaign: Path) -> Iterator[tuple[Place, Path]]:
    """Each valid attempt by its place, and its folder."""
    for line in (campaign / "journal.jsonl").read_text().splitlines():
        event = json.loads(line)
        if event["event"] == "trial" and event["valid"]:
            cell = event["cell"]
            yield (
                (cell["server"], cell["size"], cell["protocol"]),
                campaign / f"trials/{event['trial']}~{event['attempt']}",
            )


def _measured(campaign: Path) -> dict[Place, float]:
    """Median time of the cold request."""
    found = defaultdict(list)
    for value in json.loads((campaign / "verdicts.json").read_text())["values"]:
        cell, seconds = value["cell"], value["metrics"]["cold_latency"]
        found[cell["server"], cell["size"], cell["protocol"]].append(seconds)
    return {place: statistics.median(times) for place, times in found.items()}


def _bodies(campaign: Path) -> dict[Place, Body]:
    """Of each trial's two downloads, a cold and a warm one; the rest of its packets are those of a trial of 1 kB."""
    down = {
        place: json.loads((folder / "report.json").read_text())["links"][0]["directions"]["down"]
        for place, folder in _trials(campaign)
    }
    found = {}
    for (server, size, protocol), counted in down.items():
        least = down[server, "1kB", protocol]
        more, more_bytes = (counted[name] - least[name] for name in ("packets_in", "bytes_in"))
        packets = 1 + round(more / 2)
        whole = SIZES["1kB"] + HEADERS + more_bytes / 2
        found[server, size, protocol] = Body(packets, whole / packets, SIZES[size] / packets)
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
