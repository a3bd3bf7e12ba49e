"""A first flight is counted, however it is spread and whatever small packets come with it."""

import pytest

from h123.verification.controller import Arrival
from h123.verification.flight import ROUND_TRIP_NS, begins_with, first_flight

FULL = 1252


def download(window: int, spread: float, *, late: float = 0.0, growth: int = 2) -> list[Arrival]:
    """A handshake, then flights of a growing window, each spread over a part of a round trip."""
    seen = [Arrival(0, 1200), Arrival(1, 900)]
    at = (1 + late) * ROUND_TRIP_NS
    seen += [Arrival(ROUND_TRIP_NS - 1, 1174), Arrival(ROUND_TRIP_NS, 60), Arrival(ROUND_TRIP_NS + 1, 240)]
    for _ in range(4):
        seen += [Arrival(int(at + n * spread * ROUND_TRIP_NS / window), FULL) for n in range(window)]
        at, window = at + ROUND_TRIP_NS, growth * window
    return seen


@pytest.mark.parametrize("window", [2, 10, 32, 200])
@pytest.mark.parametrize("spread", [0.0, 0.5, 0.9])
@pytest.mark.parametrize("late", [0.0, 0.3])
def test_flights_of_one_round_trip(window: int, spread: float, late: float) -> None:
    found = first_flight(download(window, spread, late=late))
    assert begins_with(found, window)
    assert not begins_with(found, window + 4)
    assert not begins_with(found, window - 2)


def test_without_a_body_there_is_none() -> None:
    assert first_flight([]) is None
    assert first_flight(download(10, 0.5)[:5]) is None
    assert not begins_with(None, 10)
