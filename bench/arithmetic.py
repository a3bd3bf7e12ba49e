"""Checks whether a cold request takes as long as its round trips and serialization. Takes about 3 minutes for five
servers.

    PYTHONPATH=src .venv/bin/python bench/arithmetic.py [SERVER,SERVER] [FOLDER]

Runs cold downloads of 1 kB, 100 kB and 1 MB over HTTP/2 and HTTP/3 under the virtual clock, where processing takes no
time. The link has a delay of 15 ms in each direction and 20 Mbit/s, and loses nothing. With `transport: matched`, both
protocols begin with 10 packets, payloads have up to 1448 bytes, and pacing is off wherever a server can turn it off.

The table compares the measured times with this arithmetic:

- a TCP handshake and a TLS handshake take a round trip each, a QUIC handshake takes one, and the request takes one;
- a packet leaves the link once the previous packet has left and its own bits have passed;
- each acknowledged packet lets two follow (slow start), as long as the body lasts; a server whose initial window
  cannot be set begins with as many packets as `h123 verify` counted (docs/verified); a server that is known to send
  no more than a buffer at a time keeps to that.

The number and size of a body's packets are counted on the link. The arithmetic leaves out pacing, delayed
acknowledgements and the end of slow start. A stack that has them takes longer, and the table shows by how much. The
exit status is 1 if a difference exceeds 2 %. The campaign stays in FOLDER (by default a temporary one).
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
    """The packets of a body on the link."""

    packets: int
    bytes: float
    """The mean bytes of a packet, with all headers."""
    content: float
    """The mean bytes of the body in a packet."""


def first_window(server: str, protocol: str) -> int:
    """Return the number of packets that the server begins with."""
    if protocol == "h2" or protocol in catalogue()[server].features.initial_window:
        return WINDOW
    counted = public_records()[server].record.constants or []
    (flight,) = (one.first_flight for one in counted if (one.role, one.protocol) == ("server", protocol))
    assert flight is not None
    return flight.packets


def cold_seconds(server: str, protocol: str, body: Body) -> float:
    """Return the seconds from before the dial to the last byte of the body, according to the arithmetic."""
    greeting = handshake_round_trips(protocol) * LINK.round_trip_s + LINK.bits_s(GREETING[protocol])
    most = math.floor(min(BUFFER.get((server, protocol), math.inf) / body.content, body.packets))
    download = download_s(body.packets, body.bytes, first_window(server, protocol), LINK, most)
    # The request's way is half a round trip; the other half is the first packet's.
    return greeting + LINK.round_trip_s / 2 + LINK.bits_s(ACKNOWLEDGEMENT_BYTES) + download


def _trials(campaign: Path) -> Iterator[tuple[Place, Path]]:
    """Yield the place and the folder of each valid attempt."""
    for line in (campaign / "journal.jsonl").read_text().splitlines():
        event = json.loads(line)
        if event["event"] == "trial" and event["valid"]:
            cell = event["cell"]
            yield (
                (cell["server"], cell["size"], cell["protocol"]),
                campaign / f"trials/{event['trial']}~{event['attempt']}",
            )


def _measured(campaign: Path) -> dict[Place, float]:
    """Return the median time of the cold request in each place."""
    found = defaultdict(list)
    for value in json.loads((campaign / "verdicts.json").read_text())["values"]:
        cell, seconds = value["cell"], value["metrics"]["cold_latency"]
        found[cell["server"], cell["size"], cell["protocol"]].append(seconds)
    return {place: statistics.median(times) for place, times in found.items()}


def _bodies(campaign: Path) -> dict[Place, Body]:
    """Return the packets of one download in each place. Each trial has two downloads, a cold and a warm one. Its other
    packets are as many as those of a trial of 1 kB."""
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
