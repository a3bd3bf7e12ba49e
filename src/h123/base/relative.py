"""Formats ratios: as percentages up to a factor of two, and as factors beyond that.

Every sentence, table and gate formats ratios by these rules. No-break spaces keep the parts of a number together.
"""

from h123.base.units import figures

FACTOR = 2.0
"""Ratios between 1 / FACTOR and FACTOR are written as percentages."""
_MINUS, _TIMES = "\u2212", "\u00d7"


def in_percent(ratio: float) -> bool:
    """Return whether the ratio is close enough to 1 to be written as a percentage."""
    return 1 / FACTOR <= ratio <= FACTOR


def percentage(share: float) -> str:
    """Format a share as a percentage without the per cent sign: `24`, `5.3`, `0.04`. Values below 100 are never rounded
    to 100."""
    value = 100 * share
    if 99.5 <= value < 100:
        return f"{min(value, 99.99):.2f}"
    return (
        f"{value:.0f}" if value >= 9.95 else f"{value:.1f}".removesuffix(".0") if value >= 0.95 else figures(value, 1)
    )


def factor(ratio: float) -> str:
    """Format a ratio as a factor: `1,200`, `15`, `2.8`, `0.36`, `0.004`."""
    if ratio >= 9.95:
        return f"{ratio:,.0f}"
    return f"{ratio:.1f}".removesuffix(".0") if ratio >= 0.995 else figures(ratio, 2)


def span(low: str, high: str) -> str:
    """Format the two ends of an interval: `12 to 32`, or a single number if both ends read the same."""
    return low if low == high else f"{low}\u00a0to\u00a0{high}"


def signed(ratio: float, *, like: float | None = None) -> str:
    """Format a ratio for a table: `−23 %`, `+7.3 %`, `×2.7`, `×0.31`, or `0 %` if it is exactly 1. The ratio `like`, if
    given, decides whether the form is a percentage or a factor."""
    if not in_percent(ratio if like is None else like):
        return f"{_TIMES}{factor(ratio)}"
    sign = _MINUS if ratio < 1 else "+" if ratio > 1 else ""
    return f"{sign}{percentage(abs(ratio - 1)) if ratio != 1 else '0'}\u00a0%"


def signed_with_interval(ratio: float, low: float | None, high: float | None) -> str:
    """Format a ratio with its interval: `+7.3 % (+6.1 % to +9 %)`, `×2.7 (×1.8 to ×3.3)`."""
    ends = ("without bound" if end is None else signed(end, like=ratio) for end in (low, high))
    return f"{signed(ratio)} ({' to '.join(ends)})"
