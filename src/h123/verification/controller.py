"""Which congestion controller a server has, told from its behaviour: from when the bytes of a download came.

The link loses nothing but a few packets, at known places. What a window based controller makes of that is its own: Reno
halves its window (RFC 5681), CUBIC keeps 0.7 of it (RFC 9438). BBR takes the rate that it has measured, losses or not,
and fills the link, of which the other two get a small part under such losses (that of the square root law: Mathis,
Semke, Mahdavi, Ott, CCR 27(3), 1997).

Single losses and bursts take turns, because implementations of CUBIC see them differently: quiche takes a loss of few
packets for spurious and restores the window (RFC 9438, 4.9); aioquic takes 0.7 of what is left in flight when a burst
is gone. Reno halves after both, so the gentler of the two answers tells. The first burst ends slow start and is not
judged.
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

BODY_BYTES = 10_500_000
ROUND_TRIP_NS = 60_000_000
RATE_BPS = 60_000_000
"""Several times what Reno and CUBIC get through these losses in this round trip."""
LOSSES = [(120, 32), (1000, 1), (2200, 20), (3400, 1), (4600, 20), (5800, 1), (7000, 20)]
"""First packet of each, counted from 0 over the link, and how many are lost with it."""
BBR_SHARE = 0.45
"""Of the link's rate in the second half of the download: more is BBR. Of all CUBICs seen google/quiche's takes most,
0.35 at times; BBRs take 0.55 and more."""
CUBIC_KEEPS = 0.62
"""Of the window across a loss: more is CUBIC, less Reno. Growth until the window is looked at lifts both a little above
0.7 and 0.5."""
_BEFORE, _AFTER = range(-5, 0), range(2, 5)
"""Round trips from the loss on in which the window is looked at. After one its news have reached the server and come
back; after another one it has recovered."""

_LOST = [index for first, count in LOSSES for index in range(first, first + count)]
NETWORK = Network(
    name="losses",
    title="a few lost packets",
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
    """Share of the window that a loss left; None where the download ended before there was one to judge."""

    @property
    def controller(self) -> str | None:
        """cubic, reno or bbr; None where it cannot be told."""
        if self.share > BBR_SHARE:
            return "bbr"
        if self.kept is None:
            return None
        return "cubic" if self.kept > CUBIC_KEEPS else "reno"

    def __str__(self) -> str:
        kept = "" if self.kept is None else f", a loss left {self.kept:.2f} of the window"
        return f"{self.share:.0%} of the link{kept}"


def read_arrivals(path: Path) -> list[Arrival]:
    """What the probe wrote."""
    with path.open(encoding="utf-8", newline="") as file:
        return [Arrival(int(row["at_ns"]), int(row["bytes"])) for row in csv.DictReader(file)]


def behaviour(arrivals: Sequence[Arrival]) -> Behaviour:
    """Of a server whose download came so, over NETWORK."""
    kept: dict[bool, list[float]] = {True: [], False: []}
    for (_, count), at in list(zip(LOSSES, _losses_seen(arrivals), strict=False))[1:]:
        if arrivals[-1].at_ns >= at + (_AFTER.stop * ROUND_TRIP_NS):
            kept[count > 1].append(_window(arrivals, at, _AFTER) / _window(arrivals, at, _BEFORE))
    answers = [median(found) for found in kept.values() if found]
    return Behaviour(_share(arrivals), max(answers, default=None))


def _share(arrivals: Sequence[Arrival]) -> float:
    sizes = list(accumulate(arrival.bytes for arrival in arrivals))
    middle = bisect_left(sizes, sizes[-1] / 2)
    span = arrivals[-1].at_ns - arrivals[middle].at_ns
    return (sizes[-1] - sizes[middle]) * 8e9 / max(span, 1) / RATE_BPS


def _losses_seen(arrivals: Sequence[Arrival]) -> list[int]:
    """When the last datagram before each loss came."""
    lost_before = [0, *accumulate(count for _, count in LOSSES)]
    indices = [first - lost - 1 for (first, _), lost in zip(LOSSES, lost_before, strict=False)]
    return [arrivals[index].at_ns for index in indices if index < len(arrivals)]


def _window(arrivals: Sequence[Arrival], at: int, trips: range) -> float:
    """Bytes in a round trip, the median over these round trips counted from `at`."""
    starts = [at + trip * ROUND_TRIP_NS for trip in trips]
    return median(sum(a.bytes for a in arrivals if start < a.at_ns <= start + ROUND_TRIP_NS) for start in starts)
