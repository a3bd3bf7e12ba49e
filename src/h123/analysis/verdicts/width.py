"""Implements the width rule (`h123 run --precision`): a campaign ends when every interval of its answer is narrow
enough.

The rule uses only widths. If blocks vary symmetrically, a width says nothing about the sign of the estimate's error
(Hogg, J. Am. Stat. Assoc. 55, 1960), so measuring it does not count as a look and may happen at any time. But the rule
favours samples that happen to vary too little, whose intervals are too short: up to one interval in a hundred misses
the true value for this reason (Chow and Robbins, Ann. Math. Stat. 36, 1965). The level in looks.py compensates for
this; bench/calibration.py shows that it does.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from typing_extensions import TypedDict

from h123.analysis.case import Case
from h123.analysis.comparisons.rows import JudgedComparison, headline
from h123.analysis.section import Section
from h123.analysis.statistics.precision import LIMIT, blocks_for, spread, width
from h123.analysis.statistics.rule import Rule
from h123.analysis.verdicts.judgement import comparisons
from h123.documents.campaign_file import Precision
from h123.study import ENOUGH_FOR_INTERVAL


class WidthReached(Precision):
    narrow: bool
    """Whether every interval of the answer is narrow enough."""
    widest: float | None
    """Half of the widest interval's relative width, sqrt(high / low) - 1. Null if an interval has no bound."""
    blocks: int | None
    """The number of blocks that is likely to be enough. Null if that is more than is practical."""


FIRST = 10
"""The number of blocks at which the width is first measured. With fewer, the spread is so uncertain that a campaign
would often stop by luck."""
_GROWTH = 1.5
"""The largest factor by which the number of blocks grows from one measurement to the next. Few blocks do not show the
spread well enough to go further."""


@dataclass(frozen=True)
class WidthProgress:
    narrow: bool
    """Whether every interval has the requested width."""
    widest: float | None
    """Half of the widest interval's relative width. None if an interval has no bound, or if there is no interval."""
    blocks: int | None
    """The number of blocks that is probably enough. None if that is more than is practical, or without measurements."""


def width_progress(
    comparisons: Sequence[JudgedComparison], precision: float, planned: int, rule: Rule
) -> WidthProgress:
    """Return how far the comparisons of the first family are from the required width, leaving out those that cannot be
    judged. `planned`: the planned blocks."""
    answers = [c for c in headline(comparisons) if not c["withheld"]] if comparisons else []
    if not answers:
        return WidthProgress(narrow=False, widest=None, blocks=None)
    ends = [(c["low"], c["high"]) for c in answers if c["low"] and c["high"] is not None]
    if len(ends) < len(answers):
        more = math.ceil(_GROWTH * planned)  # the sufficient number is not known
        return WidthProgress(narrow=False, widest=None, blocks=more if more <= LIMIT else None)
    widest = max(width(low, high) for low, high in ends)
    narrow = widest <= precision and all(c["blocks"] >= ENOUGH_FOR_INTERVAL for c in answers)
    wide = [(end, c["blocks"]) for end, c in zip(ends, answers, strict=True) if width(*end) > precision]
    needed = [_needed(end, blocks, precision, planned, rule) for end, blocks in wide]
    numbers = [blocks for blocks in needed if blocks]
    return WidthProgress(
        narrow, widest, None if narrow or len(numbers) < len(needed) else max(numbers, default=planned + 1)
    )


def next_blocks(progress: WidthProgress, now: int, at_most: int | None) -> int | None:
    """Return the number of blocks at which the campaign is next checked. None if the campaign ends because its
    intervals are narrow enough, or if no practical number of blocks would be enough.

    With `at_most`, the campaign continues up to that many blocks even if they will not suffice.
    """
    enough = progress.blocks or at_most
    if progress.narrow or not enough or (progress.widest is None and progress.blocks is None):
        return None
    going = min(enough, at_most or LIMIT, math.ceil(_GROWTH * now))
    return going if going > now else None


def _needed(ends: tuple[float, float], blocks: int, precision: float, planned: int, rule: Rule) -> int | None:
    """Return the number of blocks with which the interval is probably narrow enough. Planned blocks that lack a value
    on one side do not help, so they are added."""
    level = rule.looks.level(rule.alpha)
    needed = blocks_for(precision, spread(*ends, blocks, level), level)
    return None if needed is None else max(needed, blocks + 1) + planned - blocks


def campaign_width_progress(case: Case, comparisons: Sequence[JudgedComparison]) -> WidthProgress:
    assert case.facts.precision is not None
    return width_progress(comparisons, case.facts.precision["wanted"], len(case.plan.blocks), case.rule)


class WidthPart(TypedDict):
    width: WidthReached | None
    """The width reached. Null without `--precision`."""


def _compute(case: Case) -> WidthPart:
    if case.facts.precision is None:
        return {"width": None}
    progress = campaign_width_progress(case, comparisons(case))
    return {
        "width": {
            **case.facts.precision,
            "narrow": progress.narrow,
            "widest": progress.widest,
            "blocks": progress.blocks,
        }
    }


SECTION = Section(WidthPart, _compute)
