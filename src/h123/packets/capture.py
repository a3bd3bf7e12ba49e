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
packet, plus 8 times the ECN field when the packet left (0 if it never did)."""
UP, DOWN = 0, 1
"""The directions: from the link's end a to its end b, and back."""
TCP, UDP = 6, 17
DELIVERED, LOST, QUEUE_FULL, BLOCKED, POLICED, TOO_LARGE, THINNED = range(7)
"""The fates of a packet."""
QUEUED = (DELIVERED, LOST)
"""The fates of packets that passed the link's bottleneck."""
MARKED = 4
"""In `ecn`: the link's queue set Congestion Experienced."""
CE, LEFT = 3, 3
"""The value of the ECN field that means Congestion Experienced, and the number of bits by which `ecn` shifts the field
on leaving."""
MOST_IN_CAMPAIGN = 250_000
"""The largest number of packets per link that a campaign's trial records. They take 12 MB of the lab's memory, and at
most 5 MB on disk."""
MOST = 4_000_000
"""The largest number of packets per link that the lab can record."""
Packets = Records
"""An array of PACKET, in the order of arrival at the link."""
RETRY = 0xF0
"""The bits in a datagram's first byte that mark QUIC's Retry: header form, fixed bit and packet type. They are not
encrypted (RFC 9000, 17.2.5)."""
_PACKETS = LinkRecords("packets", PACKET, PACKET.names or (), later={"ecn"})
packets_file, read_packets, tabulate_packets, write_packets = (
    _PACKETS.file,
    _PACKETS.read,
    _PACKETS.tabulate,
    _PACKETS.write,
)
