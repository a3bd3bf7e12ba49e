"""From pairs to one of four words: known answers, symmetries, and the error rates of the whole chain."""

import itertools
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from h123.analysis.comparisons.comparison import TWINS, Pair, PairedComparison
from h123.analysis.statistics.families import Membership
from h123.analysis.statistics.looks import Looks
from h123.analysis.statistics.rule import Rule
from h123.analysis.statistics.signedrank import size
from h123.analysis.verdicts.twins import twin_rate
from h123.analysis.verdicts.verdict import judge

RULE = Rule(margin=0.05, alpha=0.05, looks=Looks([8]))
ANSWER = Membership("answer", "holm")


def comparison(
    ratios: list[float], metric: str = "latency", family: Membership = ANSWER, one_sided: int = 0, **other: Any
) -> PairedComparison:
    pairs = [Pair(block, ratio * block, 1.0 * block) for block, ratio in enumerate(ratios, 1)]
    fixed = {"cell": {"network": "poor"}, "workload": "GET 1 kB", "a": "x", "b": "y", "twin": family is TWINS}
    return PairedComparison(**{**fixed, **other}, metric=metric, family=family, pairs=pairs, one_sided=one_sided)


def verdict(ratios: list[float], **other: Any) -> dict[str, Any]:
    (found,) = judge([comparison(ratios, **other)], RULE)
    return found


BELOW = [0.70, 0.72, 0.69, 0.75, 0.71, 0.68]
SAME = [1.001, 0.999, 1.002, 0.998, 1.003, 0.997]
WIDE = [0.5, 2.0, 0.7, 1.4, 1.1, 0.9]


@pytest.mark.parametrize(
    ("ratios", "metric", "word"),
    [
        (BELOW, "latency", "faster"),
        ([1 / ratio for ratio in BELOW], "latency", "slower"),
        (BELOW, "goodput", "slower"),
        ([1 / ratio for ratio in BELOW], "goodput", "faster"),
        (BELOW, "cpu", "lower"),
        ([1 / ratio for ratio in BELOW], "sent_down", "higher"),
        (SAME, "latency", "equivalent"),
        # A difference that is there, and too small to matter.
        ([1.01, 1.012, 1.009, 1.011, 1.013, 1.008], "latency", "equivalent"),
        (WIDE, "latency", "inconclusive"),
        (BELOW[:5], "latency", "inconclusive"),
    ],
)
def test_four_verdicts(ratios: list[float], metric: str, word: str) -> None:
    assert verdict(ratios, metric=metric)["verdict"] == word


def test_figures_of_a_comparison() -> None:
    found = verdict(BELOW)
    assert found["ratio"] == pytest.approx(0.707, abs=0.01)
    assert (found["low"], found["high"]) == (pytest.approx(0.68), pytest.approx(0.75))
    assert (found["confidence"], found["p"], found["p_attainable"]) == (0.96875, 0.03125, 0.03125)
    assert (found["blocks"], found["note"]) == (6, None)
    assert found["pairs"][1] == {"block": 2, "a": pytest.approx(1.44), "b": 2.0, "ratio": pytest.approx(0.72)}


def test_too_few_blocks_are_told_with_the_number_needed() -> None:
    nine = [comparison(BELOW, cell={"network": str(i)}) for i in range(9)]
    for found in judge(nine, RULE):
        assert found["verdict"] == "inconclusive"
        assert found["note"] == "6 blocks: p cannot fall below 0.031, too much for Holm over 9"
        assert (found["family_size"], found["p_adjusted"]) == (9, 9 * 0.03125)


def test_a_clear_difference_that_a_sweep_drowns_is_told() -> None:
    sweep = Membership("sweep", "bh")
    drowned, *_ = judge([comparison(BELOW, family=sweep), *[comparison(WIDE, family=sweep)] * 9], RULE)
    assert drowned["verdict"] == "inconclusive"
    assert drowned["note"].endswith("Benjamini-Hochberg over 10 raises it above 0.0469")


def test_few_pairs_say_what_their_interval_is_worth() -> None:
    assert "the interval has 87.5 % confidence with 4 blocks: 95 % needs 6" in verdict(BELOW[:4])["note"]
    assert verdict(BELOW[:1])["p"] == 1.0


def test_one_sided_blocks_are_told() -> None:
    found = verdict(BELOW, one_sided=2)
    assert found["verdict"] == "faster"
    assert "left out because only one side has a value: 2 blocks" in found["note"]


def test_no_values_are_no_verdict_and_take_no_part_in_the_correction() -> None:
    empty, full = judge([comparison([]), comparison(BELOW)], RULE)
    assert (empty["verdict"], empty["ratio"], empty["p"], empty["family_size"]) == ("inconclusive", None, None, 0)
    assert "no block has a value" in empty["note"]
    assert (full["family_size"], full["verdict"]) == (1, "faster")


def test_an_outlying_block_turns_no_verdict() -> None:
    """The test's statistic is the interval's: a mean would say p = .387 beside an interval from 0.70 to 0.70."""
    found = verdict([0.7] * 12 + [8.0])
    assert found["verdict"] == "faster"
    assert found["high"] < 1


def test_sure_but_small_is_not_the_same_as_no_difference() -> None:
    small, none = verdict([1.04] * 8), verdict(SAME)
    assert (small["verdict"], small["small"]) == ("equivalent", "slower")
    assert (none["verdict"], none["small"]) == ("equivalent", None)
    assert verdict([1.0] * 5)["verdict"] == "inconclusive"


def test_a_side_that_fails_loses_those_blocks() -> None:
    """Faster where it answers, but a third of its trials give no answer: not faster."""
    pairs = [Pair(block, 0.8, 1.0) for block in range(1, 9)] + [Pair(block, math.inf, 1.0) for block in range(9, 13)]
    (found,) = judge([replace(comparison([]), pairs=pairs)], RULE)
    assert found["verdict"] == "inconclusive"
    assert found["failed"] == {"a": [9, 10, 11, 12], "b": []}
    assert "x failed in 4 blocks" in found["note"]
    (lost,) = judge([replace(comparison([]), pairs=[Pair(block, math.inf, 1.0) for block in range(1, 9)])], RULE)
    assert (lost["verdict"], lost["ratio"], lost["pairs"]) == ("slower", None, [])


def test_a_ratio_that_no_number_holds_is_none() -> None:
    (found,) = judge([replace(comparison([]), pairs=[Pair(block, 1e300, 1e-300) for block in range(1, 9)])], RULE)
    assert (found["verdict"], found["ratio"]) == ("slower", None)


def test_twins_stand_apart_and_their_rate_beside_the_expected_one() -> None:
    compared = [comparison(BELOW, family=TWINS), comparison(WIDE, family=TWINS), comparison(BELOW)]
    found = judge(compared, RULE)
    assert found[0]["p_adjusted"] == found[0]["p"]
    assert found[2]["family_size"] == 1
    rate = twin_rate(compared, found, 0.05, seed=1)
    assert {name: rate[name] for name in ("comparisons", "rejected", "rate")} == {
        "comparisons": 2,
        "rejected": 1,
        "rate": 0.5,
    }
    assert rate["expected"] == 0.03125
    assert twin_rate([], [], 0.05, seed=1)["rate"] is None


ratios_ = st.lists(st.floats(0.5, 2.0), min_size=2, max_size=9)
MIRRORED = {"faster": "slower", "slower": "faster"}


@settings(max_examples=50)
@given(ratios_, st.floats(1e-3, 1e3))
@example([1.0, 1.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0], 3.0)  # triples that lean by rounding alone
def test_swapping_sides_inverts_and_scaling_changes_nothing(ratios: list[float], scale: float) -> None:
    one = comparison(ratios, family=TWINS)  # uncorrected, for speed
    swapped = PairedComparison(**{**vars(one), "pairs": [Pair(p.block, p.b, p.a) for p in one.pairs]})
    scaled = PairedComparison(**{**vars(one), "pairs": [Pair(p.block, p.a * scale, p.b * scale) for p in one.pairs]})
    shuffled = PairedComparison(**{**vars(one), "pairs": one.pairs[::-1]})
    (base,), (mirror,), (same,), (again,) = (judge([c], RULE) for c in (one, swapped, scaled, shuffled))
    assert mirror["ratio"] == pytest.approx(1 / base["ratio"])
    assert (mirror["low"], mirror["high"]) == (pytest.approx(1 / base["high"]), pytest.approx(1 / base["low"]))
    assert mirror["verdict"] == MIRRORED.get(base["verdict"], base["verdict"])
    for other in (same, again):
        assert other["ratio"] == pytest.approx(base["ratio"])
        assert other["p"] == pytest.approx(base["p"])
        assert other["verdict"] == base["verdict"]


REQUESTS, CORRELATION, CAMPAIGNS = 100, 0.2, 2000


def simulate(seed: int, blocks: int, effect: float, block_noise: float) -> list[dict[str, Any]]:
    """Verdicts of many campaigns of one comparison of medians: 100 requests a trial, log times with correlation .2
    inside the trial (the setting of the design's table), block noise shared by both sides."""
    random = np.random.default_rng(seed)
    shared = random.normal(0, block_noise, (CAMPAIGNS, blocks, 1))
    trial = random.normal(0, CORRELATION**0.5, (CAMPAIGNS, blocks, 2))
    request = random.normal(0, (1 - CORRELATION) ** 0.5, (CAMPAIGNS, blocks, 2, REQUESTS))
    medians = shared + trial + np.median(request, axis=-1) + np.array([effect, 0.0])
    values = np.exp(medians)
    return list(
        itertools.chain.from_iterable(
            judge(
                [
                    PairedComparison(
                        {},
                        "",
                        "latency",
                        "x",
                        "y",
                        True,
                        TWINS,
                        [Pair(b + 1, float(a), float(c)) for b, (a, c) in enumerate(campaign)],
                        0,
                    )
                    for campaign in batch
                ],
                RULE,
            )
            for batch in np.array_split(values, 4)
        )
    )


@pytest.mark.parametrize(("seed", "blocks"), [(11, 6), (12, 8), (13, 10)])
def test_false_positives_are_as_many_as_claimed(seed: int, blocks: int) -> None:
    """No true difference: rejections within the 99.9 % binomial band of the attainable size, which alpha bounds."""
    print("seed", seed)
    found = simulate(seed, blocks, effect=0.0, block_noise=0.5)
    expected = size(blocks, RULE.alpha)
    band = 3.3 * (expected * (1 - expected) / CAMPAIGNS) ** 0.5
    assert abs(sum(one["p"] <= RULE.alpha for one in found) / CAMPAIGNS - expected) <= band
    assert sum(one["low"] > 1 or one["high"] < 1 for one in found) / CAMPAIGNS <= 1 - found[0]["confidence"] + band


def test_power_in_the_setting_of_the_design() -> None:
    """10 blocks, a difference of one standard deviation of a trial's level, shared block noise of twice that: seen."""
    seed = 14
    print("seed", seed)
    found = simulate(seed, 10, effect=CORRELATION**0.5, block_noise=1.0)
    power = sum(one["p"] <= RULE.alpha for one in found) / CAMPAIGNS
    print("power", power)
    assert power > 0.4
    assert all(one["verdict"] != "faster" for one in found if one["ratio"] > 1)
