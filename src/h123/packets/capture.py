"""Defines the packets of a link, as the lab recorded them: a trial's packets-LINK.parquet (docs/contracts/trial.md)."""

import numpy as np

from h123.packets.link_records import LinkRecords
from h123.store.compact import Records

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
        ("ecn", "u1"),
    ]
)
"""The lab's record of a packet. `left_ns` is 0 if the packet never left the link, and `scale` is 0 if the packet
announced no window scale. `ecn` is the IP header's ECN field on arrival, plus MARKED if the link's queue marked the
packet, plus 8 times the field on leaving (0 if it never left)."""
UP, DOWN = 0, 1
"""The directions: from the link's end a to b, and back."""
TCP, UDP = 6, 17
DELIVERED, LOST, QUEUE_FULL, BLOCKED, POLICED, TOO_LARGE, THINNED = range(7)
"""The fates of a packet."""
QUEUED = (DELIVERED, LOST)
"""The fates of packets that the link's bottleneck sent."""
MARKED = 4
"""In `ecn`: the link's queue set Congestion Experienced."""
CE, LEFT = 3, 3
"""The ECN field Congestion Experienced, and the bits by which `ecn` shifts the field on leaving."""
MOST_IN_CAMPAIGN = 250_000
"""The most packets of a link that a trial of a campaign keeps: 12 MB of the lab's memory, at most 5 MB on the disk."""
MOST = 4_000_000
"""The most packets of a link that the lab can keep."""
Packets = Records
"""An array of PACKET, in the order of arrival at the link."""
RETRY = 0xF0
"""Form, fixed bit and type of QUIC's Retry in a datagram's first byte, which no key protects (RFC 9000, 17.2.5)."""
_PACKETS = LinkRecords("packets", PACKET, PACKET.names or (), later={"ecn"})
packets_file, read_packets, tabulate_packets, write_packets = (
    _PACKETS.file,
    _PACKETS.read,
    _PACKETS.tabulate,
    _PACKETS.write,
)
