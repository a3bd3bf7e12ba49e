"""Audits whether the machine disturbed the trials of the compared levels equally (docs/disturbances.md)."""

import itertools
from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

import numpy as np

from h123.analysis.audits.finding import Finding
from h123.analysis.statistics.signedrank import SignedRank
from h123.measures import Attempt
from h123.study import Plan, Study, split_pair

DISTURBED_UNLIKE = "disturbed-unlike"
UNLIKE_LEVEL = 0.01
"""The significance level of the signed-rank test: if the machine disturbs two levels equally, the audit fails with at
most this probability."""


def disturbed_unlike(attempts: Sequence[Attempt], plan: Plan) -> list[Finding]:
    """Run the audit for each pair of compared levels, in each cell with disturbed trials."""
    compared = plan.study.compare.factor
    cells: dict[tuple[tuple[str, str], ...], list[Attempt]] = defaultdict(list)
    for attempt in attempts:
        cells[tuple((factor, level) for factor, level in attempt.cell.items() if factor != compared)].append(attempt)
    ordered = sorted(cells.items(), key=lambda entry: [level for _, level in entry[0]])
    differences = (
        unlike_between(had, plan.study, dict(cell), *split_pair(pair))
        for (cell, had), pair in itertools.product(ordered, plan.pairs)
    )
    return [finding for finding in differences if finding]


def unlike_between(
    attempts: Sequence[Attempt], study: Study, cell: Mapping[str, str], a: str, b: str
) -> Finding | None:
    """Check that machine noise may account for about the same share of the times of both levels. The mean difference
    between their shares over the blocks must be at most half the margin, or no more than chance allows.

    Returns None if no trial of the cell is disturbed, or if too few blocks have both levels. `cell` need not name a
    level of every factor.
    """
    compared, limit = study.compare.factor, study.compare.margin / 2
    here = [candidate for candidate in attempts if cell.items() <= candidate.cell.items()]
    if not any(attempt.disturbed for attempt in here):
        return None
    shares: dict[tuple[str, int], list[float]] = defaultdict(list)
    for attempt in here:
        if not attempt.twin:
            shares[attempt.cell[compared], attempt.block].append(attempt.disturbance or 0.0)
    pairs = [
        (fmean(had), fmean(shares[b, block]))
        for (level, block), had in list(shares.items())
        if level == a and (b, block) in shares
    ]
    return _unlike(np.array(pairs), limit, " ".join(cell.values()), a, b) if len(pairs) > 1 else None


def _unlike(pairs: Any, limit: float, where: str, a: str, b: str) -> Finding:
    """Return the finding for one pair of levels. `pairs` has a row for each block, and in it the share of each level's
    times that may be machine noise."""
    differences = pairs[:, 0] - pairs[:, 1]
    mean = float(differences.mean())
    p = SignedRank(differences).p()
    shares = f"up to {pairs[:, 0].mean():.1%} of {a}'s times may be the machine's, {pairs[:, 1].mean():.1%} of {b}'s"
    detail = f"{where}: {shares} (p = {p:.2g})".removeprefix(": ")
    return Finding(abs(mean) <= limit or p > UNLIKE_LEVEL, abs(mean), limit, detail)
