"""Controllers are told apart by what they do after losses; a model of each stands for senders here."""

from collections.abc import Callable
from pathlib import Path

import pytest

from h123.verification.controller import RATE_BPS, ROUND_TRIP_NS, Arrival, behaviour, read_arrivals
from verification.flights import PACKET, falling, flights


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


def test_what_was_seen_is_said() -> None:
    said = str(behaviour(flights(falling(0.5, 1))))
    assert "% of the link" in said
    assert "of the window" in said


def test_a_download_that_met_no_loss_tells_nothing() -> None:
    slow = [Arrival(number * 10**9, PACKET) for number in range(100)]
    assert behaviour(slow).controller is None


def test_arrivals_are_read_as_the_probe_writes_them(tmp_path: Path) -> None:
    (tmp_path / "arrivals.csv").write_text("at_ns,bytes\n5,1252\n7,40\n")
    assert read_arrivals(tmp_path / "arrivals.csv") == [Arrival(5, 1252), Arrival(7, 40)]
