"""Audits when trials ran. The order must favour no level, and both trials of a pair must run close together.

A failed audit does not prevent a verdict. The verdict mentions it, because a drifting machine may have affected the
ratio. The audits leave out trials under the virtual clock, whose results do not depend on what else the machine runs.
"""

import itertools
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import median

from h123.analysis.audits.finding import CampaignAudit, Finding
from h123.analysis.comparisons.comparison import Cell, other_cells
from h123.analysis.statistics.families import adjust
from h123.base.distributions import binomial_cdf
from h123.base.units import format_span
from h123.measures import Attempt
from h123.study import Plan, split_pair

ORDER_UNRECORDED, ORDER_CONFOUNDED, PAIRS_APART = "order-unrecorded", "order-confounded", "pairs-apart"

START_SLACK_NS = 500_000_000
"""The tolerance for the order of trials that start at the same time, in ns. A trial records its start when it gets a
processor, which takes longer on a busy machine."""

ORDER_LEVEL = 0.01
"""The probability that a random order fails, if enough orders are possible."""
FEW_ORDERS_LEVEL = 1 / 8
"""The largest probability of the most one-sided order at which that order fails, and only that one, if few orders are
possible."""

SAME_TIME_S = 600.0
"""The longest time in seconds between the beginnings of trials that count as close together."""
OWN_TIME = 2.0
"""How far apart the trials of a pair may begin, as a multiple of the time that all trials of the block took together. A
larger distance means that something else ran in between."""
APART_SHARE = 0.1
"""The tolerated share of a comparison's blocks in which the two trials ran far apart. Disturbed trials are repeated
late, but a tenth of the pairs hardly changes a median."""
MEANINGS = {
    ORDER_UNRECORDED: "The trials of each block ran in the order that the journal gives. Trials under the virtual "
    "clock are left out, because nothing that runs before or next to them can affect them.",
    ORDER_CONFOUNDED: "Neither level of a pair ran first more often than coin tosses would explain, so a machine that "
    "warms up or slows down favours neither. One random order in a hundred fails this check. If too few orders are "
    "possible for that, only the most one-sided one fails, with a probability of up to one in eight (two treatments, "
    "four blocks).",
    PAIRS_APART: "The trials of a pair ran near each other, in nine of ten blocks: within "
    f"{format_span(SAME_TIME_S)}, or twice the time that all trials of the block took themselves. Otherwise, the "
    "trials of a block are no more alike than those of two blocks.",
}
_NAMED = 2

Place = tuple[tuple[str, str], ...]


def of_order(attempts: Sequence[Attempt], plan: Plan) -> list[CampaignAudit]:
    real = [attempt for attempt in attempts if not attempt.virtual]
    timed = [attempt for attempt in real if not attempt.imported]
    unrecorded = order_unrecorded(timed)
    confounded, apart = order_confounded(real, plan), pairs_apart(timed, plan)
    one_sided = {pair for pair, finding in confounded.items() if not finding.passed}
    distant = {place for place, finding in apart.items() if not finding.passed}
    return [
        CampaignAudit(
            ORDER_UNRECORDED,
            MEANINGS[ORDER_UNRECORDED],
            "Trials of a block did not run in the order that the journal gives: statements about the order are "
            f"unreliable, and drift of the machine may favour a level ({unrecorded.detail if unrecorded else ''}).",
            [unrecorded] if unrecorded else [],
        ),
        CampaignAudit(
            ORDER_CONFOUNDED,
            MEANINGS[ORDER_CONFOUNDED],
            "One level of a pair ran before the other more often than chance allows, so a machine that warms up or "
            f"slows down may favour it ({_failed(confounded.values())}). Verdicts on the pair stand, with this "
            "caveat. More blocks reduce the imbalance.",
            list(confounded.values()),
            lambda c: (c.a, c.b) in one_sided,
        ),
        CampaignAudit(
            PAIRS_APART,
            MEANINGS[PAIRS_APART],
            "Trials of a pair ran so far apart that something other than their block ran in between, and the machine "
            f"may have changed in that time ({_failed(apart.values())}). Verdicts on the pair stand, with this caveat. "
            "A campaign that runs without a pause avoids it.",
            list(apart.values()),
            lambda c: (_place(c.cell), c.a, c.b) in distant,
        ),
    ]


def order_unrecorded(attempts: Sequence[Attempt]) -> Finding | None:
    """Check that within each block, trials began in the order of their recorded positions, with a tolerance of
    `START_SLACK_NS`."""
    if not attempts:
        return None
    wrong = [block for block, trials in _by_block(attempts).items() if not _ascending(trials)]
    detail = f"blocks in a different order than recorded: {', '.join(map(str, wrong)) or 'none'}"
    return Finding(not wrong, len(wrong), 0, detail)


def order_confounded(attempts: Sequence[Attempt], plan: Plan) -> dict[tuple[str, str], Finding]:
    """Check for each pair that neither level ran first more often than chance allows. The check is an exact sign test
    over all blocks and cells, corrected with Holm's method over the pairs.

    A block's order is a random permutation. In it, the relative orders of pairs without a common trial are independent
    tosses of a fair coin (Knuth, The Art of Computer Programming 2, section 3.4.2). So over any cells and blocks, the
    number of times that one level ran first is binomial with probability 1/2. Drift within a block can bias a pair only
    if one level usually ran first.
    """
    ordered = _Pairs((a for a in attempts if a.position is not None), plan.study.compare.factor)
    before: dict[tuple[str, str], list[bool]] = {}
    for pair in map(split_pair, plan.pairs):
        trials = [both for cell in other_cells(plan) for both in ordered.of(cell, *pair).values()]
        if trials:
            before[pair] = [_position(a) < _position(b) for a, b in trials]
    p = [_sign_test(sum(first), len(first)) for first in before.values()]
    return {
        pair: _one_sided(pair, before[pair], adjusted, len(before))
        for pair, adjusted in zip(before, adjust(p, "holm"), strict=True)
    }


def _sign_test(first: int, orders: int) -> float:
    return min(1.0, 2 * float(binomial_cdf(orders, 0.5)[min(first, orders - first)]))


def _one_sided(pair: tuple[str, str], before: Sequence[bool], p: float, pairs: int) -> Finding:
    least = pairs * 2.0 ** (1 - len(before))
    limit = max(ORDER_LEVEL, least) if least <= FEW_ORDERS_LEVEL else ORDER_LEVEL
    detail = f"{pair[0]} ran before {pair[1]} in {sum(before)} of {len(before)} orders (adjusted p = {p:.2g})"
    return Finding(p > limit, p, limit, detail)


def pairs_apart(attempts: Sequence[Attempt], plan: Plan) -> dict[tuple[Place, str, str], Finding]:
    """Check for each comparison that in at most a tenth of its blocks the two trials began further apart than
    `SAME_TIME_S` and `OWN_TIME` allow."""
    pairs = _Pairs(attempts, plan.study.compare.factor)
    own: dict[int, float] = defaultdict(float)
    for attempt in attempts:
        own[attempt.block] += sum(attempt.report.phases_ns.values()) * 1e-9
    findings = {}
    for cell, (a, b) in itertools.product(other_cells(plan), map(split_pair, plan.pairs)):
        both = pairs.of(cell, a, b)
        gaps = {block: abs(_began(first) - _began(second)) for block, (first, second) in both.items()}
        far = [gap for block, gap in gaps.items() if gap > max(SAME_TIME_S, OWN_TIME * own[block])]
        if gaps:
            where = " ".join([*cell.values(), f"{a} / {b}"])
            span = f"{format_span(max(gaps.values()))} at most, {format_span(median(gaps.values()))} typically"
            detail = f"{where}: too far apart in {len(far)} of {len(gaps)} blocks ({span})"
            share = len(far) / len(gaps)
            findings[_place(cell), a, b] = Finding(share <= APART_SHARE, share, APART_SHARE, detail)
    return findings


class _Pairs:
    """The pairs of trials of the compared levels."""

    def __init__(self, attempts: Iterable[Attempt], compared: str) -> None:
        self._runs: dict[tuple[Place, str], list[Attempt]] = defaultdict(list)
        for attempt in attempts:
            if not attempt.twin:
                others = {factor: level for factor, level in attempt.cell.items() if factor != compared}
                self._runs[_place(others), attempt.cell[compared]].append(attempt)

    def of(self, cell: Cell, a: str, b: str) -> dict[int, tuple[Attempt, Attempt]]:
        """Return, by block, the pair of attempts in a cell that have the levels `a` and `b`."""
        return pairs_of(*(self._runs[_place(cell), level] for level in (a, b)))


def pairs_of(a: Iterable[Attempt], b: Iterable[Attempt]) -> dict[int, tuple[Attempt, Attempt]]:
    """Return the trials of two levels in pairs, by block. A block is left out if imported samples have several runs of
    either level in it."""
    first, second = _by_block(a), _by_block(b)
    return {
        block: (first[block][0], second[block][0])
        for block in first.keys() & second.keys()
        if len(first[block]) == 1 == len(second[block])
    }


def _by_block(attempts: Iterable[Attempt]) -> dict[int, list[Attempt]]:
    by_block: dict[int, list[Attempt]] = defaultdict(list)
    for attempt in attempts:
        by_block[attempt.block].append(attempt)
    return by_block


def _ascending(trials: list[Attempt]) -> bool:
    ordered = sorted(trials, key=_position)
    began = [attempt.report.started_unix_ns for attempt in ordered]
    distinct = len({_position(attempt) for attempt in trials}) == len(trials)
    return distinct and all(later > earlier - START_SLACK_NS for earlier, later in itertools.pairwise(began))


def _position(attempt: Attempt) -> int:
    assert attempt.position is not None  # the caller has checked
    return attempt.position


def _began(attempt: Attempt) -> float:
    return attempt.report.started_unix_ns * 1e-9


def _place(cell: Mapping[str, str]) -> Place:
    return tuple(sorted(cell.items()))


def _failed(findings: Iterable[Finding]) -> str:
    details = [finding.detail for finding in findings if not finding.passed]
    more = len(details) - _NAMED
    return "; ".join(details[:_NAMED]) + (f"; and {more} more" if more > 0 else "")
