"""Compares the published analysis with h123's: what each of them finds in a comparison, and why they differ."""

import math

from h123.analysis.as_published.procedure import (
    FASTER,
    NOT_PRACTICAL,
    PRACTICAL_DIFFERENCE,
    PRACTICAL_EFFECT,
    SLOWER,
)
from h123.analysis.as_published.rows import PublishedPair, SoundComparison, SoundRow, Tests
from h123.analysis.comparisons.rows import JudgedComparison
from h123.base.units import figures
from h123.study import PRINTED

FINDINGS = (FASTER, SLOWER)


def sound_comparison(
    published: PublishedPair, sound: JudgedComparison | None, margin: float, alpha: float
) -> SoundComparison:
    """Return h123's own verdict on a published comparison (`sound`), whether it agrees with the published verdict
    (`agrees`), and if not, why (`reason`). All fields are null if h123 does not test this comparison."""
    if sound is None or sound["ratio"] is None:
        return {"sound": None, "agrees": None, "reason": None}
    row = _as_metric(sound, sound["ratio"], inverted=PRINTED[published["metric"]].better == "higher")
    agrees = _finding(published["verdict"]) == _finding(row["verdict"])
    reason = None if agrees else _reason(published, row, sound, margin, alpha)
    return {"sound": row, "agrees": agrees, "reason": reason}


def _as_metric(sound: JudgedComparison, ratio: float, inverted: bool) -> SoundRow:
    low, high = sound["low"], sound["high"]
    if inverted:
        ratio, low, high = 1 / ratio, high and 1 / high, low and 1 / low
    return {
        "metric": sound["metric"],
        "blocks": sound["blocks"],
        "p_adjusted": sound["p_adjusted"],
        "verdict": sound["verdict"],
        "ratio": ratio,
        "low": low,
        "high": high,
        "confidence": sound["confidence"],
    }


def _finding(verdict: str) -> str | None:
    """Return the verdict if it finds a difference, else None. Verdicts that find no difference do not contradict one
    another."""
    return verdict if verdict in FINDINGS else None


def _reason(published: Tests, row: SoundRow, sound: JudgedComparison, margin: float, alpha: float) -> str:
    if row["verdict"] in FINDINGS:
        return _against(published) if published["verdict"] in FINDINGS else _missed(published, row)
    if row["verdict"] == "equivalent":
        return (
            f"paired by block the ratio is {figures(row['ratio'])}, within the margin of {100 * margin:.3g} %; "
            f"the pooled medians differ by {100 * published['median_difference']:+.1f} % because runs differ"
        )
    return f"{_pooling(published, row)}; {_doubt(row, sound, alpha)}"


def _pooling(published: Tests, row: SoundRow) -> str:
    """Describe how many requests the pooled test assumes to be independent."""
    total = published["a_side"]["n"] + published["b_side"]["n"]
    text = f"pooling counts {total} requests as independent where there are {row['blocks']} blocks"
    sides = published["a_side"], published["b_side"]
    worth = [independent for side in sides if (independent := side["independent"]) is not None]
    if len(worth) == len(sides) and sum(worth) < 0.9 * total:
        text += f" (requests of a run are alike, so they say no more than {max(2, round(sum(worth)))} would)"
    return text


def _doubt(row: SoundRow, sound: JudgedComparison, alpha: float) -> str:
    if sound["p_attainable"] > alpha:
        return f"with so few blocks no p can fall below {sound['p_attainable']:.2g}"
    if (row["low"] or 0) <= 1 <= (row["high"] or math.inf):
        return f"from block to block the ratio varies too much: its interval {_interval(row)} contains 1"
    return f"corrected for the number of comparisons p is {row['p_adjusted']:.2g}, above {alpha:g}"


def _against(published: Tests) -> str:
    return (
        "the pooled medians and the ratios within blocks point in different directions: runs differ more than the "
        f"levels do (medians {100 * published['median_difference']:+.1f} %)"
    )


def _missed(published: Tests, row: SoundRow) -> str:
    paired_ratio = f"paired by block the ratio is {figures(row['ratio'])}, {_interval(row)}"
    if published["verdict"] != NOT_PRACTICAL:
        return (
            f"{paired_ratio}: pairing removes what the runs of a block share, which hides the difference among pooled "
            "requests"
        )
    short = []
    if abs(published["median_difference"]) < PRACTICAL_DIFFERENCE:
        short.append(f"medians differ by {100 * abs(published['median_difference']):.1f} %, not 10 %")
    if abs(published["r_rb"]) < PRACTICAL_EFFECT:
        short.append(f"|r_rb| is {abs(published['r_rb']):.2f}, not 0.3")
    return f"{paired_ratio}: established, but below what the published rule calls practical ({' and '.join(short)})"


def _interval(row: SoundRow) -> str:
    low, high = ("no bound" if end is None else figures(end) for end in (row["low"], row["high"]))
    return f"{low} – {high}"
