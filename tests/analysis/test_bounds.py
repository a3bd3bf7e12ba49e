"""Blocks that would part an interval from a bound: about as many campaigns are decided as promised."""

import numpy as np

from h123.analysis import blocks_to_part
from h123.analysis.comparisons.comparison import Pair, PairedComparison
from h123.analysis.comparisons.rows import JudgedComparison
from h123.analysis.statistics.families import Membership
from h123.analysis.statistics.looks import Looks
from h123.analysis.statistics.rule import Rule
from h123.analysis.verdicts.verdict import judge

SEED = 20261124
BOUND = 1.05
BLOCKS = 8


def judged(logs: np.ndarray) -> JudgedComparison:
    pairs = [Pair(block, float(np.exp(log)), 1.0) for block, log in enumerate(logs, 1)]
    comparison = PairedComparison({}, "", "latency", "new", "base", False, Membership("f", "none"), pairs, 0)
    # The level of a second look, which is what the projection is for.
    (found,) = judge([comparison], Rule(0.05, 0.05, Looks([BLOCKS, 200] if len(logs) > BLOCKS else [BLOCKS])))
    return found


def verdicts(planned: int = BLOCKS) -> dict[str, object]:
    looks = {"blocks": [BLOCKS], "planned": [], "rule": "spending", "level": 0.05 * 15 / 16}
    blocks = {"planned": planned, "complete": planned}
    lacks = {"failed": 0, "waiting": 0}
    return {"looks": looks, "alpha": 0.05, "blocks": blocks, "comparisons": [], "projection": lacks}


def undecided(found: JudgedComparison) -> bool:
    return found["low"] <= BOUND < found["high"]


def test_most_campaigns_are_decided_with_the_number_foreseen() -> None:
    print("seed", SEED)
    random, tried, decided = np.random.default_rng(SEED), 0, 0
    for mean in (0.0, 0.03, 0.08):
        for _ in range(60):
            logs = random.normal(mean, 0.05, 200)
            first = judged(logs[:BLOCKS])
            if not undecided(first) or (needed := blocks_to_part(first, BOUND, verdicts())) is None:
                continue
            assert needed > BLOCKS
            tried += 1
            decided += not undecided(judged(logs[:needed]))
    print("decided", decided, "of", tried)
    assert tried > 50
    assert 0.55 <= decided / tried <= 0.95


def test_what_is_on_the_bound_is_never_decided() -> None:
    logs = np.log(BOUND) + 0.05 * np.array([1, -1] * 4)
    assert blocks_to_part(judged(logs), BOUND, verdicts()) is None


def test_a_block_without_a_value_helps_nobody() -> None:
    found = judged(np.random.default_rng(SEED).normal(0.0, 0.05, BLOCKS))
    whole = blocks_to_part(found, BOUND, verdicts())
    assert whole is not None
    assert blocks_to_part(found, BOUND, verdicts(planned=BLOCKS + 3)) == whole + 3
