"""Projects how many blocks would probably decide an undecided comparison.

The projection assumes that the mean and standard deviation of the paired log ratios stay as they are. It is the
smallest number of blocks with a power of at least `POWER`, either to find a difference with Student's t test, or to
find an equivalence with two one-sided tests. The tests use the significance level that remains after the family's
correction. If the signed-rank test attains only a lower level, they use that lower level. The projection is no more
certain than the mean on which it is based. Reference: Julious, Sample Sizes for Clinical Trials (2010), chapters 3 and
5.
"""

import math
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal, NotRequired

import numpy as np
from typing_extensions import TypedDict

from h123.analysis.comparisons.rows import JudgedComparison, Projection, headline
from h123.analysis.statistics.families import blocks_needed
from h123.analysis.statistics.remedy import Remedy
from h123.analysis.statistics.rule import Rule
from h123.analysis.statistics.signedrank import size
from h123.base.distributions import noncentral_student_cdf, student_quantile


class Outlook(TypedDict):
    """The number of blocks that would decide the question, and the time that they take."""

    blocks: int | None
    """The largest projection for the comparisons of the first family; null if there is none."""
    seconds: float | None
    """The time until these blocks have run, at the campaign's pace so far; null if unknown."""
    power: float
    """The probability that this number of blocks is enough, if mean and spread stay the same."""
    limit: int
    """The largest practical number of blocks."""
    failed: int
    """The number of trials without a valid attempt."""
    waiting: int
    """The number of trials that have not run yet."""
    damaged: NotRequired[int]
    """The number of measured trials whose files have since changed or gone missing. Absent if it is 0."""


POWER = 0.8
LIMIT = 200
"""The largest practical number of blocks."""
FEWEST_PAIRS = 3
"""The smallest number of pairs whose spread is meaningful."""
SPREAD, FEWEST, TRIALS, BEYOND = "spread", "fewest", "trials", "beyond"
_FURTHEST = 37.0


@dataclass(frozen=True)
class Levels:
    """The largest unadjusted p values with which a test's adjusted p is small enough."""

    difference: float
    equivalence: float


def project(comparisons: Sequence[JudgedComparison], rule: Rule) -> list[JudgedComparison]:
    """Return the comparisons of verdicts.json, each with its `projection` (docs/contracts/verdicts.md).

    A campaign with more blocks is judged at a later look, so the projection uses the level that remains for that look.
    """
    level = rule.looks.next_level(rule.alpha)
    families: dict[str, list[JudgedComparison]] = defaultdict(list)
    for comparison in comparisons:
        if comparison["p"] is not None and not comparison["repeats"]:
            families[comparison["family"]].append(comparison)
    levels = {name: _levels(members, rule.level, level) for name, members in families.items()}
    return [
        {**comparison, "projection": _projection(comparison, levels.get(comparison["family"]), level, rule)}
        for comparison in comparisons
    ]


def outlook(
    projected: Sequence[JudgedComparison], block_size: int, valid: int, pace: float | None, remedy: Remedy
) -> Outlook:
    """Return the campaign's `projection`: how many blocks would probably decide all of the question's comparisons that
    more blocks can decide. `block_size`: trials in a block; `valid`: measured trials; `pace`: seconds per trial."""
    blocks = blocks_for_question(projected)
    more = blocks * block_size - valid if blocks else 0
    found: Outlook = {
        "blocks": blocks,
        "seconds": more * pace if blocks and pace is not None else None,
        "power": POWER,
        "limit": LIMIT,
        "failed": remedy.failed,
        "waiting": remedy.waiting,
    }
    return {**found, "damaged": remedy.damaged} if remedy.damaged else found


def blocks_for_question(projected: Sequence[JudgedComparison]) -> int | None:
    """Return the number of blocks that will probably decide all of the question's comparisons that more blocks can
    decide. None if no projection is known."""
    return max((projection["blocks"] for projection in of_question(projected) if projection["blocks"]), default=None)


def fewest_blocks(projected: Iterable[JudgedComparison], level: float) -> int:
    """Return the number of blocks below which these comparisons cannot all have a verdict, because no p is small enough
    for the corrections of their families. Advice never recommends fewer blocks."""
    needed = (
        blocks_needed(comparison["family_size"], comparison["correction"], level)
        for comparison in projected
        if comparison["p"] is not None
    )
    return max(needed, default=blocks_needed(1, "none", level))


def of_question(projected: Sequence[JudgedComparison]) -> list[Projection]:
    """Return the projections of the undecided comparisons that the answer shows. Forecasts are only about these
    comparisons."""
    return [projection for c in headline(projected) if (projection := c.get("projection"))]


def pairs_needed(log_ratios: Sequence[float], margin: float, levels: Levels) -> int | None:
    """Return the number of blocks that a verdict needs, including the ones that exist already. Only blocks with values
    at both levels count. None if `LIMIT` is not enough.

    `log_ratios` must have at least `FEWEST_PAIRS` values.
    """
    mean, spread = abs(float(np.mean(log_ratios))), float(np.std(log_ratios, ddof=1))
    blocks = range(len(log_ratios) + 1, LIMIT + 1)
    first = bisect_left(blocks, POWER, key=lambda number: _power(mean, spread, number, margin, levels))
    return blocks[first] if first < len(blocks) else None


def _projection(comparison: JudgedComparison, levels: Levels | None, level: float, rule: Rule) -> Projection | None:
    if comparison["twin"] or comparison["repeats"] or comparison["verdict"] != "inconclusive":
        return None
    if comparison["withheld"]:
        # More trials of the same kind would not help.
        return {"blocks": None, "basis": comparison["withheld"]["kind"]}
    remedy, pairs = rule.remedy, comparison["blocks"]
    lacking = remedy.failed + remedy.waiting + remedy.damaged > 0
    if levels is None or comparison["p"] is None:
        return {"blocks": None, "basis": TRIALS} if lacking else None
    ratios = [math.log(pair["ratio"]) for pair in comparison["pairs"] if pair["ratio"]]
    needed: int | None
    if len(ratios) < FEWEST_PAIRS:
        needed, basis = fewest_blocks([comparison], level), FEWEST
    else:
        needed, basis = pairs_needed(ratios, rule.margin, levels), SPREAD
    if needed is None:
        return {"blocks": None, "basis": BEYOND}
    if lacking and needed <= remedy.blocks:
        return {"blocks": None, "basis": TRIALS}
    # A block that lacks a value on one side does not count: one more is needed for each.
    return {"blocks": needed + max(0, remedy.blocks - pairs), "basis": basis}


def _levels(family: Sequence[JudgedComparison], now: float, then: float) -> Levels:
    """Return the significance levels for a comparison at the next look. `then` is the level of that look, and `now` the
    level of the current look. The family's other comparisons are assumed to stay as they are now."""
    size, correction = len(family), family[0]["correction"]

    def level(adjusted: Literal["p_adjusted", "p_equivalent_adjusted"]) -> float:
        rank = min(size - 1, sum((c[adjusted] or 0.0) <= now for c in family))
        return float(then * (1 / (size - rank) if correction == "holm" else (rank + 1) / size))

    return Levels(level("p_adjusted"), level("p_equivalent_adjusted"))


def _power(mean: float, spread: float, blocks: int, margin: float, levels: Levels) -> float:
    """Return the power for the more likely of the two verdicts. `mean` (absolute) and `spread` describe the log
    ratios."""
    scale = math.sqrt(blocks) / max(spread, 1e-9)
    bound, freedom = math.log1p(margin), blocks - 1
    critical = _critical(blocks, levels.difference, 2)
    different = 1 - noncentral_student_cdf(freedom, _clipped(mean * scale), critical)
    critical = _critical(blocks, levels.equivalence, 1)
    same = noncentral_student_cdf(freedom, _clipped((mean - bound) * scale), -critical) - noncentral_student_cdf(
        freedom, _clipped((mean + bound) * scale), critical
    )
    return max(different, same)


def _clipped(noncentrality: float) -> float:
    """Limit the noncentrality. Beyond the limit the power is 1, and computing it would be slow."""
    return max(-_FURTHEST, min(_FURTHEST, noncentrality))


@cache
def _critical(blocks: int, level: float, sides: int) -> float:
    """Return the critical value of Student's t for the largest attainable p that is not above `level`. Infinite if
    there is no such p."""
    p = size(blocks, level, sides)
    return -student_quantile(blocks - 1, p / sides) if p > 0 else math.inf
