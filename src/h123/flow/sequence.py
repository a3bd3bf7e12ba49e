"""Computes sequence plots: how much each connection's sender had sent at each time, and which packets were lost or sent
again."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from h123.causes import Connection, Sending, Times, lost_packets
from h123.packets.capture import DOWN, TCP


@dataclass(frozen=True)
class SentSoFar:
    """How much one end of a connection had sent at each time. TCP's sequence numbers count from the first one seen.
    QUIC's are encrypted, so the sum of the payload of all earlier datagrams replaces them."""

    quic: bool
    at: Times
    """When each packet with content reached the link."""
    ends: Times
    """Bytes up to the end of each packet."""
    losses: Times
    """The indices of the lost packets."""
    again: Times
    """The indices of TCP packets that begin below earlier data. QUIC does not reveal this."""


def sequences(connections: Sequence[Connection], way: int) -> list[SentSoFar]:
    """Return what one end of each connection sent, beginning with the connection that carried most. Connections on
    which the end sent nothing are left out."""
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
    """Return TCP's sequence numbers, counted from 0 at the lowest. They start anywhere and wrap around at 2^32."""
    steps = (np.diff(numbers) + 2**31) % 2**32 - 2**31
    far: Times = np.concatenate([[0], np.cumsum(steps)])
    above: Times = far - far.min()
    return above
