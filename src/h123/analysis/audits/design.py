"""Audits of the campaign as a whole: was the order fair, and do the blocks let a family find one difference?"""

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from scipy.stats import chi2

from h123.analysis.audits.disturbed import DISTURBED_UNLIKE, disturbed_unlike
from h123.analysis.audits.finding import CampaignAudit, Finding
from h123.analysis.power import can_find_one, fewest_blocks, power
from h123.analysis.precision import FEWEST, spread
from h123.analysis.remedy import Remedy
from h123.analysis.signedrank import attainable
from h123.results import Attempt
from h123.study import Plan

ORDER_LEVEL = 0.001
"""A random order fails with this probability."""

START_SLACK_NS = 500_000_000
"""Trials that start together (lanes) note their own beginning, each when it gets a processor, which a busy machine puts
off."""

ORDER_UNRECORDED = "order-unrecorded"
ORDER_CONFOUNDED = "order-confounded"
BLOCKS_TOO_FEW = "blocks-too-few"


def of_campaign(
    attempts: Sequence[Attempt],
    comparisons: Sequence[dict[str, Any]],
    *,
    plan: Plan,
    alpha: float,
    remedy: Remedy,
) -> list[CampaignAudit]:
    """All audits of the campaign as a whole."""
    unrecorded, confounded = order_unrecorded(attempts), order_confounded(attempts, plan.study.compare.factor)
    unlike = disturbed_unlike(attempts, plan)
    worst = max((finding for finding in unlike if not finding.passed), key=lambda f: f.value or 0.0, default=None)
    return [
        CampaignAudit(
            ORDER_UNRECORDED,
            "The trials of each block ran in the order that the journal gives. Trials under the virtual clock are left "
            "out: nothing that runs before or beside them can change their results.",
            "Trials of a block ran in another order than the journal gives: what is said about the order cannot be "
            f"relied on, and drift of the machine may favour a level ({unrecorded.detail if unrecorded else ''}).",
            [unrecorded] if unrecorded else [],
        ),
        CampaignAudit(
            ORDER_CONFOUNDED,
            "No treatment ran early or late more often than chance allows, so that a machine that warms up or slows "
            "down favours none. One random order in a thousand fails this.",
            "Some levels ran earlier in their blocks than others, more than chance allows: a machine that warms up or "
            f"slows down may favour them ({confounded.detail if confounded else ''}). More blocks even it out.",
            [confounded] if confounded else [],
        ),
        CampaignAudit(
            BLOCKS_TOO_FEW,
            "Each family of comparisons can find a single true difference, if that is large and all others are none: "
            "then its p stands alone, and the correction multiplies it by the family's size.",
            _too_few(comparisons, alpha, remedy),
            blocks_too_few(comparisons, alpha, plan.study.compare.margin),
        ),
        CampaignAudit(
            DISTURBED_UNLIKE,
            "Where the machine disturbed trials, it disturbed the compared levels alike, so that their ratio is not "
            "its doing.",
            "The machine disturbed one of the compared levels more than the other, so their ratio may be its doing "
            f"({worst.detail if worst else ''}). Try the disturbed trials again on a quieter machine: "
            "`h123 run --out DIR --retry`.",
            unlike,
        ),
    ]


def order_unrecorded(attempts: Sequence[Attempt]) -> Finding | None:
    """Within each block, trials began in the order of the recorded positions; see `START_SLACK_NS`.

    Those under the virtual clock note their beginning by that clock, so only the others' order can be checked.
    """
    attempts = [attempt for attempt in attempts if not attempt.virtual]
    if not attempts or any(attempt.imported for attempt in attempts):
        return None
    wrong = [block for block, trials in _blocks(attempts).items() if not _ascending(trials)]
    detail = f"blocks in another order than recorded: {', '.join(map(str, wrong)) or 'none'}"
    return Finding(not wrong, len(wrong), 0, detail)


def order_confounded(attempts: Sequence[Attempt], compared: str) -> Finding | None:
    """Mack and Skillings' test of the treatments' positions within blocks; p at least 0.001.

    Under a random order the sum S_t of treatment t's ranks has, over blocks of n trials of which m_t are t's, the mean
    sum m_t (n + 1) / 2 and the covariances sum (n + 1) / 12 x m_t (n [t = u] - m_u); the quadratic form of S - mean is
    about chi-squared with treatments - 1 degrees of freedom. With one trial of each treatment a block it is Friedman's.
    Reference: Hollander, Wolfe, Chicken, Nonparametric Statistical Methods (2014), section 7.8.
    """
    levels = sorted({attempt.cell[compared] for attempt in attempts})
    if len(levels) < 2 or any(attempt.position is None for attempt in attempts):
        return None
    excess, covariance = np.zeros(len(levels)), np.zeros((len(levels), len(levels)))
    for trials in _blocks(attempts).values():
        trials = sorted(trials, key=_position)
        n, count = len(trials), Counter(attempt.cell[compared] for attempt in trials)
        share = np.array([count[level] for level in levels], dtype=np.float64)
        ranks: dict[str, int] = defaultdict(int)
        for rank, attempt in enumerate(trials, start=1):
            ranks[attempt.cell[compared]] += rank
        excess += np.array([ranks[level] for level in levels]) - share * (n + 1) / 2
        covariance += (n + 1) / 12 * (n * np.diag(share) - np.outer(share, share))
    statistic = float(excess @ np.linalg.pinv(covariance) @ excess)
    p = float(chi2.sf(statistic, len(levels) - 1))
    runs = Counter(attempt.cell[compared] for attempt in attempts)
    shift = ", ".join(f"{level} {excess[i] / runs[level]:+.2f}" for i, level in enumerate(levels))
    detail = f"mean place in the block beside the expected one: {shift} (p = {p:.2g})"
    return Finding(p >= ORDER_LEVEL, p, ORDER_LEVEL, detail)


def blocks_too_few(comparisons: Sequence[dict[str, Any]], alpha: float, margin: float) -> list[Finding]:
    """For each family: the smallest p that its blocks allow, times its size, at most alpha."""
    findings = []
    for name, members in _families(comparisons).items():
        blocks, size = max(c["blocks"] for c in members), len(members)
        smallest = min(1.0, attainable(blocks) * size)
        detail = f"family {name}: {blocks} blocks, {size} comparison(s), p of one difference at least {smallest:.2g}"
        able = can_find_one(blocks, size, alpha)
        chances = _chances(members, blocks, alpha, margin) if able else f"{fewest_blocks(size, alpha)} blocks needed"
        findings.append(Finding(able, smallest, alpha, f"{detail}; {chances}"))
    return findings


def _chances(family: Sequence[dict[str, Any]], blocks: int, alpha: float, margin: float) -> str:
    """The power at the margin, with the spread that the intervals show; one of few blocks, or unbounded, shows none."""
    known = [c for c in family if c["low"] and c["high"] and c["blocks"] >= FEWEST]
    spreads = [spread(c["low"], c["high"], c["blocks"], alpha) for c in known]
    if len(spreads) < len(family):
        return "power not known"
    found = power(spreads, blocks, margin, correction=family[0]["correction"], level=alpha)
    shares = f"{found.one:.0%}, {found.half:.0%} or {found.all:.0%}"
    return f"finds {shares} of true differences of {100 * margin:g} % where one, half or all of its comparisons differ"


def _too_few(comparisons: Sequence[dict[str, Any]], alpha: float, remedy: Remedy) -> str:
    families = [(max(c["blocks"] for c in members), len(members)) for members in _families(comparisons).values()]
    short = [(blocks, size) for blocks, size in families if not can_find_one(blocks, size, alpha)]
    if not short:
        return ""
    needed, have = max(fewest_blocks(size, alpha) for _, size in short), min(blocks for blocks, _ in short)
    blocks, advice = "1 block" if have == 1 else f"{have} blocks", remedy.enough(needed, have)
    return (
        f"In {len(short)} of {len(families)} families of comparisons {blocks} cannot find a single true difference, "
        f"however large, if all others are none. That takes {needed} blocks" + (f": {advice}." if advice else ".")
    )


def _families(comparisons: Iterable[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    families: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for comparison in comparisons:
        if not comparison["twin"] and comparison["p"] is not None:
            families[comparison["family"]].append(comparison)
    return families


def _blocks(attempts: Sequence[Attempt]) -> dict[int, list[Attempt]]:
    blocks: dict[int, list[Attempt]] = defaultdict(list)
    for attempt in attempts:
        blocks[attempt.block].append(attempt)
    return blocks


def _ascending(trials: list[Attempt]) -> bool:
    ordered = sorted(trials, key=_position)
    began = [attempt.report["started_unix_ns"] for attempt in ordered]
    distinct = len({_position(attempt) for attempt in trials}) == len(trials)
    return distinct and all(later > earlier - START_SLACK_NS for earlier, later in itertools.pairwise(began))


def _position(attempt: Attempt) -> int:
    assert attempt.position is not None  # both audits ask first
    return attempt.position
