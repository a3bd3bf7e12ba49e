"""Tests whether levels differ by more than a margin. Verdicts use two other tests: for any difference, and for
equivalence within the margin."""

import math
from collections.abc import Sequence

from h123.analysis.comparisons.rows import JudgedComparison
from h123.analysis.statistics.families import adjust
from h123.analysis.statistics.signedrank import CONFIDENCE, SignedRank
from h123.analysis.statistics.symmetry import SignTest
from h123.study import METRICS


def p_beyond(rows: Sequence[JudgedComparison], margin: float) -> list[float | None]:
    """Return, for each comparison, the two-sided p value for the null hypothesis that the ratio is within the margin,
    adjusted with Holm's method. None if a comparison is not judged. The test and the interval agree: if p is small, the
    interval excludes the margin."""
    p = [_p(row, margin) for row in rows]
    adjusted = iter(adjust([each for each in p if each is not None], "holm"))
    return [None if each is None else next(adjusted) for each in p]


def _p(row: JudgedComparison, margin: float) -> float | None:
    if row["withheld"] or not row["blocks"]:
        return None
    worst = math.inf if METRICS[row["metric"]].better == "lower" else -math.inf
    differences = [math.log(pair["ratio"]) for pair in row["pairs"] if pair["ratio"]]
    differences += [worst] * len(row["failed"]["a"]) + [-worst] * len(row["failed"]["b"])
    test, bound = SignTest if row["test"] == "sign" else SignedRank, math.log1p(margin)
    centre = test(differences).estimate(CONFIDENCE).centre
    if not abs(centre) > bound:
        return 1.0
    return test([difference - math.copysign(bound, centre) for difference in differences]).p()
