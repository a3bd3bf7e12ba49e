"""Slow start by arithmetic: known answers, and what must hold of any body."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from h123.study.round_trips import Straight, download_s, slow_start_round_trips

HOME = Straight(round_trip_s=0.03, rate_bps=20_000_000)
FAST = Straight(round_trip_s=0.1, rate_bps=1e12)


@pytest.mark.parametrize(("packets", "round_trips"), [(1, 0), (10, 0), (11, 1), (30, 1), (31, 2), (70, 2), (71, 3)])
def test_each_round_trip_doubles_what_was_sent(packets: int, round_trips: int) -> None:
    assert download_s(packets, 1500, 10, FAST) == pytest.approx(0.05 + 0.1 * round_trips, rel=1e-4)
    assert slow_start_round_trips(packets, 10) == round_trips


def test_a_buffer_ends_the_growth() -> None:
    assert download_s(40, 1500, 10, FAST, most=10) == pytest.approx(0.05 + 0.3, rel=1e-4)


def test_what_32_packets_save_a_page_of_100_kb_at_home() -> None:
    """41 ms were measured with `ip route change ... initcwnd 32`, where the first flight is still on its way when the
    first acknowledgement comes back."""
    assert download_s(72, 1500, 10, HOME) - download_s(72, 1500, 32, HOME) == pytest.approx(0.041, abs=0.003)


@given(st.integers(1, 500), st.integers(1, 100), st.integers(1, 100))
def test_a_larger_window_is_never_slower(packets: int, one: int, more: int) -> None:
    assert download_s(packets, 1500, one + more, HOME) <= download_s(packets, 1500, one, HOME) + 1e-12


@given(st.integers(1, 500), st.integers(1, 100))
def test_never_faster_than_the_link(packets: int, window: int) -> None:
    least = HOME.round_trip_s / 2 + HOME.bits_s(1500 * packets)
    assert download_s(packets, 1500, window, HOME) >= least - 1e-12
