"""Recognises the kind of a handshake without relying on the client's report. In a full handshake the server sends its
certificate, which compresses poorly; in a resumed session it sends none."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from h123.packets.capture import DOWN, TCP, UP, read_packets

SENT = "transport:packet_sent"
RECEIVED = "transport:packet_received"
"""The name of the qlog event for a received packet."""
_FLIGHT_NS = 20_000_000
"""The time in ns within which a server has sent its first flight. It is shorter than the link's round trip."""


class Handshake(NamedTuple):
    """The handshake of one connection."""

    resumed: bool
    early: bool = False
    """Whether the server accepted early data. It logs no early data that it cannot decrypt."""
    fast_open: bool = False
    """Whether the client's first packet contained TLS data."""


def tcp_handshakes(folder: Path, certificate_bytes: int) -> list[Handshake]:
    """Return the handshakes of a trial over TCP, from the packets of its link."""
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
    """Return the handshake of a connection, from the server's log."""
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
