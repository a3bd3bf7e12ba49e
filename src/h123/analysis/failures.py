"""Failures: the share of requests that failed, compared between levels as any other metric is.

The unit is the trial again: its share is that of its requests without an answer of status 200, and 1 where its server
or client failed so that there is no valid attempt. Shares are paired within blocks; what is estimated is their
difference, because the ratio of a failure to none says nothing.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from h123.analysis.comparisons import Cell, other_cells
from h123.analysis.families import adjust
from h123.analysis.signedrank import SignedRank
from h123.analysis.trials import Trials, treated
from h123.study import Plan, split_pair

MORE, LESS, ALIKE, UNKNOWN = "fails more", "fails less", "alike", "inconclusive"
Row = dict[str, Any]


class Shares:
    """Of each trial, the share of its requests that failed."""

    def __init__(self, trials: Trials, plan: Plan) -> None:
        self._compared = plan.study.compare.factor
        self._shares = dict.fromkeys(trials.failed, 1.0)
        for attempt in trials.attempts:
            s = attempt.summary
            self._shares[treated(attempt)] = (s.errors + s.refused) / s.rows if s.rows else 0.0

    @property
    def any(self) -> bool:
        """Whether any request failed."""
        return any(self._shares.values())

    def pairs(self, cell: Cell, a: str, b: str) -> list[tuple[float, float]]:
        """Both levels' shares, block by block; over all levels of a factor that the cell leaves open."""
        first, second = (self._of({**cell, self._compared: level}) for level in (a, b))
        return [(first[block], second[block]) for block in sorted(first) if block in second]

    def _of(self, cell: Cell) -> dict[int, float]:
        """By block."""
        found: dict[int, list[float]] = defaultdict(list)
        for place, share in self._shares.items():
            if not place.twin and cell.items() <= dict(place.cell).items():
                found[place.block].append(share)
        return {block: float(np.mean(shares)) for block, shares in found.items()}


def failures(shares: Shares, plan: Plan, alpha: float, tolerated: float) -> list[Row]:
    """The `failures` of verdicts.json: a row for each cell and pair with a failed request; Holm over all rows."""
    rows = [
        _row(cell, a, b, np.array(found))
        for cell in other_cells(plan)
        for a, b in map(split_pair, plan.pairs)
        if (found := shares.pairs(cell, a, b)) and np.any(found)
    ]
    for row, p in zip(rows, adjust([row["p"] for row in rows], "holm"), strict=True):
        row.update(p_adjusted=p, verdict=_verdict(row, p, alpha, tolerated))
    return rows


def _row(cell: Cell, a: str, b: str, pairs: Any) -> Row:
    """`pairs` has the shape (blocks, 2)."""
    found = SignedRank(pairs[:, 0] - pairs[:, 1])
    estimate = found.estimate()
    return {
        "cell": cell,
        "a": a,
        "b": b,
        "blocks": len(pairs),
        "a_share": float(pairs[:, 0].mean()),
        "b_share": float(pairs[:, 1].mean()),
        "difference": estimate.centre,
        "low": estimate.low,
        "high": estimate.high,
        "confidence": estimate.confidence,
        "p": found.p(),
    }


def _verdict(row: Row, p: float, alpha: float, tolerated: float) -> str:
    if p <= alpha:
        return MORE if row["difference"] > 0 else LESS
    return ALIKE if -tolerated <= row["low"] and row["high"] <= tolerated else UNKNOWN


def mean_difference(pairs: Sequence[tuple[float, float]]) -> float:
    """Between the two levels' shares, without its sign; 0 where there are none."""
    return abs(float(np.mean([a - b for a, b in pairs]))) if pairs else 0.0
