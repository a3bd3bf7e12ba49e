"""Measures a transfer without losses: handshake, first flight, slow start, packet sizes, and the limit on bytes in
flight.

Every function raises NotMeasurable if the packets do not show the value.
"""

from collections.abc import Sequence
from itertools import pairwise, takewhile
from statistics import median

import numpy as np

from h123.packets.capture import UP
from h123.verification.constants.findings import Datagrams, Flight, HandshakeSize, InFlight, NotMeasurable, SlowStart
from h123.verification.constants.transfer import Transfer

GROWS = 1.25
"""The smallest factor by which a window grows per round trip in slow start. Slow start doubles windows. It multiplies
them by 1.5 if the receiver acknowledges only every second packet and the sender counts each acknowledgement as one
packet. HyStart++ (RFC 9406) only adds an eighth."""
STEADY = 0.03
"""The windows of round trips under the same limit differ by at most this share: by a packet or two."""
EARLY_BYTES = 10_000_000


def handshake(of: Transfer) -> HandshakeSize:
    """Measure the packets before the request. For a download, the client sent the request half a round trip before the
    body's first flight; for an upload, that flight carries the request."""
    began = int(of.packets["at_ns"][0])
    sent_ns = of.began_ns() - (0 if of.way == UP else of.round_trip_ns // 2)
    # The client sends the end of the handshake with the request. On a busy machine, either may be a little late.
    until = sent_ns - of.round_trip_ns // 8
    up = of.packets[(of.packets["way"] == UP) & (of.packets["at_ns"] < until)]
    down = of.packets[(of.packets["way"] != UP) & (of.packets["left_ns"] <= sent_ns) & (of.packets["left_ns"] > 0)]
    if not len(up):
        raise NotMeasurable("the body came without a handshake")
    return HandshakeSize(
        round_trips=round((sent_ns - began) / of.round_trip_ns, 1),
        bytes_up=int(up["bytes"].sum()),
        bytes_down=int(down["bytes"].sum()),
    )


def first_flight(of: Transfer) -> Flight:
    """Measure the data sent before the first acknowledgement of the body could arrive."""
    first, *others = of.body
    if not others:
        raise NotMeasurable("the body ended with its first flight")
    sizes = of.sent_packets["payload"][first.first : first.end]
    full = int((sizes == _most_common(sizes)).sum())
    return Flight(packets=len(sizes), full=full, bytes=of.payload(first), spread=of.spread(first))


def slow_start(of: Transfer) -> SlowStart:
    """Measure slow start, from the first flight until a round trip carries barely more than the previous one."""
    windows = of.windows
    growing = _growing(windows)
    end_index = len(growing) if len(growing) < len(windows) - 1 else None
    return SlowStart(
        growth=round(median(growing), 2),
        spread=of.spread(of.body[len(growing) - 1]),
        ends=None if end_index is None else windows[end_index],
        why="the body's end" if end_index is None else _why(of, end_index),
    )


def _growing(windows: Sequence[int]) -> list[float]:
    """Return the ratio of each round trip's bytes to the previous round trip's, while slow start lasts."""
    ratios = [later / earlier for earlier, later in pairwise(windows)]
    if growing := list(takewhile(lambda ratio: ratio >= GROWS, ratios)):
        return growing
    raise NotMeasurable(
        f"the second round trip has {ratios[0]:.2f} of the first" if ratios else "it had one round trip"
    )


def at_once(of: Transfer, part: float) -> float:
    """Return the share of a slow-start flight that was sent within the given fraction of a round trip after the
    flight's first packet. The flight is the last one after which the window still grew."""
    flight = of.body[len(_growing(of.windows)) - 1]
    sent_at = of.sent_packets["at_ns"][flight.first : flight.end]
    return float((sent_at <= sent_at[0] + np.uint64(part * of.round_trip_ns)).mean())


def _why(of: Transfer, end_index: int) -> str:
    """Return what limits a window that stopped growing, judging by TCP's receive window and the next round trips."""
    if any(of.fills_the_receiver(packet) for packet in of.body[end_index : end_index + 2]):
        return "TCP's receive window"
    before, *later = of.windows[end_index : end_index + 4]
    if len(later) < 2:
        return "not known, because the body ended soon after"
    if _is_steady(later):
        return "a fixed limit, such as a receive window or a send buffer"
    if max(later) > (1 + STEADY) * before:
        return "slower growth, such as HyStart's"
    return "not known, because less is sent in the next round trips"


def _is_steady(windows: Sequence[int]) -> bool:
    return max(windows) - min(windows) <= STEADY * max(windows)


def in_flight(of: Transfer) -> InFlight:
    """Measure the most bytes in flight in the first 10 MB of the body, and in the rest."""
    windows = of.windows
    begins = np.concatenate([[0], np.cumsum(windows)[:-1]]) if windows else np.array([])
    early = [window for window, begin in zip(windows, begins, strict=True) if begin < EARLY_BYTES]
    late = windows[len(early) :]
    if not late:
        raise NotMeasurable("the body ended before its windows were seen after 10 MB")
    return InFlight(early=max(early), late=max(late), held=_is_steady(windows[-3:]))


def datagrams(of: Transfer) -> Datagrams:
    """Measure the sizes of the sender's payloads, beginning with the first flight."""
    first, *_ = of.body
    sizes = of.sent_packets["payload"][first.first :]
    begin, common = _most_common(sizes[: first.end - first.first]), _most_common(sizes)
    grown = (
        n
        for n, packet in enumerate(of.body)
        if np.median(of.sent_packets["payload"][packet.first : packet.end]) >= common
    )
    grew = float(next(grown, len(of.body))) if common > begin else None
    return Datagrams(first=begin, common=common, largest=int(sizes.max()), grew=grew)


def _most_common(sizes: "np.ndarray[tuple[int], np.dtype[np.uint16]]") -> int:
    values, counts = np.unique(sizes, return_counts=True)
    return int(values[np.argmax(counts)])


def acknowledgements(of: Transfer) -> float:
    """Return the number of packets that the receiver sends for each packet of the sender, in the middle half of the
    body."""
    sent_at = of.sent_packets["at_ns"][of.body[0].first :]
    begin, end = (int(sent_at[int(len(sent_at) * share)]) for share in (0.25, 0.75))
    came = of.received_packets[(of.received_packets["left_ns"] > begin) & (of.received_packets["left_ns"] <= end)]
    count = int(((sent_at > begin) & (sent_at <= end)).sum())
    if count < 100:
        raise NotMeasurable("too few packets")
    return round(len(came) / count, 3)
