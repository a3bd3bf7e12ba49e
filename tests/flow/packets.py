"""Made packets of one connection."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from h123.packets.capture import DELIVERED, DOWN, PACKET, TCP, UP, Packets

MS = 1_000_000
CLIENT, SERVER = 50_000, 443


def packet(way: int, at_ms: float, left_ms: float | None = None, **fields: Any) -> dict[str, Any]:
    """One that is delivered 10 ms later, if nothing else is said."""
    left = at_ms + 10 if left_ms is None else left_ms
    ports = (SERVER, CLIENT) if way == DOWN else (CLIENT, SERVER)
    told = {"payload": 0, "protocol": TCP, "fate": DELIVERED} | fields
    told.setdefault("bytes", told["payload"] + 40)
    times = {"at_ns": round(at_ms * MS), "left_ns": round(left * MS) if told["fate"] == DELIVERED else 0}
    return told | times | {"way": way, "source": ports[0], "destination": ports[1]}


def up(at_ms: float, **fields: Any) -> dict[str, Any]:
    return packet(UP, at_ms, **fields)


def down(at_ms: float, **fields: Any) -> dict[str, Any]:
    return packet(DOWN, at_ms, **fields)


def made(rows: Sequence[dict[str, Any]]) -> Packets:
    """In the order in which they came to the link."""
    packets = np.zeros(len(rows), PACKET)
    for place, row in enumerate(sorted(rows, key=lambda row: row["at_ns"])):
        for name, value in row.items():
            packets[name][place] = value
    return packets
