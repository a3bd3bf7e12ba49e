"""Computes sequence plots: how much each connection's sender had sent at each time, and which packets were lost or sent
again."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from h123.causes import Connection, Sending, Times, lost_packets
from h123.packets.capture import DOWN, TCP


@dataclass(frozen=True)
class SentSoFar:
    """How much one end of a connection had sent at each time. TCP's sequence numbers count from the lowest. QUIC's
    offsets are encrypted, so the total payload of all earlier datagrams replaces them."""

    quic: bool
    at: Times
    """When each packet with content reached the link."""
    ends: Times
    """For each packet in `at`, the bytes up to its end."""
    losses: Times
    """The indices of the lost packets in `at`."""
    again: Times
    """The indices of the TCP packets in `at` that begin before the end of earlier data. Empty for QUIC, which does not
    reveal this."""


def sequences(connections: Sequence[Connection], way: int) -> list[SentSoFar]:
    """Return what one end of each connection sent, beginning with the connection on which it sent the most bytes.
    Connections on which the end sent nothing are left out."""
    sides = [connection.down if way == DOWN else connection.up for connection in connections]
    all_ends = [_of(side) for side in sides if side.speaks.any()]
    return sorted(all_ends, key=lambda end: -int(end.ends.max()))


def _of(sending: Sending) -> SentSoFar:
    places = np.flatnonzero(sending.speaks)
    packets = sending.packets[places]
    sizes = packets["payload"].astype(np.int64)
    quic = bool(packets["protocol"][0] != TCP)
    begins = np.cumsum(sizes) - sizes if quic else _unwrapped(packets["seq"].astype(np.int64))
    ends = begins + sizes
    before = np.concatenate([[0], np.maximum.accumulate(ends)[:-1]])
    again = np.empty(0, np.int64) if quic else np.flatnonzero(begins < before)
    return SentSoFar(quic, sending.at[places], ends, np.flatnonzero(np.isin(places, lost_packets(sending))), again)


def _unwrapped(numbers: Times) -> Times:
    """Return TCP's sequence numbers relative to the lowest. The original numbers can start anywhere, and wrap around at
    2^32."""
    steps = (np.diff(numbers) + 2**31) % 2**32 - 2**31
    far: Times = np.concatenate([[0], np.cumsum(steps)])
    above: Times = far - far.min()
    return above
