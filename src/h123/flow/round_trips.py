"""Round trips as one end of a connection could see them, by the same rule for TCP and QUIC."""

from collections.abc import Sequence

import numpy as np

from h123.causes import NEVER, Connection
from h123.flow.bins import Series
from h123.packets.capture import DOWN


def round_trips(connections: Sequence[Connection], way: int) -> Series:
    """Of each packet of one way that said something and arrived: from when it came to the link until its sender got
    the first packet that the other end sent afterwards. Acknowledgements that wait are part of it."""
    found = [_of(connection, way) for connection in connections]
    times = np.concatenate([np.empty(0, np.int64), *(series.times for series in found)])
    return Series(times, np.concatenate([np.empty(0), *(series.values for series in found)]))


def _of(connection: Connection, way: int) -> Series:
    sending, answers = (connection.up, connection.down)[:: -1 if way == DOWN else 1]
    asked = np.flatnonzero(sending.speaks & sending.arrived)
    heard = answers.heard(sending.left[asked])
    answered = heard < NEVER
    times = sending.at[asked][answered]
    return Series(times, (heard[answered] - times).astype(float))
