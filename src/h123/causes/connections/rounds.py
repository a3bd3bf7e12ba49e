"""Round trips of a sender, told from packets alone, and whether its window grew from one to the next.

A round trip ends with the first packet that the other end sent after it had got the round trip's first one: nothing
that was sent before can answer to it.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from h123.causes.connections.connection import Sending
from h123.causes.spans import Times

DOUBLES = 1.25
"""A window so many times the one before is growing as in slow start, however late or in part it is acknowledged."""
GROWS_NOT = 1.02
"""One that is at most so many times the one before does not grow."""
_TELLING = 2
"""Round trips of the first burst of which the second one may have been cut short."""
_PATIENCE = 1.5
"""Round trips after which a packet asked for no answer."""


@dataclass(frozen=True)
class Rounds:
    """Of one sender."""

    firsts: Times
    """Place of each round trip's first packet among the sender's, ascending."""
    windows: Times
    """Payload bytes sent in each."""

    def of(self, places: Times) -> Times:
        """The round trip of each packet."""
        return np.searchsorted(self.firsts, places, side="right") - 1

    begins: NDArray[np.bool_]
    """Whether all that was sent before each was known to have arrived: then it is the first of a burst."""

    @property
    def growth(self) -> NDArray[np.float64]:
        """Of each, how many times the window is the largest of the burst before it, or the next one's the largest up to
        this one, whichever is more: the last one of a burst is cut short by the body's end, and those of a held sender
        vary a little. A burst's first one is compared with the largest before it too, and the connection's first
        flight with the next one alone."""
        windows = np.maximum(self.windows, 1).astype(float)
        largest = _largest_so_far(windows, self.begins)
        arrivals, led = np.empty(len(windows)), np.zeros(len(windows))
        arrivals[1:] = windows[1:] / np.where(self.begins[1:], np.maximum.accumulate(windows)[:-1], largest[:-1])
        led[:-1] = np.where(self.begins[1:], 0.0, windows[1:] / largest[:-1])
        burst = int(np.argmax(self.begins[1:])) + 1 if self.begins[1:].any() else len(windows)
        arrivals[:1] = led[:1] if burst > _TELLING else np.inf
        return np.maximum(arrivals, led)


def _largest_so_far(windows: NDArray[np.float64], begins: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Of the burst that each belongs to."""
    bursts = np.split(windows, np.flatnonzero(begins[1:]) + 1)
    return np.concatenate([np.maximum.accumulate(burst) for burst in bursts])


def rounds(sending: Sending, answers: Sending, round_trip_ns: int, rested: NDArray[np.bool_]) -> Rounds:
    """All of a connection. `rested`: whether all was known to have arrived before each packet."""
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
