"""Counts how often A/A pairs, which compare a treatment with itself, differ, and how often they should differ by
chance.

The metrics of one trial are correlated, so several comparisons tend to be rejected together, and the number of
rejections is not binomial. Its distribution follows from the null hypothesis: in each block of each cell, chance
decides whether the two runs are swapped, for all metrics together (Westfall and Young, Resampling-Based Multiple
Testing, 1993).
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
from typing_extensions import TypedDict

from h123.analysis.case import Case
from h123.analysis.comparisons.comparison import PairedComparison, compared
from h123.analysis.comparisons.rows import JudgedComparison
from h123.analysis.section import Section
from h123.analysis.statistics.signedrank import Floats, cumulative, size
from h123.analysis.verdicts.judgement import comparisons


class TwinRate(TypedDict):
    comparisons: int
    rejected: int
    """The number of A/A comparisons in which the test finds a difference."""
    rate: float | None
    expected: float | None
    """How often the test finds a difference by chance with this number of blocks: the largest attainable p not above
    alpha."""
    most: int | None
    """The number of rejections that 99 of 100 sound campaigns do not exceed."""
    verdict: str | None
    """`as expected` or `more than expected`."""


SWAPS = 4000
BAND = 0.99
"""The probability that a sound campaign has at most `most` rejections."""
AS_EXPECTED, MORE = "as expected", "more than expected"


def twin_rate(
    comparisons: Sequence[PairedComparison], rows: Sequence[JudgedComparison], alpha: float, seed: int
) -> TwinRate:
    """Return the `twins` part of verdicts.json. `rows` are the judged `comparisons`, in the same order."""
    both = [(c, row) for c, row in zip(comparisons, rows, strict=True) if c.twin and not c.repeats]
    twins = [(c, p) for c, row in both if (p := row["p"]) is not None]
    if not twins:
        return {"comparisons": 0, "rejected": 0, "rate": None, "expected": None, "most": None, "verdict": None}
    rejected = sum(p <= alpha for _, p in twins)
    most = int(np.quantile(_by_chance([c for c, _ in twins], alpha, seed), BAND, method="higher"))
    return {
        "comparisons": len(twins),
        "rejected": rejected,
        "rate": rejected / len(twins),
        "expected": float(np.mean([size(len(c.pairs), alpha) for c, _ in twins])),
        "most": most,
        "verdict": AS_EXPECTED if rejected <= most else MORE,
    }


def _by_chance(twins: Sequence[PairedComparison], alpha: float, seed: int) -> Floats:
    """Return, for each of `SWAPS` random swaps, the number of comparisons in which the test rejects."""
    random, counts = np.random.default_rng(seed), np.zeros(SWAPS)
    cells: dict[tuple[str, ...], list[PairedComparison]] = defaultdict(list)
    for twin in twins:
        cells[tuple(twin.cell.values())].append(twin)
    for members in cells.values():
        blocks = sorted({pair.block for twin in members for pair in twin.pairs})
        signs = random.random((SWAPS, len(blocks))) < 0.5
        for twin in members:
            there = [blocks.index(pair.block) for pair in twin.pairs]
            counts += _rejected(np.array([pair.log_ratio for pair in twin.pairs]), signs[:, there], alpha)
    return counts


def _rejected(differences: Floats, signs: Any, alpha: float) -> Any:
    """Return, for each row of `signs`, whether the signed-rank test rejects. `signs` has the shape (swaps, pairs); true
    means that the pair keeps its sign."""
    ranks = _ranks(np.abs(differences)) * (differences != 0)
    positive = np.where(signs, differences > 0, differences < 0)
    above = positive @ ranks
    most = len(ranks) * (len(ranks) + 1) / 2
    # Zeros and ties count against a difference on both sides (signedrank.py).
    against = np.ceil(most - np.maximum(above, ranks.sum() - above)).astype(int)
    return np.minimum(1.0, 2 * cumulative(len(ranks))[against]) <= alpha


def _ranks(values: Floats) -> Floats:
    """Return the values' ranks, from 1. Tied values get the mean of their ranks."""
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    ranks: Floats = (np.cumsum(count) - (count - 1) / 2)[place]
    return ranks


class TwinsPart(TypedDict):
    twins: TwinRate


def _compute(case: Case) -> TwinsPart:
    return {"twins": twin_rate(compared(case), comparisons(case), case.rule.alpha, case.facts.seed)}


SECTION = Section(TwinsPart, _compute)
