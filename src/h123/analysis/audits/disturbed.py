"""The audit of disturbed trials: did the machine hit the compared levels alike (docs/disturbances.md)?"""

import itertools
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from h123.analysis.audits.finding import Finding
from h123.analysis.statistics.signedrank import SignedRank
from h123.measures import Attempt
from h123.study import Plan, split_pair

DISTURBED_UNLIKE = "disturbed-unlike"
UNLIKE_LEVEL = 0.01
"""Of the signed-rank test: levels that are disturbed alike fail with this probability at most."""


def disturbed_unlike(attempts: Sequence[Attempt], plan: Plan) -> list[Finding]:
    """For each pair of compared levels, in each cell with disturbed trials: their shares that may be the machine's
    differ by half the margin at most, in the mean over the blocks, or by chance."""
    compared, limit = plan.study.compare.factor, plan.study.compare.margin / 2
    shares: dict[tuple[str, ...], dict[tuple[str, int], float]] = defaultdict(dict)
    hit: set[tuple[str, ...]] = set()
    for attempt in attempts:
        cell = tuple(level for factor, level in attempt.cell.items() if factor != compared)
        if not attempt.twin:
            shares[cell][attempt.cell[compared], attempt.block] = attempt.disturbance or 0.0
        hit |= {cell} if attempt.disturbed else set()
    findings = []
    for cell, (a, b) in itertools.product(sorted(hit), map(split_pair, plan.pairs)):
        known = shares[cell]
        pairs = [
            (share, known[b, block]) for (level, block), share in known.items() if level == a and (b, block) in known
        ]
        if len(pairs) > 1:
            findings.append(_unlike(np.array(pairs), limit, " ".join(cell), f"{a}", f"{b}"))
    return findings


def _unlike(pairs: Any, limit: float, where: str, a: str, b: str) -> Finding:
    """`pairs` has the shape (blocks, 2)."""
    differences = pairs[:, 0] - pairs[:, 1]
    mean = float(differences.mean())
    p = SignedRank(differences).p()
    shares = f"up to {pairs[:, 0].mean():.1%} of {a}'s times may be the machine's, {pairs[:, 1].mean():.1%} of {b}'s"
    detail = f"{where}: {shares} (p = {p:.2g})".removeprefix(": ")
    return Finding(abs(mean) <= limit or p > UNLIKE_LEVEL, abs(mean), limit, detail)
