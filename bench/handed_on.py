"""Finds when TCP could deliver each byte of a server's stream to the client, from a trial's packets.

TCP delivers a byte once it and all earlier bytes have arrived.
"""

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np

from h123.packets.capture import DELIVERED, DOWN, TCP, read_packets
from h123.store.rows import Integers

CLOCK = 100_000
"""ns: less the virtual clock does not tell apart."""

FRAMES = 100
"""Bytes of frames of the connection's own (windows, pings), by which one stream may be ahead of the other."""


@dataclass(frozen=True)
class Stream:
    """The packets with data that a server sent over the only TCP connection of a trial."""

    begins: Integers
    """The place of each one's first byte in the stream."""
    ends: Integers
    left: Integers
    """When each was delivered, ns since the client began."""
    fate: Integers

    @classmethod
    def of(cls, trial: Path, began: int) -> "Stream":
        """Read the stream of the trial in this folder. `began`: when its client began, on the clock of the packets."""
        packets = read_packets(trial)
        down = packets[(packets["way"] == DOWN) & (packets["protocol"] == TCP) & (packets["payload"] > 0)]
        begins = np.concatenate([[0], np.cumsum(np.diff(down["seq"]).astype(np.int32), dtype=np.int64)])
        return cls(begins, begins + down["payload"], down["left_ns"] - began, down["fate"].astype(np.int64))

    def arrived(self, place: int) -> int:
        """Return when the byte before `place` first arrived."""
        covers = (self.begins < place) & (self.ends >= place) & (self.fate == DELIVERED)
        return int(self.left[covers].min())

    def handed_on(self, place: int) -> int:
        """Return when the byte before `place` and all earlier bytes had arrived."""
        times, places = self._course
        return int(times[np.searchsorted(places, place)])

    def until(self, time: int) -> int:
        """Return up to which place all bytes had arrived at `time`."""
        times, places = self._course
        return int(places[np.searchsorted(times, time, side="right") - 1])

    @cached_property
    def _course(self) -> tuple[Integers, Integers]:
        times, places = zip(*self._steps(), strict=True)
        return np.array(times, np.int64), np.array(places, np.int64)

    def _steps(self) -> Iterator[tuple[int, int]]:
        """Yield each time at which all bytes up to a new place had arrived, and the place."""
        waiting: list[tuple[int, int]] = []
        place = 0
        for number in np.argsort(self.left, kind="stable").tolist():
            if self.fate[number] != DELIVERED:
                continue
            heapq.heappush(waiting, (int(self.begins[number]), int(self.ends[number])))
            before = place
            while waiting and waiting[0][0] <= place:
                place = max(place, heapq.heappop(waiting)[1])
            if place > before:
                yield int(self.left[number]), place


class Count(NamedTuple):
    """How much later answers ended than in the trial without the loss, in ns, not counting the answer that the loss
    delayed most."""

    others: int
    held: int
    """The part of that time in which the answer's last byte had arrived but waited for earlier ones."""


def counted(lost: Stream, delivered: Stream, ends: Sequence[int]) -> Count:
    """Compare the packets of two trials. `ends` are the times at which answers ended in the trial without the loss.
    They show where in the stream each answer's last byte is. It is at the same place in both trials, except for
    FRAMES."""
    found = []
    for place in (max(delivered.until(end + CLOCK) - FRAMES, 1) for end in ends):
        later = lost.handed_on(place) - delivered.handed_on(place)
        if later > CLOCK:
            found.append((later, lost.handed_on(place) - lost.arrived(place)))
    others = sorted(found)[:-1]
    return Count(sum(later for later, _ in others), sum(held for _, held in others))
