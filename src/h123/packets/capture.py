"""The packets of a link, as the lab recorded them: a trial's packets-LINK.parquet (docs/contracts/trial.md)."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from h123.store.compact import Records, read_compact, read_records, schema_of, write_compact

PACKET = np.dtype(
    [
        ("at_ns", "<i8"),
        ("left_ns", "<i8"),
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
        ("scale", "u1"),
        ("padding", "u1"),
    ]
)
"""As the lab writes it. `left_ns` is 0 where the packet never left, `scale` where it announced no window scale."""
COLUMNS = [name for name in PACKET.names or () if name != "padding"]
_SCHEMA = schema_of(PACKET, COLUMNS, "left_ns")
UP, DOWN = 0, 1
"""Ways: from the link's end a to b, and back."""
TCP, UDP = 6, 17
DELIVERED, LOST, QUEUE_FULL, BLOCKED = range(4)
"""Fates."""
KEPT = 250_000
"""Packets of a link that a trial of a campaign keeps: 12 MB of the lab's memory, at most 5 MB on the disk."""
MOST = 4_000_000
"""Packets that the lab keeps of a link, at most."""
Packets = Records
"""An array of PACKET, in the order in which they came to the link."""
RETRY = 0xF0
"""Form, fixed bit and type of QUIC's Retry in a datagram's first byte, which no key protects (RFC 9000, 17.2.5)."""
_SUFFIX = ".parquet"
_ENCODINGS = {
    "at_ns": "DELTA_BINARY_PACKED",
    "left_ns": "DELTA_BINARY_PACKED",
    "seq": "BYTE_STREAM_SPLIT",
    "ack": "BYTE_STREAM_SPLIT",
}
"""Times grow by little. Numbers of both directions take turns, and only their upper bytes are alike."""


def packets_file(folder: Path, link: str = "access") -> Path:
    """Where a trial's folder has it."""
    return folder / f"packets-{link}{_SUFFIX}"


def read_packets(folder: Path, link: str = "access", columns: Sequence[str] = COLUMNS) -> Packets:
    """What the lab told of a link in a trial's folder; what is of no such column is 0. Raises UserError where there is
    no such file."""
    table = read_compact(packets_file(folder, link), "a record of packets", _SCHEMA, columns)
    packets = np.zeros(table.num_rows, PACKET)
    for name in columns:
        packets[name] = table[name].fill_null(0).to_numpy()
    return packets


def tabulate_packets(folder: Path) -> None:
    """Turn what the lab has left in a trial's folder, packets-LINK.bin, into Parquet. What is not the lab's stays as it
    is. Raises OSError."""
    for source in folder.glob("packets-*.bin"):
        if (packets := read_records(source, PACKET)) is not None:
            write_packets(packets, source.with_suffix(_SUFFIX))
            source.unlink()


def write_packets(packets: Packets, target: Path) -> None:
    """Write them as a file that `read_packets` reads. Raises OSError."""
    columns = {name: pa.array(np.ascontiguousarray(packets[name])) for name in COLUMNS}
    left = np.ascontiguousarray(packets["left_ns"])
    columns["left_ns"] = pa.array(left, mask=left == 0)
    write_compact(pa.table(columns), target, _ENCODINGS)
