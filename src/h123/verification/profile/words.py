"""What holds a subject back, in words."""

from collections.abc import Mapping
from typing import Final

from h123.base.units import figures, format_bytes, format_seconds
from h123.causes import CAUSES
from h123.verification.profile.findings import SituationResult

_UNAVOIDABLE: Final = ("rate", "trip")
"""Causes that are the least that a request takes."""
_WORTH = 0.1
"""Share of the request's time that a part must have to be told."""
_MOST = 3
_BURST = 0.1
"""Share of a round trip: what is sent in less is not paced."""
_WORDS: Mapping[str, str] = {cause.name: cause.words for cause in CAUSES}
_LIMITS = {cause.name for cause in CAUSES if cause.group == "limit"}


def holding(held: SituationResult) -> list[str]:
    """The causes that took a tenth of the time or more, largest first, at most three; none: nothing holds it."""
    if not held.seconds:
        return []
    worth = [name for name, s in held.parts.items() if name not in _UNAVOIDABLE and s >= _WORTH * held.seconds]
    return sorted(worth, key=lambda name: -held.parts[name])[:_MOST]


def slowness(held: SituationResult) -> str:
    """`2.8`: how many times the least that a request takes; `-`: not told."""
    return figures(held.seconds / held.least, 2) if held.seconds is not None else "-"


def holding_words(held: SituationResult) -> str:
    """`51% slow start, 31% a limit that does not grow (...), 64 kB under way`."""
    if held.seconds is None:
        return f"not told: {held.untold}"
    said = [_part(held, name) for name in holding(held)] or ["nothing"]
    return ", ".join([*said, "sent in bursts"] if held.spread is not None and held.spread < _BURST else said)


def summary(held: SituationResult) -> str:
    """`1.42 s, 2.8 times the least: 51% slow start`."""
    if held.seconds is None:
        return holding_words(held)
    return f"{format_seconds(held.seconds)}, {slowness(held)} times the least: {holding_words(held)}"


def _part(held: SituationResult, name: str) -> str:
    assert held.seconds
    share = f"{held.parts[name] / held.seconds:.0%} {_WORDS[name]}"
    return f"{share}, {format_bytes(held.in_flight)} under way" if name in _LIMITS and held.in_flight else share
