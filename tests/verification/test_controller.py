"""Controllers are told apart by what they do after losses; a model of each stands for senders here."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from h123.verification.controller import LOSSES, RATE_BPS, ROUND_TRIP_NS, Arrival, behaviour, read_arrivals
from verification.flights import PACKET, falling, flights

RENO = flights(falling(0.5, 1))


@pytest.mark.parametrize(
    ("name", "window"),
    [
        ("reno", falling(0.5, 1)),
        ("cubic", falling(0.7, 0.53)),
        ("cubic", falling(0.7, 2)),
        ("cubic", falling(0.85, 0.5)),  # one that stands for two connections
    ],
)
def test_windows_that_fall(name: str, window: Callable[[float, bool], float]) -> None:
    assert behaviour(flights(window)).controller == name


def test_a_rate_that_losses_do_not_change_is_bbr() -> None:
    limit = RATE_BPS * ROUND_TRIP_NS / 8e9 / PACKET
    assert behaviour(flights(lambda last, _: last * 2, limit)).controller == "bbr"


def test_a_window_that_losses_do_not_change_is_fixed() -> None:
    assert behaviour(flights(lambda last, _: last * 2, limit=50)).controller == "fixed"


def test_who_restores_the_window_after_a_single_loss_has_cubic() -> None:
    seen = behaviour(flights(falling(0.7, 1)))
    assert replace(seen, after_one=1.0).controller == "cubic"
    assert replace(seen, after_one=None).controller is None


def delayed(seen: list[Arrival], trips: float, packets_before: list[int]) -> list[Arrival]:
    """Before each loss the sender waits so long, so many packets ahead of it."""
    lost = [first - sum(count for begun, count in LOSSES if begun < first) for first, _ in LOSSES]
    for index in sorted((i - ahead for i in lost for ahead in packets_before if i > ahead), reverse=True):
        seen = seen[:index] + [replace(a, at_ns=a.at_ns + int(trips * ROUND_TRIP_NS)) for a in seen[index:]]
    return seen


def test_short_waits_for_a_processor_do_not_change_the_answer() -> None:
    assert behaviour(delayed(RENO, 0.9, [20, 60])).controller == "reno"


@pytest.mark.parametrize("trips", [2, 5])
def test_long_ones_before_each_loss_leave_nothing_to_tell(trips: float) -> None:
    assert behaviour(delayed(RENO, trips, [20])).controller is None


def test_what_was_seen_is_said() -> None:
    said = str(behaviour(RENO))
    assert "% of the link, a loss left 0.5" in said
    assert "of the window, a burst of losses left 0.5" in said


def test_a_download_that_met_no_loss_tells_nothing() -> None:
    slow = [Arrival(number * 10**9, PACKET) for number in range(100)]
    assert behaviour(slow).controller is None


def test_arrivals_are_read_as_the_probe_writes_them(tmp_path: Path) -> None:
    (tmp_path / "arrivals.csv").write_text("at_ns,bytes\n5,1252\n7,40\n")
    assert read_arrivals(tmp_path / "arrivals.csv") == [Arrival(5, 1252), Arrival(7, 40)]
