"""When TCP handed on what a server sent, counted from a trial's packets: a byte when it and all before it have come."""

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
    """What a server sent over the one connection of TCP of a trial: its packets with data."""

    begins: Integers
    """The place of each one's first byte in the stream."""
    ends: Integers
    left: Integers
    """When each was delivered, ns since the client began."""
    fate: Integers

    @classmethod
    def of(cls, trial: Path, began: int) -> "Stream":
        """Of the trial in this folder, whose client began at this time of the record's clock."""
        packets = read_packets(trial)
        down = packets[(packets["way"] == DOWN) & (packets["protocol"] == TCP) & (packets["payload"] > 0)]
        begins = np.concatenate([[0], np.cumsum(np.diff(down["seq"]).astype(np.int32), dtype=np.int64)])
        return cls(begins, begins + down["payload"], down["left_ns"] - began, down["fate"].astype(np.int64))

    def arrived(self, place: int) -> int:
        """When the byte before a place first came."""
        covers = (self.begins < place) & (self.ends >= place) & (self.fate == DELIVERED)
        return int(self.left[covers].min())

    def handed_on(self, place: int) -> int:
        """When it and all before it had come."""
        times, places = self._course
        return int(times[np.searchsorted(places, place)])

    def until(self, time: int) -> int:
        """How far that had come at a time."""
        times, places = self._course
        return int(places[np.searchsorted(times, time, side="right") - 1])

    @cached_property
    def _course(self) -> tuple[Integers, Integers]:
        times, places = zip(*self._steps(), strict=True)
        return np.array(times, np.int64), np.array(places, np.int64)

    def _steps(self) -> Iterator[tuple[int, int]]:
        """Each time at which all came as far as a new place."""
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
    """By how much answers came later than in the trial that lost nothing, but for the one that it cost most; ns."""

    others: int
    held: int
    """Of that, having arrived."""


def counted(lost: Stream, delivered: Stream, ends: Sequence[int]) -> Count:
    """By the packets of two trials, and by when answers ended in the one that lost nothing: that says where in the
    stream each has its last byte, which is the same place in both, but for FRAMES."""
    found = []
    for place in (max(delivered.until(end + CLOCK) - FRAMES, 1) for end in ends):
        later = lost.handed_on(place) - delivered.handed_on(place)
        if later > CLOCK:
            found.append((later, lost.handed_on(place) - lost.arrived(place)))
    others = sorted(found)[:-1]
    return Count(sum(later for later, _ in others), sum(held for _, held in others))
