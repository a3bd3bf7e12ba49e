"""What requests beside one another tell, held against what was put in."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from h123.measures.timeline import Timeline, Times, course, timeline
from h123.store.rows import Rows

MS, SECOND = 1_000_000, 1_000_000_000


@dataclass(frozen=True)
class Requests:
    """Columns of samples."""

    users: Times
    starts: Times
    durations: Times

    def timeline(self, *, timed: bool = True) -> Timeline:
        return course(self.starts, self.starts + self.durations, self.users, timed=timed)

    def picked(self, rows: Any) -> "Requests":
        return Requests(self.users[rows], self.starts[rows], self.durations[rows])


def closed_loop(users: int, requests: int, seed: int) -> Requests:
    """Each user's requests follow one another; no clock rounds the times."""
    random = np.random.default_rng(seed)
    durations = random.integers(MS, 50 * MS, (users, requests))
    starts = random.integers(0, MS, (users, 1)) + np.cumsum(durations, axis=1) - durations
    return Requests(np.repeat(np.arange(users), requests), starts.ravel(), durations.ravel())


LOOPS = st.builds(closed_loop, st.integers(1, 20), st.integers(5, 30), st.integers(0, 1000))


@given(rows=LOOPS)
def test_a_closed_loop_has_no_more_under_way_than_users(rows: Requests) -> None:
    flying = rows.timeline().in_flight
    assert flying is not None
    assert 1 <= flying <= len(np.unique(rows.users))


@given(rows=LOOPS, order=st.randoms(use_true_random=False))
def test_the_order_of_the_rows_changes_nothing(rows: Requests, order: Any) -> None:
    places = list(range(len(rows.starts)))
    order.shuffle(places)
    assert rows.picked(places).timeline() == rows.timeline()


@given(rows=LOOPS, data=st.data())
def test_rows_that_are_there_twice_are_counted(rows: Requests, data: st.DataObject) -> None:
    assert rows.timeline().repeats == 0
    again = data.draw(st.sets(st.integers(0, len(rows.starts) - 1)))
    assert rows.picked([*range(len(rows.starts)), *again]).timeline().repeats == len(again)


def test_requests_at_once_that_users_tell_apart_are_not_repeated() -> None:
    """As under the virtual clock, where several begin and end in the same instant."""
    rows = closed_loop(1, 30, 1)
    both = Requests(np.concatenate([rows.users, rows.users + 1]), np.tile(rows.starts, 2), np.tile(rows.durations, 2))
    assert both.timeline().repeats == 0
    assert replace(both, users=0 * both.users).timeline().repeats == 30


@given(seed=st.integers(0, 1000))
def test_durations_alone_tell_of_series_that_are_there_twice(seed: int) -> None:
    rows = closed_loop(1, 100, seed)
    assert rows.timeline(timed=False) == Timeline(repeats=0, sums=rows.timeline().sums)
    assert rows.picked([*range(100), *range(60, 90)]).timeline(timed=False).repeats == 30
    shuffled = np.random.default_rng(seed).permutation([*range(100), *range(100)])
    assert rows.picked(shuffled).timeline(timed=False).repeats == 100


def test_durations_that_a_clock_makes_alike_tell_nothing() -> None:
    rows = closed_loop(1, 200, 1)
    coarse = replace(rows, durations=rows.durations // (10 * MS) * 10 * MS)
    assert coarse.timeline(timed=False) == Timeline()


@given(rows=LOOPS, place=st.integers(0, 10_000), still=st.integers(1, 100))
def test_a_pause_of_all_users_is_found(rows: Requests, place: int, still: int) -> None:
    at = int(np.sort(rows.starts + rows.durations)[place % (len(rows.starts) - 1)])
    later = replace(rows, starts=np.where(rows.starts >= at, rows.starts + still * SECOND, rows.starts))
    held = replace(
        later,
        durations=np.where(
            (rows.starts < at) & (rows.starts + rows.durations > at), rows.durations + still * SECOND, rows.durations
        ),
    )
    found = held.timeline().still_ns
    assert found is not None
    assert still * SECOND <= found <= still * SECOND + 50 * MS


def test_sums_tell_durations_apart() -> None:
    rows = closed_loop(3, 40, 1)
    other = replace(rows, durations=rows.durations + (np.arange(120) == 7))
    moved = replace(rows, starts=rows.starts + 77 * SECOND)
    assert rows.timeline().sums == moved.timeline().sums
    assert None is not rows.timeline().sums != other.timeline().sums
    assert replace(rows, durations=rows.durations * 0 + MS).timeline().sums is None


def _written(path: Path, rows: Requests) -> Path:
    usual: dict[str, Any] = {"phase": "warm", "start_ns": 0, "status": 200, "error": ""}
    samples = [
        {**usual, "user": user, "start_ns": start, "end_ns": start + duration, "first_byte_ns": start}
        for user, start, duration in zip(rows.users, rows.starts, rows.durations, strict=True)
    ]
    Rows.of([*samples, usual]).write(path)
    return path


def test_files_are_read_as_they_are(tmp_path: Path) -> None:
    """Each for itself; a row without times is none."""
    many = {tmp_path / f"{seed}.parquet": closed_loop(4, 25, seed) for seed in range(7)}
    cold = tmp_path / "cold.parquet"
    Rows.of([]).write(cold)
    for path, rows in many.items():
        assert timeline(Rows.read(_written(path, rows)), timed=True) == rows.timeline()
    assert timeline(Rows.read(cold), timed=True) == Timeline()
