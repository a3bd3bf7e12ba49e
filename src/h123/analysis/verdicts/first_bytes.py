"""Finds in packets why responses begin a round trip or more later at one level than at the other.

A protocol's own round trips and a slow server are not among the reasons, because the causes of cold requests cover
both.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Literal

from h123.analysis.audits.round_trips import WAITED, beyond
from h123.analysis.comparisons.rows import JudgedComparison, Later
from h123.measures import Attempt
from h123.study import METRICS

METRIC = METRICS["ttfb"].cold
_MOST = 0.5
"""A reason must apply to more than this share of a side's connections."""


def with_reasons(
    comparisons: Sequence[JudgedComparison], attempts: Sequence[Attempt], factor: str
) -> list[JudgedComparison]:
    """Return the comparisons. If they compare the time to first byte, add the reason why responses begin later at one
    level, if it is known."""
    return [
        {**c, "later": later} if c["metric"] == METRIC and (later := _later(c, attempts, factor)) else c
        for c in comparisons
    ]


def _later(c: JudgedComparison, attempts: Sequence[Attempt], factor: str) -> Later | None:
    if c["twin"]:
        return None
    a, b = (_beyond(attempts, {**c["cell"], factor: c[side]}) for side in ("a", "b"))
    if not a or not b:
        return None
    more = median(trips for trips, _ in a) - median(trips for trips, _ in b)
    side: Literal["a", "b"] = "a" if more > 0 else "b"
    slower, quicker = (a, b) if side == "a" else (b, a)
    why, count = Counter(why for _, why in slower).most_common(1)[0]
    usual = sum(reason == why for _, reason in quicker) > _MOST * len(quicker)
    if abs(more) < 1 or why in ("", WAITED) or count <= _MOST * len(slower) or usual:
        return None
    return {"side": side, "round_trips": round(abs(more)), "why": why}


def _beyond(attempts: Sequence[Attempt], cell: Mapping[str, str]) -> list[tuple[int, str]]:
    """Return the extra round trips of each connection of a treatment, with their reasons."""
    mine = [attempt for attempt in attempts if not attempt.twin and cell.items() <= attempt.cell.items()]
    return [opening for own_attempt in mine for opening in beyond(own_attempt)]
