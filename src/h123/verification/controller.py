"""Recognises a sender's congestion controller by the times at which the bytes of a body arrived.

The link loses only a few packets, at known places. Window-based controllers react in characteristic ways: Reno halves
its window (RFC 5681), CUBIC keeps 0.7 of it (RFC 9438). BBR ignores losses, sends at the rate that it has measured, and
fills the link; under such losses, Reno and CUBIC reach only the small share of the link's rate that the square root law
predicts (Mathis, Semke, Mahdavi, Ott, CCR 27(3), 1997).

Single losses and bursts alternate, because implementations of CUBIC treat them differently: quiche treats a loss of a
few packets as spurious and restores the window (RFC 9438, 4.9); aioquic takes 0.7 of what is left in flight after a
burst. Reno halves its window in both cases, so the weaker reaction distinguishes Reno from CUBIC. The first burst ends
slow start and is ignored. If something other than the controller limits a sender, such as a small buffer, losses change
nothing, and the window is called fixed.

The size of the largest flight in several round trips is taken as the window, because a sender that waits for a
processor sends less in some round trips.
"""

import csv
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from statistics import median

from h123.study import Network
from h123.study.networks.network import Bottleneck, Direction, Loss, Queue

BODY_BYTES = 10_500_000
ROUND_TRIP_NS = 60_000_000
RATE_BPS = 60_000_000
"""The link's rate: several times the rate that Reno and CUBIC achieve on this link."""
LOSSES = [(120, 32), (1000, 1), (2200, 20), (3400, 1), (4600, 20), (5800, 1), (7000, 20)]
"""For each loss, the index of the first lost packet, counted from 0 in the body's direction, and the number of lost
packets."""
BBR_SHARE = 0.45
"""The share of the link's rate in the second half of the download above which a sender is recognised as BBR. Of all
measured CUBIC senders, google/quiche's reaches the highest share, sometimes 0.35; BBR senders reach 0.55 or more."""
CUBIC_KEEPS = 0.63
"""The share of the window kept after a loss above which a sender is recognised as CUBIC, otherwise as Reno. The window
grows until it is measured, so senders seem to keep slightly more: Reno senders up to 0.61, CUBIC senders 0.67 or
more."""
FIXED_KEEPS = 0.94
"""The share of the window kept after single losses and after bursts above which a sender has a fixed window. Of all
measured controllers, google/quiche's CUBIC keeps the most, up to 0.89."""
_BEFORE, _AFTER = range(-5, 0), range(2, 5)
"""Round trips, counted from the loss, in which the window is measured. One round trip after the loss, the sender's
reaction arrives; after another round trip, the sender has recovered."""

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
    """The arrival of a datagram from the sender."""

    at_ns: int
    bytes: int


@dataclass(frozen=True)
class Behaviour:
    """A sender's behaviour, as the arrivals of its datagrams show it."""

    share: float
    """The share of the link's rate that the sender reached in the second half of the download."""
    after_one: float | None
    """The share of the window that remained after a single loss, as a median. None if no single loss could be
    judged."""
    after_many: float | None
    """The share of the window that remained after a burst of losses, as a median. None if no burst could be judged."""

    @property
    def controller(self) -> str | None:
        """The controller: `cubic`, `reno`, `bbr` or `fixed`, or None if it cannot be recognised."""
        if self.share > BBR_SHARE:
            return "bbr"
        if self.after_one is None or self.after_many is None:
            return None
        if min(self.after_one, self.after_many) > FIXED_KEEPS:
            return "fixed"
        return "cubic" if max(self.after_one, self.after_many) > CUBIC_KEEPS else "reno"

    def __str__(self) -> str:
        kept = {"a loss": self.after_one, "a burst of losses": self.after_many}
        left = [f"{what} left {share:.2f} of the window" for what, share in kept.items() if share is not None]
        return ", ".join([f"{self.share:.0%} of the link", *left])


def read_arrivals(path: Path) -> list[Arrival]:
    """Read the arrivals that the probe wrote."""
    with path.open(encoding="utf-8", newline="") as file:
        return [Arrival(int(row["at_ns"]), int(row["bytes"])) for row in csv.DictReader(file)]


def behaviour(arrivals: Sequence[Arrival]) -> Behaviour:
    """Return the behaviour of a sender whose body arrived at these times over NETWORK."""
    kept: dict[bool, list[float]] = {True: [], False: []}
    for (_, count), at in list(zip(LOSSES, _losses_seen(arrivals), strict=False))[1:]:
        before, after = (_round_trips(arrivals, at, trips) for trips in (_BEFORE, _AFTER))
        # A sender that pauses shows no window, and may continue with a different one.
        if arrivals[-1].at_ns >= at + _AFTER.stop * ROUND_TRIP_NS and all(before + after):
            kept[count > 1].append(max(after) / max(before))
    one, many = (median(kept[burst]) if kept[burst] else None for burst in (False, True))
    return Behaviour(_share(arrivals), one, many)


def _share(arrivals: Sequence[Arrival]) -> float:
    sizes = list(accumulate(arrival.bytes for arrival in arrivals))
    middle = bisect_left(sizes, sizes[-1] / 2)
    span = arrivals[-1].at_ns - arrivals[middle].at_ns
    return (sizes[-1] - sizes[middle]) * 8e9 / max(span, 1) / RATE_BPS


def _losses_seen(arrivals: Sequence[Arrival]) -> list[int]:
    """Return when the last datagram before each loss arrived, in ns. Losses after the end of the body are left out."""
    lost_before = [0, *accumulate(count for _, count in LOSSES)]
    indices = [first - lost - 1 for (first, _), lost in zip(LOSSES, lost_before, strict=False)]
    return [arrivals[index].at_ns for index in indices if index < len(arrivals)]


def _round_trips(arrivals: Sequence[Arrival], at: int, trips: range) -> list[int]:
    """Return the bytes that arrived in each of these round trips, counted from `at`."""
    starts = [at + trip * ROUND_TRIP_NS for trip in trips]
    return [sum(a.bytes for a in arrivals if start < a.at_ns <= start + ROUND_TRIP_NS) for start in starts]
