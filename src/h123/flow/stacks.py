"""Computes series from the endpoints' own stacks: congestion window and smoothed round trip, from the kernel's record
of TCP and the logs of QUIC stacks."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from h123.flow.bins import Bins, Numbers, Series
from h123.packets.stack_log import StackLog
from h123.packets.tcp_account import Account

_LISTENS = 10
"""TCP's state LISTEN (linux/tcp_states.h)."""


def sender_window(account: Account, host: str) -> Series:
    """Return the total congestion window, in bytes, of a host's connections at each sample."""
    rows = _of(account, host)
    times, place = np.unique(account["at_ns"][rows], return_inverse=True)
    each = account["cwnd"][rows].astype(float) * account["snd_mss"][rows]
    return Series(times, np.bincount(place, each, len(times)).astype(float))


def smoothed_round_trip(account: Account, host: str) -> Series:
    """Return TCP's smoothed round trip at each sample, in ns. If there are several connections, the value is the median
    over them."""
    rows = _of(account, host)
    rows = rows[account["rtt_ns"][rows] > 0]
    times, firsts = np.unique(account["at_ns"][rows], return_index=True)
    groups = np.split(account["rtt_ns"][rows].astype(float), firsts[1:])
    return Series(times, np.array([np.median(group) for group in groups if len(group)], float))


def _of(account: Account, host: str) -> NDArray[np.intp]:
    """Return the rows of the host's connections, in chronological order."""
    rows = np.flatnonzero((account["host"] == host) & (account["state"] != _LISTENS))
    return rows[np.argsort(account["at_ns"][rows], kind="stable")]


def logged_window(logs: Sequence[StackLog], bins: Bins) -> Series:
    """Return the largest total congestion window, in bytes, of all connections in each bin, from the first known value
    to the end of the logs."""
    none = np.empty(0)
    parts = zip((none, none), *(_changes(log) for log in logs), strict=True)
    times, amounts = (np.concatenate(part) for part in parts)
    if not len(times):
        return Series(np.empty(0, np.int64), np.empty(0))
    covered = (bins.begins + bins.width > times.min()) & (bins.begins <= times.max())
    return Series(bins.begins[covered], bins.highest(times, amounts)[covered])


def logged_round_trip(logs: Sequence[StackLog], bins: Bins) -> Series:
    """Return the median smoothed round trip, in ns, in each bin that has one."""
    times = np.concatenate([np.empty(0, np.int64), *(log.at for log in logs)])
    values = np.concatenate([np.empty(0), *(log.round_trip for log in logs)])
    valid = ~np.isnan(values)
    medians = bins.medians(times[valid], values[valid])
    has_value = ~np.isnan(medians)
    return Series(bins.begins[has_value], medians[has_value])


def _changes(log: StackLog) -> tuple[Numbers, Numbers]:
    """Return when, and by how much, the window changes. At the end of the log, it becomes 0."""
    valid = ~np.isnan(log.window)
    if not valid.any():
        return np.empty(0), np.empty(0)
    at = log.at[valid]
    return np.append(at, max(at[-1], log.sendings[-1]) + 1), np.diff(np.concatenate([[0.0], log.window[valid], [0.0]]))
