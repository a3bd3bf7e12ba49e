"""A comparison beside a bound for its ratio: whether its interval is to be relied on, and what would part the two."""

import math

from h123.analysis.document import Judged, Verdicts
from h123.analysis.families import blocks_needed
from h123.analysis.looks import WIDTH, Looks
from h123.analysis.projection import FEWEST_PAIRS, Levels, pairs_needed


def reliable(comparison: Judged, verdicts: Verdicts) -> bool:
    """Whether the interval has the confidence that the present look asks for; of too few blocks none has."""
    had = comparison["confidence"]
    return had is not None and 1 - had <= verdicts["looks"]["level"] * (1 + 1e-9)


def blocks_to_part(comparison: Judged, bound: float, verdicts: Verdicts) -> int | None:
    """The number of blocks with which the comparison's whole interval would probably lie on one side of `bound`, those
    planned included; None if that is more than anybody runs.

    An interval does so where the test of its own level finds a difference from the bound (projection.py).
    """
    looks, planned = verdicts["looks"], verdicts["blocks"]["planned"]
    taken = Looks(looks["blocks"], looks["planned"], looks["rule"] == WIDTH)
    level = taken.next_level(verdicts["alpha"])
    beside = [math.log(pair["ratio"] / bound) for pair in comparison["pairs"] if pair["ratio"]]
    if len(beside) < FEWEST_PAIRS:
        needed: int | None = blocks_needed(1, comparison["correction"], level)
    else:
        needed = pairs_needed(beside, 0.0, Levels(level, 0.0))
    # A block without a value on both sides helps nobody: as many more are needed.
    return None if needed is None else needed + max(0, planned - comparison["blocks"])
