"""Determines when a sender's congestion window had room, because less was in flight than earlier.

A window shrinks only after a loss, a mark (ECN) or a long silence, so it is at least as large as the most data that was
ever in flight (RFC 9002, 7; RFC 5681, 3.1). TCP counts packets, whatever their size, and Linux begins with ten of them
(RFC 6928).
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from h123.causes.connections.connection import NEVER, Sending
from h123.causes.connections.losses import lost_packets, marked_packets, resent
from h123.causes.spans import Times
from h123.packets.capture import TCP

_ROOM = 0.75
"""The largest share in flight of a window that has room. A single acknowledgement may cover a quarter of the window
before the sender sends again."""
_SILENCE_NS = 200_000_000
"""The time in ns without data after which a sender may start again with its first window (RFC 2861)."""


@dataclass(frozen=True)
class Room:
    sending: Sending
    answers: Sending
    round_trip_ns: int
    first_window: int
    """The number of packets that TCP may send at first."""

    def since(self, share: float = _ROOM) -> Times:
        """Return, for each packet, the first time after it at which the data in flight had fallen to `share` of the
        window. NEVER if this did not happen."""
        enough = self._sent_bytes - share * self._window
        place = np.searchsorted(self._releases[1], enough)
        since: Times = np.maximum(np.append(self._releases[0], NEVER)[place], self.sending.at)
        return since

    @cached_property
    def full(self) -> NDArray[np.bool_]:
        """Whether, with each packet, the data in flight reached the largest window that was known until then."""
        full: NDArray[np.bool_] = self._under_way >= self._window
        return full

    @cached_property
    def _sizes(self) -> Times:
        """The size of each packet as the window counts it (TCP: one packet; QUIC: bytes), or 0 if the packet only
        acknowledges."""
        tcp = len(self.sending) and self.sending.packets["protocol"][0] == TCP
        sizes = np.ones(len(self.sending), np.int64) if tcp else self.sending.packets["payload"].astype(np.int64)
        return np.where(self.sending.speaks, sizes, 0)

    @cached_property
    def _sent_bytes(self) -> Times:
        """The total size of all packets up to and including each one."""
        return np.cumsum(self._sizes)

    @cached_property
    def _knowledge_times(self) -> Times:
        """When the sender knew whether each packet had arrived."""
        knowledge_times = np.where(self.sending.arrived, self.answers.receipts(self.sending.delivered_at), NEVER)
        knowledge_times[lost_packets(self.sending)] = resent(self.sending, self.answers, self.round_trip_ns)
        return knowledge_times

    @cached_property
    def _releases(self) -> tuple[Times, Times]:
        """Times in ascending order, and the total size of the packets that were no longer in flight at each of them."""
        order = np.argsort(self._knowledge_times, kind="stable")
        return self._knowledge_times[order], np.cumsum(self._sizes[order])

    @cached_property
    def _under_way(self) -> Times:
        """The amount of data in flight just after each packet was sent."""
        times, sums = self._releases
        bytes_under_way: Times = np.concatenate([[0], sums])[np.searchsorted(times, self.sending.at, side="right")]
        return self._sent_bytes - bytes_under_way

    @cached_property
    def _window(self) -> Times:
        """A lower bound on the window at each packet: the most that was in flight since the last long silence and the
        last loss or mark. The bound is 0 from a loss until a round trip after the lost packet was sent again, and from
        a mark until a round trip after the sender knew of it."""
        count, at = len(self.sending), self.sending.at
        marked = marked_packets(self.sending)
        lost_places = np.concatenate([lost_packets(self.sending), marked])
        noticed = np.minimum(self.answers.receipts(self.sending.delivered_at[marked]), NEVER - self.round_trip_ns)
        repaired = np.concatenate([resent(self.sending, self.answers, self.round_trip_ns), noticed])
        again = np.searchsorted(at, repaired + self.round_trip_ns)
        spoke = np.flatnonzero(self.sending.speaks)
        silent = spoke[1:][np.diff(at[spoke]) > max(_SILENCE_NS, 2 * self.round_trip_ns)]
        edges = np.unique(np.concatenate([[0, count], lost_places, again, silent]))
        unsure = np.zeros(count + 1, np.int64)
        np.add.at(unsure, lost_places, 1)
        np.add.at(unsure, again, -1)
        window = np.zeros(count, np.int64)
        for begin, end in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
            window[begin:end] = np.maximum.accumulate(self._under_way[begin:end])
        window[np.cumsum(unsure)[:-1] > 0] = 0
        if count and self.sending.packets["protocol"][0] == TCP:
            whole = int(lost_places.min()) if len(lost_places) else count
            window[:whole] = np.maximum(window[:whole], self.first_window)
        return window
