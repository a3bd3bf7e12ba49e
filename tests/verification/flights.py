"""A model of what controllers make of losses; it stands for senders in tests."""

from collections.abc import Callable

from h123.verification.controller import BODY_BYTES, LOSSES, ROUND_TRIP_NS, Arrival

PACKET = 1250
LOSS_OF = {index: number for number, (first, count) in enumerate(LOSSES) for index in range(first, first + count)}


def flights(window: Callable[[float, bool], float], limit: float = 1e9) -> list[Arrival]:
    """Packets of a window each round trip, evenly spread; `window(last, lost)` is the next one. A loss counts once."""
    seen, told = list[Arrival](), set[int]()
    index, size, at = 0, 10.0, 0
    while sum(arrival.bytes for arrival in seen) < BODY_BYTES:
        count = int(min(size, limit))
        sent = range(index, index + count)
        seen += [
            Arrival(at + number * ROUND_TRIP_NS // count, PACKET)
            for number, packet in enumerate(sent)
            if packet not in LOSS_OF
        ]
        losses = {LOSS_OF[packet] for packet in sent if packet in LOSS_OF}
        size = window(size, not losses <= told)
        told |= losses
        index, at = index + count, at + ROUND_TRIP_NS
    return seen


def falling(keeps: float, growth: float) -> Callable[[float, bool], float]:
    """Slow start until the first loss, then growth by so many packets a round trip; a loss leaves `keeps`."""
    begun = False

    def window(last: float, lost: bool) -> float:
        nonlocal begun
        begun = begun or lost
        if lost:
            return last * keeps
        return last + growth if begun else last * 2

    return window
