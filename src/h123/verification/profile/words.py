"""Describes in words what limits a subject."""

from typing import Final

from h123.base.units import figures, format_bytes, format_seconds
from h123.causes import CAUSES, WORDS
from h123.verification.profile.findings import SituationResult

_UNAVOIDABLE: Final = ("rate", "trip")
"""Causes that are part of a request's minimum time."""
_WORTH = 0.1
"""The smallest share of a request's time for which a cause is listed."""
_MOST = 3
_BURST = 0.1
"""A flight that is sent in less than this share of a round trip is not paced."""
_LIMITS = {cause.name for cause in CAUSES if cause.group == "limit"}


def holding(result: SituationResult) -> list[str]:
    """Return the avoidable causes that took at least a tenth of the time, at most the three largest, in descending
    order. The list is empty if nothing holds the subject back."""
    if not result.seconds:
        return []
    worth = [name for name, s in result.parts.items() if name not in _UNAVOIDABLE and s >= _WORTH * result.seconds]
    return sorted(worth, key=lambda name: -result.parts[name])[:_MOST]


def slowness(result: SituationResult) -> str:
    """Return the ratio of a request's mean time to its minimum time, such as `2.8`, or `-` if unknown."""
    return figures(result.seconds / result.least, 2) if result.seconds is not None else "-"


def holding_words(result: SituationResult) -> str:
    """Return text such as `51% slow start, 31% a fixed limit (...), 64 kB in flight`."""
    if result.seconds is None:
        return f"not known: {result.unknown}"
    parts = [_part(result, name) for name in holding(result)] or ["nothing"]
    return ", ".join([*parts, "sent in bursts"] if result.spread is not None and result.spread < _BURST else parts)


def summary(result: SituationResult) -> str:
    """Return text such as `1.42 s, 2.8 times the minimum: 51% slow start`."""
    if result.seconds is None:
        return holding_words(result)
    return f"{format_seconds(result.seconds)}, {slowness(result)} times the minimum: {holding_words(result)}"


def _part(result: SituationResult, name: str) -> str:
    assert result.seconds
    share = f"{result.parts[name] / result.seconds:.0%} {WORDS[name]}"
    return f"{share}, {format_bytes(result.in_flight)} in flight" if name in _LIMITS and result.in_flight else share
