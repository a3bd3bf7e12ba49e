"""Compares the share of failed requests between levels.

Each trial provides one value: the share of its requests that ended with an error or with a status other than the
required one. The share is 1 if there is no valid attempt because the server or client failed. The shares of two levels
are paired within blocks, and the estimate is their difference, because a ratio means nothing if one level has no
failures.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from statistics import fmean
from typing import Any

import numpy as np
from typing_extensions import TypedDict

from h123.analysis.case import Case, once
from h123.analysis.comparisons.comparison import Cell, other_cells
from h123.analysis.comparisons.survivors import survivors
from h123.analysis.section import Section
from h123.analysis.statistics.families import adjust
from h123.analysis.statistics.signedrank import IntervalEstimate, SignedRank
from h123.analysis.trials import TrialSet, treated
from h123.study import Plan, split_pair


class FailuresRow(TypedDict):
    """The shares of failed requests of two levels."""

    cell: Cell
    a: str
    b: str
    blocks: int
    a_share: float
    """The mean share of failed requests of level a."""
    b_share: float
    difference: float
    """The share of a minus the share of b, paired by block."""
    low: float
    high: float
    confidence: float
    p: float
    p_adjusted: float
    """The p value, adjusted with Holm's method over all rows."""
    verdict: str
    """`fails more`, `fails less`, `alike` or `inconclusive`."""


MORE, LESS, ALIKE, UNKNOWN = "fails more", "fails less", "alike", "inconclusive"


class Shares:
    """The share of failed requests in each trial."""

    def __init__(self, trials: TrialSet, plan: Plan) -> None:
        self._compared = plan.study.compare.factor
        self.survivors = survivors(trials.attempts, plan)
        # Imported trials may have several runs of one treatment in a block.
        failed, rows = Counter(self.survivors.missing), Counter(self.survivors.missing)
        for attempt in trials.attempts:
            s = attempt.summary
            failed[treated(attempt)] += s.errors + s.refused
            rows[treated(attempt)] += s.rows
        self._shares = dict.fromkeys(trials.failed, 1.0)
        self._shares |= {place: failed[place] / count if count else 0.0 for place, count in rows.items()}
        self._of_cell: dict[tuple[tuple[str, str], ...], list[tuple[int, float]]] = defaultdict(list)
        for place, share in self._shares.items():
            if not place.twin:
                self._of_cell[place.cell].append((place.block, share))

    @property
    def any(self) -> bool:
        return any(self._shares.values())

    def pairs(self, cell: Cell, a: str, b: str) -> list[tuple[float, float]]:
        """Return both levels' shares in each block. If `cell` does not name a level of every factor, a share is the
        mean over the other factors' levels."""
        first, second = (self._of({**cell, self._compared: level}) for level in (a, b))
        return [(first[block], second[block]) for block in sorted(first) if block in second]

    def _of(self, cell: Cell) -> dict[int, float]:
        """Return the mean share in each block, over the treatments that `cell` covers."""
        by_block: dict[int, list[float]] = defaultdict(list)
        for whole, shares in self._of_cell.items():
            if cell.items() <= dict(whole).items():
                for block, share in shares:
                    by_block[block].append(share)
        return {block: fmean(shares) for block, shares in by_block.items()}


@once
def shares(case: Case) -> Shares:
    return Shares(case.trials, case.plan)


def failures(shares_of: Shares, plan: Plan, alpha: float, tolerated: float) -> list[FailuresRow]:
    """Return the `failures` part of verdicts.json: a row for each cell and pair with a failed request, with Holm's
    correction over all rows."""
    compared = [
        _Compared(cell, a, b, np.array(pairs))
        for cell in other_cells(plan)
        for a, b in map(split_pair, plan.pairs)
        if (pairs := shares_of.pairs(cell, a, b)) and np.any(pairs)
    ]
    adjusted = adjust([pair.p for pair in compared], "holm")
    return [
        _row(pair, p, _verdict(pair.estimate, p, alpha, tolerated)) for pair, p in zip(compared, adjusted, strict=True)
    ]


class _Compared:
    """The shares of two levels in a cell, as an array of shape (blocks, 2)."""

    def __init__(self, cell: Cell, a: str, b: str, pairs: Any) -> None:
        self.cell, self.a, self.b, self.pairs = cell, a, b, pairs
        test = SignedRank(pairs[:, 0] - pairs[:, 1])
        self.estimate, self.p = test.estimate(), test.p()


def _row(pair: _Compared, p_adjusted: float, verdict: str) -> FailuresRow:
    return {
        "cell": pair.cell,
        "a": pair.a,
        "b": pair.b,
        "blocks": len(pair.pairs),
        "a_share": float(pair.pairs[:, 0].mean()),
        "b_share": float(pair.pairs[:, 1].mean()),
        "difference": pair.estimate.centre,
        "low": pair.estimate.low,
        "high": pair.estimate.high,
        "confidence": pair.estimate.confidence,
        "p": pair.p,
        "p_adjusted": p_adjusted,
        "verdict": verdict,
    }


def _verdict(estimate: IntervalEstimate, p: float, alpha: float, tolerated: float) -> str:
    if p <= alpha:
        return MORE if estimate.centre > 0 else LESS
    return ALIKE if -tolerated <= estimate.low and estimate.high <= tolerated else UNKNOWN


def mean_difference(pairs: Sequence[tuple[float, float]]) -> float:
    """Return the absolute difference between the mean shares of the two levels, or 0 if there are no pairs."""
    return abs(float(np.mean([a - b for a, b in pairs]))) if pairs else 0.0


class FailuresPart(TypedDict):
    failures: Sequence[FailuresRow]
    """A row for each cell and pair with a failed request."""


def _compute(case: Case) -> FailuresPart:
    requests, tolerated = shares(case), case.plan.study.compare.failures
    return {"failures": failures(requests, case.plan, case.rule.level, tolerated) if requests.any else []}


SECTION = Section(FailuresPart, _compute)
