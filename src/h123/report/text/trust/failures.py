"""Writes sentences about requests that failed."""

from h123.analysis.comparisons.failures import FailuresPart, FailuresRow
from h123.base.units import counted, figures
from h123.report.text.words import level, listed, opened, percent, place, unbroken

_FEW = 6
_SAID = {
    "fails more": "fails more often than",
    "fails less": "fails less often than",
    "alike": "fails as often as",
    "inconclusive": "is not known to fail more or less often than",
}


def failure_lines(verdicts: FailuresPart) -> list[str]:
    """Return sentences for the summary: each difference, and the number of comparisons without one."""
    rows = verdicts["failures"]
    apart = [row for row in rows if row["verdict"] in ("fails more", "fails less")]
    lines = [sentence(row) for row in apart[:_FEW]]
    if len(apart) > _FEW:
        lines.append(f"failures differ in {counted(len(apart) - _FEW, 'more comparison')}: see the report")
    if rest := len(rows) - len(apart):
        worst = max(max(row["a_share"], row["b_share"]) for row in rows if row not in apart)
        lines.append(
            f"requests failed in {rest} comparison{'s' * (rest > 1)}, at most {_percent(worst)} of a side's; which "
            "side fails more often may be chance"
        )
    return lines


def sentence(row: FailuresRow) -> str:
    """Describe a row: `On poor, HTTP/3 fails more often than HTTP/2: 45 % of its requests against 0 % (30 to 60
    points).`"""
    a, b = level(row["a"]), level(row["b"])
    shares = f"{_percent(row['a_share'])} of its requests against {_percent(row['b_share'])}"
    ends = sorted((abs(row["low"]), abs(row["high"])))
    apart = row["verdict"] in ("fails more", "fails less")
    points = f" ({listed([figures(100 * end, 2) for end in ends], 'to')} points)" if apart else ""
    return opened(place(row["cell"]), f"{a} {_SAID[row['verdict']]} {b}: {shares}{points}")


def _percent(share: float) -> str:
    return unbroken(percent(round(share, 4)))
