"""TCP's own account of a host's connections as series: its window, its round trip."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from h123.flow.bins import Series

_LISTENS = 10
"""linux/tcp_states.h"""


def sender_window(account: pa.Table, host: str) -> Series:
    """Bytes that the congestion windows of all connections of a host have together, at each look."""
    rows = _of(account, host)
    times, place = np.unique(rows["at_ns"].to_numpy(), return_inverse=True)
    each = rows["cwnd"].to_numpy().astype(float) * rows["snd_mss"].to_numpy()
    return Series(times, np.bincount(place, each, len(times)).astype(float))


def smoothed_round_trip(account: pa.Table, host: str) -> Series:
    """ns: TCP's smoothed round trip at each look; of several connections the median."""
    rows = _of(account, host)
    rows = rows.filter(pc.greater(rows["rtt_ns"], 0))
    times, firsts = np.unique(rows["at_ns"].to_numpy(), return_index=True)
    groups = np.split(rows["rtt_ns"].to_numpy().astype(float), firsts[1:])
    return Series(times, np.array([np.median(group) for group in groups if len(group)], float))


def _of(account: pa.Table, host: str) -> pa.Table:
    """Its connections' rows, in the order of time."""
    mine = pc.and_(pc.equal(account["host"], host), pc.not_equal(account["state"], _LISTENS))
    return account.filter(mine).sort_by("at_ns")
