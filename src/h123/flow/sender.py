"""Computes what the sender on a connection could know: its round trips and its bytes in flight. Bytes are in flight if
they were sent, are not known to have arrived, and have not been sent again. The rules are the same for TCP and QUIC."""

from collections.abc import Sequence

import numpy as np

from h123.causes import NEVER, Connection, Times, lost_packets, resent
from h123.flow.bins import Bins, Numbers, Series
from h123.packets.capture import DOWN


def bytes_in_flight(connections: Sequence[Connection], way: int, bins: Bins) -> Numbers:
    """Return the largest number of bytes in flight in each bin, over all connections. Only the TCP or UDP payload sent
    in the direction `way` counts.

    A packet is in flight from when it reached the link. If it arrived, it is in flight until the sender received a
    packet that the other end sent after that. If it was lost, it is in flight until its content was sent again.
    """
    changes = [_changes(connection, way) for connection in connections]
    if not changes:
        return np.zeros(bins.count)
    times, amounts = (np.concatenate(part) for part in zip(*changes, strict=True))
    return bins.highest(times, amounts)


def _changes(connection: Connection, way: int) -> tuple[Times, Times]:
    """Return when, and by how much, the bytes in flight change."""
    sending, answers = (connection.up, connection.down)[:: -1 if way == DOWN else 1]
    ends = np.where(sending.arrived, answers.receipts(sending.delivered_at), sending.at)
    ends[lost_packets(sending)] = resent(sending, answers, connection.round_trip_ns)
    counts = sending.speaks & (ends > sending.at)
    sizes = sending.packets["payload"].astype(np.int64)[counts]
    finite = ends[counts] < NEVER
    return np.concatenate([sending.at[counts], ends[counts][finite]]), np.concatenate([sizes, -sizes[finite]])


def round_trips(connections: Sequence[Connection], way: int) -> Series:
    """Return the round trip, in ns, of each delivered packet with content in one direction. It lasts from when the
    packet reached the link until the sender received a packet that the other end sent after the packet had arrived. So
    it includes the delay of a delayed acknowledgement."""
    series_of_each = [_of(connection, way) for connection in connections]
    times = np.concatenate([np.empty(0, np.int64), *(series.times for series in series_of_each)])
    return Series(times, np.concatenate([np.empty(0), *(series.values for series in series_of_each)]))


def _of(connection: Connection, way: int) -> Series:
    sending, answers = (connection.up, connection.down)[:: -1 if way == DOWN else 1]
    places = np.flatnonzero(sending.speaks & sending.arrived)
    answer_times = answers.receipts(sending.delivered_at[places])
    has_answer = answer_times < NEVER
    times = sending.at[places][has_answer]
    return Series(times, (answer_times[has_answer] - times).astype(float))
