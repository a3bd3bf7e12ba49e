"""Series in bins."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from h123.flow import Bins

TIMES = st.lists(st.integers(0, 10**12), min_size=1, max_size=60)


@given(st.integers(0, 10**15), st.integers(0, 10**13), st.integers(1, 500))
def test_bins_hold_both_ends_and_are_no_more_than_asked_for(begin: int, span: int, most: int) -> None:
    bins = Bins.covering(begin, begin + span, most)
    assert 1 <= bins.count <= most
    assert bins.begin <= begin
    assert begin + span < bins.begin + bins.width * bins.count
    assert str(bins.width)[0] in "125"
    assert set(str(bins.width)[1:]) <= {"0"}


@given(TIMES, st.integers(1, 300))
def test_sums_lose_nothing_of_what_is_inside(times: list[int], most: int) -> None:
    bins = Bins.covering(min(times), max(times), most)
    amounts = np.arange(1, len(times) + 1)
    assert bins.sums(times, amounts).sum() == amounts.sum()
    assert bins.counts(times).sum() == len(times)


def test_what_is_outside_is_left_out() -> None:
    assert Bins(10, 10, 2).sums([9, 10, 19, 20, 29, 30], [1, 2, 4, 8, 16, 32]).tolist() == [6, 24]


@given(st.lists(st.tuples(st.integers(0, 999), st.integers(1, 50), st.integers(1, 9)), min_size=1, max_size=30))
def test_the_highest_level_is_that_of_every_moment(spans: list[tuple[int, int, int]]) -> None:
    """Each span adds its amount from its begin until before its end."""
    times = [begin for begin, _, _ in spans] + [begin + length for begin, length, _ in spans]
    changes = [amount for *_, amount in spans] + [-amount for *_, amount in spans]
    bins = Bins(0, 25, 44)
    moments = np.array([sum(a for b, n, a in spans if b <= t < b + n) for t in range(bins.width * bins.count)])
    assert bins.highest(times, changes).tolist() == moments.reshape(bins.count, bins.width).max(axis=1).tolist()


def test_a_bin_without_values_has_none() -> None:
    bins = Bins(0, 10, 3)
    assert np.array_equal(bins.medians([1, 2, 3, 25], [5, 7, 100, 4]), [7, np.nan, 4], equal_nan=True)
    assert np.array_equal(bins.largest([25, 1, 2], [4, 5, 7]), [7, np.nan, 4], equal_nan=True)


def test_no_time_at_all_is_one_bin() -> None:
    assert Bins.covering(5, 5, 400) == Bins(5, 1, 1)
    assert Bins(0, 10, 2).medians([], []) == pytest.approx([np.nan, np.nan], nan_ok=True)
