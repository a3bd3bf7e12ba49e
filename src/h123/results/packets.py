"""The packets of a link, as the lab recorded them: a trial's packets-LINK.bin (docs/contracts/trial.md)."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from h123.errors import UserError

PACKET = np.dtype(
    [
        ("at_ns", "<u8"),
        ("left_ns", "<u8"),
        ("seq", "<u4"),
        ("ack", "<u4"),
        ("window", "<u2"),
        ("bytes", "<u2"),
        ("payload", "<u2"),
        ("source", "<u2"),
        ("destination", "<u2"),
        ("way", "u1"),
        ("protocol", "u1"),
        ("flags", "u1"),
        ("fate", "u1"),
        ("padding", "<u2"),
    ]
)
UP, DOWN = 0, 1
"""Ways: from the link's end a to b, and back."""
TCP, UDP = 6, 17
DELIVERED, LOST, QUEUE_FULL, BLOCKED = range(4)
"""Fates."""
Packets = NDArray[Any]
"""An array of PACKET, in the order in which they came to the link."""


def read_packets(folder: Path, link: str = "access") -> Packets:
    """What the lab wrote about a link into a trial's folder. Raises UserError where that is not such a file."""
    path = folder / f"packets-{link}.bin"
    if not path.is_file():
        raise UserError(f"there is no {path}: its trial did not ask for a record of packets, or did not begin")
    if (size := path.stat().st_size) % PACKET.itemsize:
        raise UserError(f"{path} is cut off: its {size} bytes are no multiple of {PACKET.itemsize}, a packet's")
    return np.fromfile(path, dtype=PACKET)
