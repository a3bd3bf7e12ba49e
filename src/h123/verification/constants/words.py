"""Describes constants in words, for the terminal and for docs/catalogue.md."""

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

AT_ONCE = 0.02
"""Packets sent within this share of a round trip are described as sent at once."""


def handshake(measured: HandshakeSize) -> str:
    """Return text such as `2 round trips, 1.2 kB up, 1.5 kB down`."""
    trips = "round trip" if measured.round_trips == 1 else "round trips"
    up, down = format_bytes(measured.bytes_up), format_bytes(measured.bytes_down)
    return f"{measured.round_trips:g} {trips}, {up} up, {down} down"


def first_flight(measured: Flight) -> str:
    """Return text such as `10 packets (8 full), 13 kB, at once`."""
    return (
        f"{measured.packets} packets ({measured.full} full), {format_bytes(measured.bytes)}, {_spread(measured.spread)}"
    )


def _spread(share: float) -> str:
    return "at once" if share < AT_ONCE else f"over {share:.0%} of a round trip"


def slow_start(measured: SlowStart) -> str:
    """Return text such as `x2 per round trip up to 6.3 MB: a fixed limit; sent at once`."""
    limit = (
        f" up to {format_bytes(measured.ends)}: {measured.why}" if measured.ends is not None else f" to {measured.why}"
    )
    return f"x{measured.growth:g} per round trip{limit}; sent {_spread(measured.spread)}"


def decrease(measured: LossResponse) -> str:
    """Return text such as `keeps 0.7 (0.69, 0.7, 0.72); of the window before, 1.05 after 10 s`."""
    each = f" ({', '.join(f'{keeps:g}' for keeps in measured.each)})" if len(measured.each) > 1 else ""
    regrown = ", ".join(f"{share:g} after {seconds} s" for seconds, share in measured.regrown.items())
    return f"keeps {measured.keeps:g}{each}" + (f"; of the window before, {regrown}" if regrown else "")


def datagrams(measured: Datagrams) -> str:
    """Return text such as `1252 B, 1452 B after 3 round trips`."""
    grown = f", {measured.common} B after {measured.grew:g} round trips" if measured.grew is not None else ""
    largest = f", largest {measured.largest} B" if measured.largest > max(measured.first, measured.common) else ""
    return f"{measured.first} B{grown}{largest}"


def in_flight(measured: InFlight) -> str:
    """Return text such as `6.3 MB in the first 10 MB, 15 MB later`."""
    limit = "" if measured.held else ", still changing"
    return f"{format_bytes(measured.early)} in the first 10 MB, {format_bytes(measured.late)} later{limit}"


def acknowledgements(measured: float) -> str:
    """Return text such as `0.5 for a packet`."""
    return f"{measured:g} for a packet"


def tail(measured: Tail) -> str:
    """Return text such as `after 204 ms, again after 408 ms (round trip 2 ms)`."""
    again = f", again after {measured.second_ms:.3g} ms" if measured.second_ms is not None else ""
    return f"after {measured.first_ms:.3g} ms{again} (round trip {measured.round_trip_ms:g} ms)"


def silences(measured: Sequence[Silence]) -> str:
    """Return text such as `after 57.4 s 10 packets, 14 kB of 900 kB`."""
    return "; ".join(
        f"after {one.seconds:g} s {one.packets} packets, {format_bytes(one.bytes)} of {format_bytes(one.before)}"
        for one in measured
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
"""The name of each constant, and the function that describes its value."""


def described(constants: Constants) -> Iterator[tuple[str, str]]:
    """Yield the name and description of each constant, including those that are missing for a known reason."""
    for field, (name, words) in WORDS.items():
        value = getattr(constants, field)
        if value is not None:
            yield name, words(value)
        elif why := constants.unknown.get(field):
            yield name, f"not known: {why}"
