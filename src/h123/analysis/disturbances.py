"""What disturbed trials do to the answers: how many there are, whether they hit the compared levels alike, and what the
answers would be without them (docs/disturbances.md)."""

import itertools
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from h123.analysis.audits.finding import Finding
from h123.analysis.comparisons import compare
from h123.analysis.signflip import sign_flip
from h123.analysis.verdicts import Rule, judge
from h123.results import Attempt
from h123.study import Plan, split_pair

UNLIKE_LEVEL = 0.01
"""Of the sign-flip test: levels that are disturbed alike fail with this probability at most."""


def disturbances(
    attempts: Sequence[Attempt], plan: Plan, rule: Rule, judged: Sequence[dict[str, Any]]
) -> dict[str, Any]:
    """The `disturbances` of verdicts.json; `judged` are the comparisons with all trials."""
    disturbed = [attempt for attempt in attempts if attempt.disturbed]
    return {
        "tolerated": rule.margin / 2,
        "trials": len(disturbed),
        "of": len(attempts),
        "typical": float(np.median([a.disturbance or 0.0 for a in disturbed])) if disturbed else None,
        "without": _without(attempts, plan, rule, judged) if disturbed else [],
    }


def _without(
    attempts: Sequence[Attempt], plan: Plan, rule: Rule, judged: Sequence[dict[str, Any]]
) -> list[dict[str, Any]]:
    """The answers to the study's question from undisturbed trials alone, beside those from all."""
    clean = judge(compare([attempt for attempt in attempts if not attempt.disturbed], plan), rule)
    first = plan.study.compare.families[0].name
    answers = [
        (with_all, without)
        for with_all, without in zip(judged, clean, strict=True)
        if with_all["family"].partition("/")[0] == first and with_all["blocks"] != without["blocks"]
    ]
    kept = ("cell", "metric", "a", "b", "blocks", "ratio", "low", "high", "verdict")
    return [{name: without[name] for name in kept} | {"all": with_all["verdict"]} for with_all, without in answers]


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
    p = float(sign_flip(differences[None, :], seed=0)[0])
    shares = f"up to {pairs[:, 0].mean():.1%} of {a}'s times may be the machine's, {pairs[:, 1].mean():.1%} of {b}'s"
    detail = f"{where}: {shares} (p = {p:.2g})".removeprefix(": ")
    return Finding(abs(mean) <= limit or p > UNLIKE_LEVEL, abs(mean), limit, detail)
