"""Recognises handshakes without relying on the client's report. In a full one the server sends its certificate, which
no compression in use makes smaller than itself; one that resumes a session has none."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from h123.packets.capture import DOWN, TCP, UP, read_packets

SENT = "transport:packet_sent"
RECEIVED = "transport:packet_received"
"""The name of the event for a received packet in qlog."""
_FLIGHT_NS = 20_000_000
"""The time in which a server has sent its first flight, ns: less than the link's round trip."""


class Handshake(NamedTuple):
    """The handshake of one connection."""

    resumed: bool
    early: bool = False
    """Whether the server accepted early data. It does not log what it cannot decrypt."""
    fast_open: bool = False
    """Whether the client's first packet contained TLS data."""


def tcp_handshakes(folder: Path, certificate_bytes: int) -> list[Handshake]:
    """The handshakes in a trial over TCP, from its link's record."""
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
    """The handshake of a connection, from the server's log."""
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
