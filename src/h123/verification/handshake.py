"""What a handshake was, as others than the client saw it: a full one has the server send its certificate, which no
compression in use makes smaller than itself; one that resumes a session has none."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from h123.packets.capture import DOWN, TCP, UP, read_packets

SENT = "transport:packet_sent"
RECEIVED = "transport:packet_received"
"""In qlog."""
_FLIGHT_NS = 20_000_000
"""In which a server has sent its first flight: less than the round trip of the link over which it is asked."""


class Handshake(NamedTuple):
    """Of one connection."""

    resumed: bool
    early: bool = False
    """Whether the server took early data: what it cannot decrypt it does not log."""
    fast_open: bool = False
    """Whether the client's first packet had something of TLS in it."""


def tcp_handshakes(folder: Path, certificate_bytes: int) -> list[Handshake]:
    """Of a trial over TCP, by the record of its link."""
    packets = read_packets(folder)
    packets = packets[packets["protocol"] == TCP]
    up, down = packets[packets["way"] == UP], packets[(packets["way"] == DOWN) & (packets["payload"] > 0)]
    handshakes = []
    for port in np.unique(down["destination"]):
        of = down[down["destination"] == port]
        flight = of[of["at_ns"] < of["at_ns"].min() + _FLIGHT_NS]
        resumed = int(flight["payload"].sum(dtype=np.int64)) < certificate_bytes
        handshakes.append(Handshake(resumed, fast_open=bool(up[up["source"] == port]["payload"][0] > 0)))
    return handshakes


def quic_handshake(log: Iterable[Any], certificate_bytes: int) -> Handshake:
    """Of a connection's log by the server."""
    ends, early = [0], False
    for event in log:
        if event.get("name") not in (SENT, RECEIVED):
            continue
        kind = event["data"]["header"]["packet_type"]
        for frame in event["data"].get("frames", ()):
            if event["name"] == SENT and kind == "handshake" and frame["frame_type"] == "crypto":
                ends.append(frame["offset"] + frame["length"])
            early |= event["name"] == RECEIVED and kind == "0RTT" and frame["frame_type"] == "stream"
    return Handshake(max(ends) < certificate_bytes, early)
