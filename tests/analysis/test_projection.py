"""Projections come true: about as many campaigns as promised have a verdict with the number of blocks projected."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from h123.analysis.comparisons.comparison import Pair, PairedComparison
from h123.analysis.comparisons.projection import LIMIT, Levels, pairs_needed, project
from h123.analysis.statistics.families import Membership
from h123.analysis.statistics.looks import Looks
from h123.analysis.statistics.remedy import Remedy
from h123.analysis.statistics.rule import Rule
from h123.analysis.verdicts.outlook import seconds_per_trial
from h123.analysis.verdicts.verdict import judge

SEED = 20261122
RULE = Rule(0.05, 0.05, Looks([5]))
ALONE = Levels(RULE.level, RULE.level)
"""As if the look with more blocks had the level of the first."""


def judged(logs: np.ndarray, correction: str = "none") -> list[dict[str, Any]]:
    """`logs`: (comparisons, blocks) of log ratios, in one family."""
    family = Membership("f", correction)
    return judge(
        [
            PairedComparison(
                {}, "", "latency", "a", "b", False, family, [Pair(i, float(np.exp(x)), 1.0) for i, x in numbered], 0
            )
            for numbered in (list(enumerate(row, start=1)) for row in logs)
        ],
        RULE,
    )


def projected(logs: list[float], remedy: Remedy, correction: str = "none") -> dict[str, Any] | None:
    (found,) = project(judged(np.array([logs]), correction), replace(RULE, remedy=remedy))
    return found["projection"]


@pytest.mark.parametrize(("mean", "spread"), [(0.15, 0.2), (0.05, 0.1), (0.0, 0.06)])
def test_projected_numbers_decide_most_campaigns(mean: float, spread: float) -> None:
    """Campaigns that six blocks leave undecided, gone on with to the number projected."""
    print("seed", SEED)
    share = decided(np.random.default_rng(SEED).normal(mean, spread, (100, LIMIT)))
    print("decided", share)
    assert 0.6 <= share <= 0.95


def test_projected_numbers_decide_campaigns_of_all_kinds() -> None:
    print("seed", SEED)
    random = np.random.default_rng(SEED)
    means, spreads = random.normal(0, 0.15, (120, 1)), random.uniform(0.03, 0.25, (120, 1))
    share = decided(means + spreads * random.standard_normal((120, LIMIT)))
    print("decided", share)
    assert 0.6 <= share <= 0.95


def decided(logs: np.ndarray) -> float:
    """The share of the campaigns undecided after six blocks that have a verdict with the number projected."""
    verdicts = []
    for row, first in zip(logs, judged(logs[:, :6]), strict=True):
        if first["verdict"] == "inconclusive" and (blocks := pairs_needed(list(row[:6]), 0.05, ALONE)):
            (then,) = judged(row[None, :blocks])
            verdicts.append(then["verdict"] != "inconclusive")
    assert len(verdicts) >= 40
    return float(np.mean(verdicts))


def test_the_number_is_the_first_with_enough_power() -> None:
    """The sample size in tables of the paired t test: 34 at alpha 0.05 and power 0.8."""
    half_a_deviation = [-1.0, 1.0, 3.0]
    assert pairs_needed(half_a_deviation, 0.001, ALONE) == pytest.approx(34, abs=1)


def test_a_family_asks_for_more() -> None:
    logs = [0.4, -0.1, 0.3, 0.1, -0.05, 0.2]
    alone = pairs_needed(logs, 0.05, ALONE)
    corrected = pairs_needed(logs, 0.05, Levels(0.005, 0.005))
    assert alone is not None
    assert corrected is not None
    assert alone < corrected


def test_out_of_reach_is_said() -> None:
    wide = [2.0, -2.0, 2.1, -1.9, 1.5, -1.6]
    assert projected(wide, Remedy(6)) == {"blocks": None, "basis": "beyond"}


def test_more_blocks_are_more_than_planned_or_none() -> None:
    logs = [0.4, -0.1, 0.3, 0.1, -0.05, 0.2]
    plain = projected(logs, Remedy(6))
    assert plain is not None
    assert plain["basis"] == "spread"
    assert plain["blocks"] > 6
    # Of 8 blocks 2 have no value on one side: they do not count later either.
    assert projected(logs, Remedy(8)) == {"blocks": plain["blocks"] + 2, "basis": "spread"}
    assert projected(logs, Remedy(100, failed=2)) == {"blocks": None, "basis": "trials"}


def test_one_block_names_the_fewest() -> None:
    assert projected([0.3], Remedy(1)) == {"blocks": 6, "basis": "fewest"}
    assert projected([0.3], Remedy(6, waiting=60)) == {"blocks": None, "basis": "trials"}


def test_the_decided_need_nothing() -> None:
    assert projected([0.3, 0.31, 0.29, 0.3, 0.32, 0.28], Remedy(6)) is None
    assert projected([0.0] * 6, Remedy(6)) is None


@pytest.mark.parametrize(
    ("has", "needed", "have", "said"),
    [
        (Remedy(6), 9, 6, "run `--blocks 9`"),
        (Remedy(6), 6, 4, "run `--blocks 8`"),
        (Remedy(6), 6, 0, None),
        (
            Remedy(6, failed=3, waiting=1),
            6,
            4,
            "3 trials have no valid attempt: `h123 run --out DIR --retry` tries them again",
        ),
        (Remedy(6, waiting=1), 6, 5, "1 trial has not been run: `h123 run --out DIR` runs them"),
        (Remedy(6, damaged=2), 6, 4, "2 trials have damaged or missing files: `h123 run --out DIR` repeats them"),
        (Remedy(1, imported=True), 6, 1, "measure and import 6 blocks"),
    ],
)
def test_advice_adds_something(has: Remedy, needed: int, have: int, said: str | None) -> None:
    assert has.enough(needed, have) == said


def event(name: str, at: int, trial: str = "", seconds: float = 0.0) -> dict[str, Any]:
    return {
        "event": name,
        "time": f"2026-11-22T05:{at // 60:02}:{at % 60:02}.000+00:00",
        "trial": trial,
        "seconds": seconds,
    }


def test_pace_counts_work_and_not_pauses() -> None:
    first = [event("campaign", 0), event("trial", 13, "a", 3), event("trial", 20, "b", 4), event("interrupted", 21)]
    # An hour later; two lanes, and a repeated attempt.
    later = [
        event("resume", 3000),
        event("trial", 3010, "c", 8),
        event("trial", 3011, "c", 5),
        event("trial", 3012, "d", 9),
    ]
    assert seconds_per_trial([*first, *later]) == pytest.approx((10 + 10) / 4)
    assert seconds_per_trial([event("campaign", 0)]) is None
    assert seconds_per_trial([{"event": "import"}, {"event": "trial", "trial": "x"}]) is None
