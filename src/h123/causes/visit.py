"""Finds the critical path of a visit to a page: the chain of requests that determined when the visit ended.

The path leads from the resource that ended last to the resource that requested it, and so on back to the document. The
times of these resources, and the times between them, add up to the visit's duration.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from h123.causes.cause import CLIENT_WORK, RUNNING, Nanoseconds, time_on
from h123.causes.stretch import middle
from h123.store import Sample
from h123.study.workload import VisitOrder


@dataclass(frozen=True)
class PathStep:
    """A resource on the critical path."""

    row: Sample
    until: int
    """When the resource ended, or caused the request for the next one if that was earlier, in ns."""
    between: Nanoseconds
    """The ns between the previous step and this one, by cause."""


def middle_visits(rows: Sequence[Sample], asking: VisitOrder) -> list[list[PathStep]]:
    """Return the critical path of the trial's median warm visit. For an even number of visits, return the paths of the
    two in the middle, whose mean duration is the median. A failed visit ranks as slower than any other. The list is
    empty if a visit in the middle failed."""
    visits = defaultdict[tuple[int, int], list[Sample]](list)
    for row in rows:
        if row["phase"] == "warm" and row["group"] is not None:
            visits[row["user"], row["group"]].append(row)
    ordered = sorted(visits.values(), key=lambda of: (_failed(of, asking), _duration(of)))
    middle_rows = middle(ordered)
    return [] if any(_failed(of, asking) for of in middle_rows) else [list(_path(of, asking)) for of in middle_rows]


def _failed(visit: Sequence[Sample], asking: VisitOrder) -> bool:
    """Return whether a part of the page did not arrive."""
    complete = {row["resource"] for row in visit if not row["error"]}
    return len(visit) != len(asking.askers) or complete != set(range(len(asking.askers)))


def _duration(visit: Sequence[Sample]) -> int:
    return max(row["end_ns"] for row in visit) - min(row["start_ns"] for row in visit)


def _path(visit: Sequence[Sample], asking: VisitOrder) -> Iterator[PathStep]:
    """Yield the steps of the path, beginning with the document."""
    of = {row["resource"] or 0: row for row in visit}
    way = [max(of, key=lambda resource: of[resource]["end_ns"])]
    while (asker := asking.askers[way[-1]]) is not None:
        way.append(asker)
    way.reverse()
    now, runs = min(row["start_ns"] for row in visit), 0
    for resource, next_resource in zip(way, [*way[1:], None], strict=True):
        row = of[resource]
        due, until = max(row["start_ns"], now), row["end_ns"]
        if next_resource is not None:
            until = max(min(until, of[next_resource]["start_ns"]), due)
        ran = min(now + runs, due)
        yield PathStep(row, until, time_on(RUNNING, now, ran) + time_on(CLIENT_WORK, ran, due))
        now, runs = until, asking.runs_ns[resource]
