"""What a server's QUIC stack logs of its connections as series, as TCP's account is: its window, its round trip."""

from collections.abc import Sequence

import numpy as np

from h123.flow.bins import Bins, Numbers, Series
from h123.packets.stack_log import StackLog


def logged_window(logs: Sequence[StackLog], bins: Bins) -> Series:
    """Bytes that the congestion windows of all connections have together: the most in each bin, from the first that is
    told to the last."""
    none = np.empty(0)
    parts = zip((none, none), *(_changes(log) for log in logs), strict=True)
    times, amounts = (np.concatenate(part) for part in parts)
    if not len(times):
        return Series(np.empty(0, np.int64), np.empty(0))
    told = (bins.begins + bins.width > times.min()) & (bins.begins <= times.max())
    return Series(bins.begins[told], bins.highest(times, amounts)[told])


def logged_round_trip(logs: Sequence[StackLog], bins: Bins) -> Series:
    """ns: the smoothed round trips' median in each bin that has one."""
    times = np.concatenate([np.empty(0, np.int64), *(log.at for log in logs)])
    values = np.concatenate([np.empty(0), *(log.round_trip for log in logs)])
    told = ~np.isnan(values)
    medians = bins.medians(times[told], values[told])
    known = ~np.isnan(medians)
    return Series(bins.begins[known], medians[known])


def _changes(log: StackLog) -> tuple[Numbers, Numbers]:
    """Times, and by how much the window changes then; when the log ends it is nobody's."""
    told = ~np.isnan(log.window)
    if not told.any():
        return np.empty(0), np.empty(0)
    at = log.at[told]
    return np.append(at, max(at[-1], log.sent[-1]) + 1), np.diff(np.concatenate([[0.0], log.window[told], [0.0]]))
