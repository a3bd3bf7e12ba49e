"""Counts the handshakes that are included in CPU per request: how many of a trial's requests had to open a connection
first.

The processor time of a run includes handshakes. A handshake costs several times as much as a small request, and
HTTP/1.1 makes one for each user, whereas users of HTTP/2 and HTTP/3 share a connection. So the report shows the numbers
of handshakes next to the ratio if they differ between the levels. If the run is long enough, `cpu_warm` and
`cpu_handshake` measure requests and handshakes separately.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NotRequired

import numpy as np
from typing_extensions import TypedDict

from h123.analysis.comparisons.rows import Cell, JudgedComparison
from h123.measures import Attempt
from h123.study import METRICS
from h123.study.metrics.quantity import ProcessorTime


class HandshakesRow(TypedDict):
    """The numbers of handshakes and requests in the median trial of a level."""

    cell: Cell
    level: str
    handshakes: int
    """The number of requests that opened a connection."""
    requests: int


_MIXED = [name for name, metric in METRICS.items() if isinstance(metric.of, ProcessorTime) and metric.of.part == "all"]
NOTABLE = 0.01
"""The largest difference between two levels' handshakes per request at which handshakes account for about the same part
of both levels' processor time."""


def handshakes(
    attempts: Sequence[Attempt], comparisons: Sequence[JudgedComparison], factor: str
) -> list[HandshakesRow]:
    """Return the `handshakes` part of verdicts.json: the numbers of requests and handshakes in the median trial, for
    each cell and level whose CPU is compared.

    A client that does not report which requests found an open connection gets no row.
    """
    compared = [c for c in comparisons if c["metric"] in _MIXED and not c["twin"]]
    levels = dict.fromkeys((tuple(sorted(c["cell"].items())), level) for c in compared for level in (c["a"], c["b"]))
    trials: dict[Any, list[tuple[int, int]]] = defaultdict(list)
    for attempt in attempts:
        others = tuple(sorted((name, level) for name, level in attempt.cell.items() if name != factor))
        if attempt.summary.handshakes is not None and not attempt.twin:
            trials[others, attempt.cell[factor]].append((attempt.summary.handshakes, attempt.summary.rows))
    return [_row(*place, trials[place]) for place in levels if trials[place]]


def noted(comparisons: Sequence[JudgedComparison], rows: Sequence[HandshakesRow]) -> list[JudgedComparison]:
    """Return the comparisons, with a note if handshakes make up more of the CPU per request at one level than at the
    other."""
    by_level = {(tuple(row["cell"].items()), row["level"]): row for row in rows}
    return [{**c, "note": "; ".join(filter(None, [c["note"], _note(c, by_level)])) or None} for c in comparisons]


def handshakes_per_request(row: HandshakesRow) -> float:
    return float(row["handshakes"] / row["requests"])


def _row(cell: tuple[tuple[str, str], ...], level: str, trials: list[tuple[int, int]]) -> HandshakesRow:
    handshakes, requests = (round(float(np.median(numbers))) for numbers in zip(*trials, strict=True))
    return {"cell": dict(cell), "level": level, "handshakes": handshakes, "requests": requests}


def _note(c: JudgedComparison, by_level: Mapping[Any, HandshakesRow]) -> str | None:
    sides = [by_level.get((tuple(sorted(c["cell"].items())), level)) for level in (c["a"], c["b"])]
    rows = [row for row in sides if row]
    if c["metric"] not in _MIXED or c["twin"] or len(rows) < len(sides):
        return None
    if abs(handshakes_per_request(rows[0]) - handshakes_per_request(rows[1])) <= NOTABLE:
        return None
    shares = " and ".join(f"{row['handshakes']} of {row['requests']} requests of {row['level']}" for row in rows)
    return f"handshakes included, in {shares}; in trials that are long enough, `cpu_warm` measures requests alone"


class HandshakesPart(TypedDict):
    handshakes: NotRequired[Sequence[HandshakesRow]]
    """The handshakes of the median trial, for each cell and level whose processor time is compared."""
