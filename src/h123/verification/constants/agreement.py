"""Compares the constants that packets show with those that a stack's source code states."""

from dataclasses import dataclass

from h123.base.units import format_bytes
from h123.catalogue import QUIC, DeclaredConstants
from h123.verification.constants import words
from h123.verification.constants.findings import Constants

GROWN = (-0.03, 0.08)
"""The lowest and the highest allowed difference between the measured and the declared share of the window that a loss
leaves. The share is visible only after the window has grown for two more round trips, and windows consist of whole
packets."""
TIMERS_MS = 1.5
"""How many ms later than declared a retransmission may be, because timers count whole milliseconds and sending takes
time."""


@dataclass(frozen=True)
class DeclaredComparison:
    """The comparison of one constant: what the source code says, and what packets show."""

    constant: str
    says: str
    where: tuple[str, ...]
    shows: str
    """The value that packets show. Empty if it was not measured."""
    agrees: bool
    differs: str
    """The reason for a difference, as the manifest states it. Empty if it states none."""


def compared(declared: DeclaredConstants, measured: Constants) -> list[DeclaredComparison]:
    """Return the comparisons of all constants that the source code states, in a fixed order."""
    decrease = [_decrease(declared, measured)] if declared.decrease else []
    return [_initial_window(declared, measured), *decrease, _retransmission(declared, measured)]


def _initial_window(declared: DeclaredConstants, measured: Constants) -> DeclaredComparison:
    """Compare the initial window. TCP counts packets. QUIC counts bytes: a flight must fill the window except for one
    packet, and the flight's full packets may exceed the window by one, because a sender may send a full packet as long
    as there is any room."""
    window, flight = declared.initial_window, measured.first_flight
    says, agrees = f"{window.packets} packets", False
    if window.of_bytes:
        says += f" of {window.of_bytes} bytes"
    if flight and declared.protocol != QUIC:
        agrees = flight.packets == window.packets
    elif flight and measured.datagrams:
        size = measured.datagrams.first
        whole = window.packets * (window.of_bytes or size)
        agrees = flight.bytes >= whole - size and flight.full * size <= whole + size
        says += f": {format_bytes(whole)}"
    shows = words.first_flight(flight) if flight else ""
    return DeclaredComparison("initial window", says, tuple(window.where), shows, agrees, window.differs)


def _decrease(declared: DeclaredConstants, measured: Constants) -> DeclaredComparison:
    loss, measured_decrease = declared.decrease, measured.decrease
    assert loss is not None
    less, more = GROWN
    agrees = measured_decrease is not None and less <= round(measured_decrease.keeps - loss.keeps, 2) <= more
    shows = f"{measured_decrease.keeps:g}" if measured_decrease else ""
    return DeclaredComparison("window after a loss", f"{loss.keeps:g}", tuple(loss.where), shows, agrees, loss.differs)


def _retransmission(declared: DeclaredConstants, measured: Constants) -> DeclaredComparison:
    wait, tail = declared.retransmission, measured.tail_near
    waited = (tail.first_ms if wait.attempt == 1 else tail.second_ms) if tail else None
    agrees = waited is not None and wait.least_ms <= waited <= wait.most_ms + TIMERS_MS
    most = f" to {wait.most_ms:g}" if wait.most_ms > wait.least_ms else ""
    says = f"{wait.says}: {wait.least_ms:g}{most} ms"
    shows = f"{waited:g} ms" if waited is not None else ""
    name = "time to retransmit a lost tail" if wait.attempt == 1 else "time to retransmit it again"
    return DeclaredComparison(name, says, tuple(wait.where), shows, agrees, wait.differs)
