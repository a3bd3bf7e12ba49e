"""The unpaired interval: as often right as it says, whatever the two samples' spreads are."""

import math

import numpy as np
import pytest
from scipy import stats

from h123.diff import CONFIDENCE, FEWEST, blocks_to_part, interval

SEED = 20261124
TIMES = 800


@pytest.mark.parametrize("sizes", [(8, 0.1, 8, 0.1), (8, 0.05, 8, 0.2), (6, 0.3, 30, 0.1)])
def test_it_holds_the_truth_as_often_as_it_says(sizes: tuple[int, float, int, float]) -> None:
    print("seed", SEED)
    random, truth, held = np.random.default_rng(SEED), 1.07, 0
    for _ in range(TIMES):
        before = random.normal(0.0, sizes[1], sizes[0])
        after = random.normal(math.log(truth), sizes[3], sizes[2])
        found = interval(list(before), list(after))
        assert found
        assert found.low
        assert found.high
        held += found.low <= truth <= found.high
    error = 3.3 * math.sqrt(CONFIDENCE * (1 - CONFIDENCE) / TIMES)
    print("held", held / TIMES)
    assert abs(held / TIMES - CONFIDENCE) <= error


def test_it_is_that_of_the_library() -> None:
    random = np.random.default_rng(SEED)
    before, after = list(random.normal(0, 0.1, 7)), list(random.normal(0.2, 0.2, 9))
    found = interval(before, after)
    assert found
    p = stats.ttest_ind(np.array(after) - math.log(found.high or 0), before, equal_var=False).pvalue
    assert p == pytest.approx(1 - CONFIDENCE)
    assert found.ratio == pytest.approx(math.exp(np.mean(after) - np.mean(before)))


def test_what_does_not_vary_is_known_exactly() -> None:
    found = interval([0.0] * FEWEST, [math.log(1.25)] * FEWEST)
    assert found
    assert found.low == found.high == pytest.approx(1.25)
    assert interval([0.0], [0.0] * 9) is None


def test_blocks_foreseen_decide_about_as_often_as_promised() -> None:
    print("seed", SEED)
    random, decided, tried = np.random.default_rng(SEED), 0, 0
    for _ in range(200):
        before, after = np.exp(random.normal(0, 0.05, 8)), np.exp(random.normal(0.1, 0.1, 8))
        if (needed := blocks_to_part(list(before), list(after), 1.05)) is None:
            continue
        tried += 1
        longer = random.normal(0, 0.05, needed), random.normal(0.1, 0.1, needed)
        found = interval(list(longer[0]), list(longer[1]))
        assert found
        decided += not (found.low or 0) <= 1.05 < (found.high or math.inf)
    print("decided", decided, "of", tried)
    assert tried > 100
    assert 0.5 <= decided / tried <= 0.95


def test_too_few_values_tell_of_no_spread() -> None:
    assert blocks_to_part([1.0], [2.0], 1.05) == FEWEST
    assert blocks_to_part([1.0] * 6, [1.0] * 6, 1.0) is None
