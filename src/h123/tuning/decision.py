"""Decides what the last round shows: whether the chosen candidate differs from the default by more than the margin.

Earlier rounds have chosen the candidate, so there is only one comparison for each network: the candidate with the
default. h123 claims a difference if it rejects the hypothesis that the difference is within the margin, with Holm's
correction over the networks.
"""

from collections.abc import Callable, Sequence

from h123.analysis import p_beyond
from h123.analysis.comparisons.rows import JudgedComparison
from h123.study import METRICS
from h123.tuning.document import TuningClaim, TuningVerdict
from h123.tuning.drafting import ALSO

Needed = Callable[[JudgedComparison, float], int | None]
"""Takes a comparison and a ratio, and returns the number of blocks with which the interval would probably lie on one
side of the ratio."""


def claims(
    rows: Sequence[JudgedComparison], metric: str, margin: float, needed: Needed, alpha: float = 0.05
) -> tuple[list[TuningClaim], list[TuningClaim]]:
    """Return the claims that answer the question, and those about costs, from the comparisons of the last round. A
    `margin` of 0.03 means 3 %."""
    rows = [row for row in rows if not row["twin"]]
    answer = [row for row in rows if row["metric"] == metric and row["cell"].get("load") != ALSO]
    others = [row for row in rows if row not in answer]

    def needed_by(row: JudgedComparison) -> int | None:
        ratio = row["ratio"]
        return needed(row, 1 + margin if ratio > 1 else 1 / (1 + margin)) if ratio else None

    found = [
        _claim(row, p, alpha, needed_by)
        for part in (answer, others)
        for row, p in zip(part, p_beyond(part, margin), strict=True)
    ]
    return found[: len(answer)], found[len(answer) :]


def _verdict(row: JudgedComparison, *, sure: bool) -> TuningVerdict:
    if row["withheld"] or not row["blocks"]:
        return "withheld"
    if row["verdict"] == "equivalent":
        return "same"
    standing = METRICS[row["metric"]].standing(row["verdict"])
    if sure and standing == "better":
        return "better"
    return "worse" if sure and standing == "worse" else "open"


def _claim(
    row: JudgedComparison, p: float | None, alpha: float, needed: Callable[[JudgedComparison], int | None]
) -> TuningClaim:
    withheld, verdict = row["withheld"], _verdict(row, sure=p is not None and p <= alpha)
    return {
        "cell": {name: level for name, level in row["cell"].items() if name != "load"},
        "what": row["workload"],
        "metric": row["metric"],
        "verdict": verdict,
        "ratio": row["ratio"],
        "low": row["low"],
        "high": row["high"],
        "confidence": row["confidence"],
        "p": p,
        "chosen": row["a_median"],
        "default": row["b_median"],
        "why": withheld["why"].replace(f"{row['a']} failed", "it failed")
        if withheld
        else None
        if row["blocks"]
        else "no block has a value for both",
        "needed": needed(row) if verdict == "open" else None,
    }
