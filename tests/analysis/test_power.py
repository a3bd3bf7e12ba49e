"""Power: what cannot be found is never found, and what is simulated is what the analysis does."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import nct, norm
from scipy.stats import t as student

from h123.analysis.statistics.families import adjust
from h123.analysis.statistics.power import can_find_one, fewest_blocks, power, rejected
from h123.analysis.statistics.precision import blocks_for, expected_width, half_width, spread, width
from h123.analysis.statistics.signedrank import SignedRank

LEVEL = 0.05 * 15 / 16
SIMULATED = 0.02
"""Beyond what shares of a few hundred simulated campaigns differ by chance."""
CORRECTIONS = st.sampled_from(["holm", "bh"])


def test_one_server_twice_as_fast_among_19_equal_ones_takes_ten_blocks() -> None:
    """The server's ratios hardly vary; the others' do as they please."""
    assert not can_find_one(8, 20, LEVEL)
    assert can_find_one(10, 20, LEVEL)
    assert fewest_blocks(20, LEVEL) == 10
    found = {blocks: power([0.1] * 20, blocks, 1.0, correction="bh", level=LEVEL) for blocks in (8, 10)}
    # With 8 another one's p would have to be as small by chance.
    assert found[8].single < 0.2
    assert found[10].single == found[10].half == found[10].all == found[8].all == 1


@given(st.integers(1, 200))
def test_the_fewest_blocks_can_and_one_less_cannot(size: int) -> None:
    fewest = fewest_blocks(size, LEVEL)
    assert can_find_one(fewest, size, LEVEL)
    assert not can_find_one(fewest - 1, size, LEVEL)


@given(st.lists(st.floats(0, 0.2), min_size=1, max_size=12), CORRECTIONS)
def test_rejected_is_what_the_correction_of_the_analysis_rejects(p: list[float], correction: str) -> None:
    found = rejected(np.array([p]), correction, 0.05)[0].tolist()
    assert found == [adjusted <= 0.05 * (1 + 1e-9) for adjusted in adjust(p, correction)]


def test_power_of_one_comparison_is_nearly_the_t_tests() -> None:
    blocks, effect, varies = 20, 0.05, 0.08
    shift = math.log1p(effect) / varies * math.sqrt(blocks)
    critical = student.isf(LEVEL / 2, blocks - 1)
    of_t = float(nct.sf(critical, blocks - 1, shift) + nct.cdf(-critical, blocks - 1, shift))
    found = power([varies], blocks, effect, correction="holm", level=LEVEL)
    assert found.single == found.half == found.all == pytest.approx(of_t, abs=0.07)


@settings(max_examples=25)
@given(st.integers(1, 8), st.integers(6, 14), CORRECTIONS, st.floats(0.01, 0.3))
def test_power_grows_with_the_effect_and_is_never_more_than_sure(
    size: int, blocks: int, correction: str, varies: float
) -> None:
    small, large = (
        power([varies] * size, blocks, effect, correction=correction, level=LEVEL) for effect in (0.02, 0.5)
    )
    for few, many in ((small.single, large.single), (small.half, large.half), (small.all, large.all)):
        assert 0 <= few <= many <= 1
    if correction == "bh":
        assert large.single <= large.all + SIMULATED, "others that differ help"


def test_a_typical_sample_is_typical() -> None:
    random = np.random.default_rng(1)
    for blocks in (6, 8, 12, 20):
        drawn = [SignedRank(random.normal(0, 1, blocks)).estimate(1 - LEVEL) for _ in range(400)]
        mean = np.mean([(one.high - one.low) / 2 for one in drawn])
        assert half_width(blocks, LEVEL) == pytest.approx(mean, rel=0.12)
    many = norm.isf(LEVEL / 2) * math.sqrt(math.pi / 3 / 200)
    assert half_width(200, LEVEL) == pytest.approx(many, rel=0.02)


@given(st.floats(0.001, 0.5), st.floats(0.01, 0.5))
def test_the_fewest_blocks_for_a_width_give_it_and_one_less_does_not(varies: float, wanted: float) -> None:
    blocks = blocks_for(wanted, varies, LEVEL)
    if blocks is None:
        assert expected_width(varies, 200, LEVEL) > wanted
    else:
        assert expected_width(varies, blocks, LEVEL) <= wanted
        assert blocks == 6 or expected_width(varies, blocks - 1, LEVEL) > wanted


@given(st.floats(0.001, 0.5), st.integers(2, 60), st.floats(0.1, 10))
def test_the_spread_behind_an_interval_is_the_one_that_gives_it(varies: float, blocks: int, middle: float) -> None:
    reach = math.exp(varies * half_width(blocks, LEVEL))
    assert spread(middle / reach, middle * reach, blocks, LEVEL) == pytest.approx(varies)
    assert width(middle / reach, middle * reach) == pytest.approx(expected_width(varies, blocks, LEVEL))
