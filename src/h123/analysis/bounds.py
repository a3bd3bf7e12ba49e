"""Compares a ratio's interval with a bound. Finds whether the interval is reliable, and how many blocks would decide
the comparison."""

import math
from collections.abc import Sequence

from h123.analysis.comparisons.projection import FEWEST_PAIRS, Levels, fewest_blocks, pairs_needed
from h123.analysis.comparisons.rows import JudgedComparison, headline
from h123.analysis.sections import Verdicts
from h123.analysis.statistics.looks import WIDTH, Looks


def reliable(had: float | None, verdicts: Verdicts) -> bool:
    """Return whether `had`, an interval's confidence, is high enough at the current look at the data. With too few
    blocks, it never is."""
    return had is not None and 1 - had <= verdicts["looks"]["level"] * (1 + 1e-9)


def blocks_to_part(comparison: JudgedComparison, bound: float, verdicts: Verdicts) -> int | None:
    """Return the number of blocks, including planned ones, with which the whole interval would probably lie on one side
    of `bound`. None if that is more than is practical.

    The interval lies on one side of the bound if a test at the interval's level finds a difference from the bound
    (projection.py). The number is never below what the study's question needs, so that it does not contradict the
    advice about the question.
    """
    ratios = [pair["ratio"] for pair in comparison["pairs"] if pair["ratio"]]
    return _needed(ratios, bound, verdicts, comparison["blocks"], [comparison])


def blocks_to_part_value(values: Sequence[float], bound: float, verdicts: Verdicts) -> int | None:
    """Return the number of blocks with which the interval of one level's value would probably lie on one side of
    `bound`. None if that is more than is practical, or if the bound or a value is zero."""
    if min([bound, *values]) <= 0:
        return None
    return _needed(values, bound, verdicts, len(values), [])


def _needed(
    had: Sequence[float], bound: float, verdicts: Verdicts, blocks: int, own: Sequence[JudgedComparison]
) -> int | None:
    looks, planned = verdicts["looks"], verdicts["blocks"]["planned"]
    looks_so_far = Looks(looks["blocks"], looks["planned"], looks["rule"] == WIDTH)
    level = looks_so_far.next_level(verdicts["alpha"])
    apart = [math.log(ratio / bound) for ratio in had]
    least = fewest_blocks([*headline(verdicts["comparisons"]), *own], level)
    needed = least if len(apart) < FEWEST_PAIRS else pairs_needed(apart, 0.0, Levels(level, 0.0))
    if needed is None:
        return None
    outlook = verdicts["projection"]
    if outlook["failed"] + outlook["waiting"] + outlook.get("damaged", 0) and max(needed, least) <= planned:
        return planned
    # A block that lacks a value on one side does not count: one more is needed for each.
    return max(needed, least) + max(0, planned - blocks)
