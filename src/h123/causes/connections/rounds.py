"""Computes a sender's round trips from packets alone, and whether its window grew from one round trip to the next.

A round trip begins when the sender sends a packet. It ends when the sender receives the first packet that the other end
sent after receiving that packet.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from h123.causes.connections.connection import Sending
from h123.causes.spans import Times

DOUBLES = 1.25
"""The smallest ratio of a window to the previous one in slow start, which may look slower than doubling if
acknowledgements are late."""
GROWS_NOT = 1.02
"""The largest ratio of a window to the previous one that is not growth."""
_TELLING = 2
"""The largest number of round trips in a first burst whose first one is regarded as slow start, because the second one
may have been cut short."""
_PATIENCE = 1.5
"""The multiple of the link's round trip after which a sender's round trip ends at the latest, or one round trip after
the delivery of its first packet if that is later."""


@dataclass(frozen=True)
class Rounds:
    firsts: Times
    """The index of each round trip's first packet among the sender's packets, ascending."""
    windows: Times
    """The payload bytes sent in each round trip."""

    def of(self, places: Times) -> Times:
        """Return the index of the round trip in which each packet was sent."""
        return np.searchsorted(self.firsts, places, side="right") - 1

    begins: NDArray[np.bool_]
    """For each round trip, whether all earlier packets were known to have arrived before it. If so, it starts a
    burst."""

    @property
    def growth(self) -> NDArray[np.float64]:
        """The growth in each round trip: the larger of two ratios. The first is this round trip's window divided by the
        largest earlier window in the same burst. The second is the next window divided by the largest window up to this
        round trip. Both are needed, because a body's end cuts the last window of a burst short, and the windows of a
        limited sender vary slightly. The first window of a later burst is compared with the largest window of all
        earlier bursts. The connection's first flight is compared only with the next window."""
        windows = np.maximum(self.windows, 1).astype(float)
        largest = _largest_so_far(windows, self.begins)
        arrivals, led = np.empty(len(windows)), np.zeros(len(windows))
        arrivals[1:] = windows[1:] / np.where(self.begins[1:], np.maximum.accumulate(windows)[:-1], largest[:-1])
        led[:-1] = np.where(self.begins[1:], 0.0, windows[1:] / largest[:-1])
        burst = int(np.argmax(self.begins[1:])) + 1 if self.begins[1:].any() else len(windows)
        arrivals[:1] = led[:1] if burst > _TELLING else np.inf
        return np.maximum(arrivals, led)


def _largest_so_far(windows: NDArray[np.float64], begins: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return, for each window, the largest one so far in the same burst."""
    bursts = np.split(windows, np.flatnonzero(begins[1:]) + 1)
    return np.concatenate([np.maximum.accumulate(burst) for burst in bursts])


def rounds(sending: Sending, answers: Sending, round_trip_ns: int, rested: NDArray[np.bool_]) -> Rounds:
    """Return all round trips of one sender. `rested`: whether, before each packet was sent, all earlier ones were known
    to have arrived."""
    firsts, first, count = [], 0, len(sending)
    answered = np.flatnonzero(answers.arrived)
    sent_at, received_at = answers.at[answered], answers.delivered_at[answered]
    arrived = np.flatnonzero(sending.arrived)
    while first < count:
        firsts.append(first)
        next_arrived = int(np.searchsorted(arrived, first))
        patience = int(sending.at[first]) + int(_PATIENCE * max(round_trip_ns, 1))
        ends = patience
        if next_arrived < len(arrived):
            delivery = int(sending.delivered_at[arrived[next_arrived]])
            patience = max(patience, delivery + round_trip_ns)
            answer = int(np.searchsorted(sent_at, delivery))
            ends = min(int(received_at[answer]) if answer < len(sent_at) else patience, patience)
        first = max(first + 1, int(np.searchsorted(sending.at, ends)))
    places = np.array(firsts, np.int64)
    sums = np.concatenate([[0], np.cumsum(sending.packets["payload"].astype(np.int64))])
    bursts = np.concatenate([[0], np.cumsum(rested)])
    begins = np.diff(np.concatenate([[-1], bursts[places + 1]])) > 0
    return Rounds(places, sums[np.append(places[1:], count)] - sums[places], begins)
