"""The assignment of least cost: that of SciPy, also where several are equally good."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from h123.causes.assignment import assigned

NONE = 1e12
sizes = st.integers(1, 9)


def matrices(costs: st.SearchStrategy[float]) -> st.SearchStrategy[list[list[float]]]:
    return st.tuples(sizes, sizes).flatmap(
        lambda shape: st.lists(
            st.lists(costs, min_size=shape[1], max_size=shape[1]), min_size=shape[0], max_size=shape[0]
        )
    )


@given(
    st.one_of(
        matrices(st.floats(0, 1e9)),
        matrices(st.integers(0, 3).map(float)),
        matrices(st.one_of(st.just(NONE), st.integers(0, 10**9).map(float))),
    )
)
def test_it_is_that_of_scipy(rows: list[list[float]]) -> None:
    costs = np.array(rows)
    wanted: list[int | None] = [None] * len(rows)
    for row, column in zip(*linear_sum_assignment(costs), strict=True):
        wanted[row] = int(column)
    assert assigned(costs, math.inf) == wanted
    assert assigned(costs, NONE) == [
        None if column is None or costs[row, column] >= NONE else column for row, column in enumerate(wanted)
    ]


@pytest.mark.parametrize("shape", [(60, 60), (40, 90), (90, 40)])
def test_times_that_fit_in_pairs_are_paired(shape: tuple[int, int]) -> None:
    print("seed 20261128")
    random = np.random.default_rng(20261128)
    first, second = (np.sort(random.integers(0, 10**9, size)) for size in shape)
    costs = np.abs(first[:, None] - second[None, :]).astype(float)
    chosen = [(row, column) for row, column in enumerate(assigned(costs, math.inf)) if column is not None]
    assert len({column for _, column in chosen}) == len(chosen) == min(shape)
    rows, columns = linear_sum_assignment(costs)
    assert sum(costs[place] for place in chosen) == costs[rows, columns].sum()
