"""Bytes that a sender has under way: sent, and neither known to have arrived nor sent again."""

from collections.abc import Sequence

import numpy as np

from h123.causes import NEVER, Connection, Times, lost, resent
from h123.flow.bins import Bins, Numbers
from h123.packets.capture import DOWN


def bytes_in_flight(connections: Sequence[Connection], way: int, bins: Bins) -> Numbers:
    """The most in each bin, of all connections together: payload of TCP, or UDP, that one end sent.

    A packet counts from when it came to the link. One that arrived, until the sender got the first packet that the
    other end sent after it; one that was lost, until what replaces it was sent.
    """
    changes = [_changes(connection, way) for connection in connections]
    if not changes:
        return np.zeros(bins.count)
    times, amounts = (np.concatenate(part) for part in zip(*changes, strict=True))
    return bins.highest(times, amounts)


def _changes(connection: Connection, way: int) -> tuple[Times, Times]:
    """Times, and by how much the bytes under way change then."""
    sending, answers = (connection.up, connection.down)[:: -1 if way == DOWN else 1]
    ends = np.where(sending.arrived, answers.heard(sending.left), sending.at)
    ends[lost(sending)] = resent(sending, answers, connection.round_trip_ns)
    counts = sending.speaks & (ends > sending.at)
    sizes = sending.packets["payload"].astype(np.int64)[counts]
    known = ends[counts] < NEVER
    return np.concatenate([sending.at[counts], ends[counts][known]]), np.concatenate([sizes, -sizes[known]])
