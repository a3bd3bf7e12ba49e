"""Relative sizes in words: in per cent up to a factor of two, and as a factor beyond it.

Every sentence, table and gate writes a ratio by these rules. The parts of a size are joined by no-break spaces.
"""

from h123.base.units import figures

FACTOR = 2.0
"""A ratio of at most this, or at least its inverse, is written in per cent."""
_MINUS, _TIMES = "\u2212", "\u00d7"


def in_percent(ratio: float) -> bool:
    """Whether the ratio is near enough to 1 to be written in per cent."""
    return 1 / FACTOR <= ratio <= FACTOR


def percentage(share: float) -> str:
    """A share in per cent without its sign: `24`, `5.3`, `0.04`; never 100 for what is less."""
    value = 100 * share
    if 99.5 <= value < 100:
        return f"{min(value, 99.99):.2f}"
    return (
        f"{value:.0f}" if value >= 9.95 else f"{value:.1f}".removesuffix(".0") if value >= 0.95 else figures(value, 1)
    )


def factor(ratio: float) -> str:
    """A ratio as a factor: `1,200`, `15`, `2.8`, `0.36`, `0.004`."""
    if ratio >= 9.95:
        return f"{ratio:,.0f}"
    return f"{ratio:.1f}".removesuffix(".0") if ratio >= 0.995 else figures(ratio, 2)


def span(low: str, high: str) -> str:
    """The two ends of an interval: `12 to 32`, or one number if both read the same."""
    return low if low == high else f"{low}\u00a0to\u00a0{high}"


def signed(ratio: float, *, like: float | None = None) -> str:
    """A ratio for a table: `−23 %`, `+7.3 %`, `×2.7`, `×0.31`; `0 %` where it is exactly 1. `like`: another ratio, in
    whose form, per cent or factor, it is written."""
    if not in_percent(ratio if like is None else like):
        return f"{_TIMES}{factor(ratio)}"
    sign = _MINUS if ratio < 1 else "+" if ratio > 1 else ""
    return f"{sign}{percentage(abs(ratio - 1)) if ratio != 1 else '0'}\u00a0%"


def signed_with_interval(ratio: float, low: float | None, high: float | None) -> str:
    """The same with its interval: `+7.3 % (+6.1 % to +9 %)`, `×2.7 (×1.8 to ×3.3)`."""
    ends = ("without bound" if end is None else signed(end, like=ratio) for end in (low, high))
    return f"{signed(ratio)} ({' to '.join(ends)})"
