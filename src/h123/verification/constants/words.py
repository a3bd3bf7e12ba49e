"""Constants in words, for the terminal and for docs/catalogue.md."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from h123.base.units import format_bytes
from h123.verification.constants.findings import (
    Constants,
    Datagrams,
    Flight,
    HandshakeSize,
    InFlight,
    LossResponse,
    Silence,
    SlowStart,
    Tail,
)


def handshake(seen: HandshakeSize) -> str:
    """`2 round trips, 1.2 kB up, 1.5 kB down`."""
    trips = "round trip" if seen.round_trips == 1 else "round trips"
    return f"{seen.round_trips:g} {trips}, {format_bytes(seen.bytes_up)} up, {format_bytes(seen.bytes_down)} down"


def first_flight(seen: Flight) -> str:
    """`10 packets (8 full), 13 kB, at once`."""
    return f"{seen.packets} packets ({seen.full} full), {format_bytes(seen.bytes)}, {_spread(seen.spread)}"


def _spread(share: float) -> str:
    return "at once" if share < 0.02 else f"over {share:.0%} of a round trip"


def slow_start(seen: SlowStart) -> str:
    """`x2 a round trip up to 6.3 MB: a fixed limit`."""
    limit = f" up to {format_bytes(seen.ends)}: {seen.why}" if seen.ends is not None else f" to {seen.why}"
    return f"x{seen.growth:g} a round trip{limit}; sent {_spread(seen.spread)}"


def decrease(seen: LossResponse) -> str:
    """`keeps 0.7 (0.69, 0.7, 0.72); of the window before, 1.05 after 10 s`."""
    each = f" ({', '.join(f'{keeps:g}' for keeps in seen.each)})" if len(seen.each) > 1 else ""
    regrown = ", ".join(f"{share:g} after {seconds} s" for seconds, share in seen.regrown.items())
    return f"keeps {seen.keeps:g}{each}" + (f"; of the window before, {regrown}" if regrown else "")


def datagrams(seen: Datagrams) -> str:
    """`1252 B, 1452 B from round trip 3 on`."""
    grown = f", {seen.common} B after {seen.grew:g} round trips" if seen.grew is not None else ""
    largest = f", largest {seen.largest} B" if seen.largest > max(seen.first, seen.common) else ""
    return f"{seen.first} B{grown}{largest}"


def in_flight(seen: InFlight) -> str:
    """`6.3 MB, after 10 MB 15 MB`."""
    limit = "" if seen.held else ", still changing"
    return f"{format_bytes(seen.early)} in the first 10 MB, {format_bytes(seen.late)} later{limit}"


def acknowledgements(seen: float) -> str:
    """`0.5 for a packet`."""
    return f"{seen:g} for a packet"


def tail(seen: Tail) -> str:
    """`after 204 ms, again after 408 ms (round trip 2 ms)`."""
    again = f", again after {seen.second_ms:.3g} ms" if seen.second_ms is not None else ""
    return f"after {seen.first_ms:.3g} ms{again} (round trip {seen.round_trip_ms:g} ms)"


def silences(seen: Sequence[Silence]) -> str:
    """`after 57.4 s 10 packets, 14 kB of 900 kB`."""
    return "; ".join(
        f"after {one.seconds:g} s {one.packets} packets, {format_bytes(one.bytes)} of {format_bytes(one.before)}"
        for one in seen
    )


WORDS: dict[str, tuple[str, Callable[[Any], str]]] = {
    "handshake": ("handshake", handshake),
    "first_flight": ("first flight", first_flight),
    "slow_start": ("slow start", slow_start),
    "decrease": ("a loss", decrease),
    "datagrams": ("payloads", datagrams),
    "in_flight": ("in flight", in_flight),
    "received": ("in flight to it", in_flight),
    "acknowledgements": ("acknowledges", acknowledgements),
    "tail_near": ("a lost tail", tail),
    "tail_far": ("a lost tail, far", tail),
    "silences": ("after silence", silences),
}
"""What each constant is called, and its words."""


def described(constants: Constants) -> Iterator[tuple[str, str]]:
    """All of them, those included that are not told."""
    for field, (name, words) in WORDS.items():
        value = getattr(constants, field)
        if value is not None:
            yield name, words(value)
        elif why := constants.untold.get(field):
            yield name, f"not told: {why}"
