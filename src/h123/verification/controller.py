"""Which congestion controller a server has, told from its behaviour: from when the bytes of a download came.

The link loses nothing but a few bursts of packets, at known places. A burst is one congestion event, and what a window
based controller makes of it is its own: Reno halves its window (RFC 5681), CUBIC keeps 0.7 of it (RFC 9438). BBR takes
the rate that it has measured, losses or not, and fills the link, of which the other two get a small part under such
losses (that of the square root law: Mathis, Semke, Mahdavi, Ott, CCR 27(3), 1997).

A burst of many packets rather than one lost packet: where few are lost, some implementations of CUBIC take the loss for
spurious and restore the window (RFC 9438, 4.9). The first burst ends slow start and is not judged.
"""

import csv
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from statistics import median

from h123.study import Network
from h123.study.network import Bottleneck, Direction, Loss, Queue

BODY_BYTES = 7_500_000
ROUND_TRIP_NS = 60_000_000
RATE_BPS = 60_000_000
"""Several times what Reno and CUBIC get through these losses in this round trip."""
BURSTS = [(120, 32), (1000, 20), (2200, 20), (3400, 20), (4600, 20), (5800, 20)]
"""First packet of each, counted from 0 over the link, and how many are lost."""
BBR_SHARE = 0.5
"""Of the link's rate in the second half of the download: more is BBR."""
CUBIC_KEEPS = 0.62
"""Of the window across a burst, the median: more is CUBIC, less Reno. Growth within the time that is looked at, two to
four round trips after the loss, lifts both a little above 0.7 and 0.5."""

_LOST = [index for first, count in BURSTS for index in range(first, first + count)]
NETWORK = Network(
    name="bursts",
    title="bursts of lost packets",
    up=Direction(delay_ns=ROUND_TRIP_NS // 2),
    down=Direction(
        rate=Bottleneck(bps=RATE_BPS),
        queue=Queue(bytes=1_000_000),
        loss=Loss(packets=_LOST),
        delay_ns=ROUND_TRIP_NS // 2,
    ),
)


@dataclass(frozen=True)
class Arrival:
    """A datagram of the server's."""

    at_ns: int
    bytes: int


@dataclass(frozen=True)
class Behaviour:
    """What the arrivals tell."""

    share: float
    """Of the link's rate, in the second half."""
    kept: float | None
    """Share of the window that a burst left; None where the download ended before there was one to judge."""

    @property
    def controller(self) -> str | None:
        """cubic, reno or bbr; None where it cannot be told."""
        if self.share > BBR_SHARE:
            return "bbr"
        if self.kept is None:
            return None
        return "cubic" if self.kept > CUBIC_KEEPS else "reno"

    def __str__(self) -> str:
        kept = "" if self.kept is None else f", a burst of losses left {self.kept:.2f} of the window"
        return f"{self.share:.0%} of the link{kept}"


def read_arrivals(path: Path) -> list[Arrival]:
    """What the probe wrote."""
    with path.open(encoding="utf-8", newline="") as file:
        return [Arrival(int(row["at_ns"]), int(row["bytes"])) for row in csv.DictReader(file)]


def behaviour(arrivals: Sequence[Arrival]) -> Behaviour:
    """Of a server whose download came so, over NETWORK."""
    kept = [share for share in (_kept(arrivals, at) for at in _bursts_seen(arrivals)[1:]) if share is not None]
    return Behaviour(_share(arrivals), median(kept) if kept else None)


def _share(arrivals: Sequence[Arrival]) -> float:
    sizes = list(accumulate(arrival.bytes for arrival in arrivals))
    middle = bisect_left(sizes, sizes[-1] / 2)
    span = arrivals[-1].at_ns - arrivals[middle].at_ns
    return (sizes[-1] - sizes[middle]) * 8e9 / max(span, 1) / RATE_BPS


def _bursts_seen(arrivals: Sequence[Arrival]) -> list[int]:
    """When the last datagram before each burst came."""
    lost_before = [0, *accumulate(count for _, count in BURSTS)]
    indices = [first - lost - 1 for (first, _), lost in zip(BURSTS, lost_before, strict=False)]
    return [arrivals[index].at_ns for index in indices if index < len(arrivals)]


def _kept(arrivals: Sequence[Arrival], at: int) -> float | None:
    """Bytes in the round trips from two to four after `at`, over those in the two before it.

    A round trip after the loss its news have reached the server and come back, another one later it has recovered.
    """
    after = (at + 2 * ROUND_TRIP_NS, at + 4 * ROUND_TRIP_NS)
    if arrivals[-1].at_ns < after[1]:
        return None
    before = (at - 2 * ROUND_TRIP_NS, at)
    return _bytes(arrivals, *after) / _bytes(arrivals, *before)


def _bytes(arrivals: Sequence[Arrival], start: int, end: int) -> int:
    return sum(arrival.bytes for arrival in arrivals if start < arrival.at_ns <= end)
