"""The warm visits of pages among a trial's samples. A visit is as slow as what failed of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from h123.measures.stages import stages_of
from h123.store.rows import Integers, Mask, Numbers, Rows
from h123.study.metrics.observed import Arrival, Stage
from h123.study.workload import Kind


class Visit(NamedTuple):
    """One of them. Times are ns, of the samples' clock."""

    user: int
    group: int
    start_ns: int
    """When the document was asked for."""
    document_ns: int | None
    """Its last byte; None where that is not known."""
    end_ns: int
    failed: bool
    """Whether a request of it did."""


class Told(NamedTuple):
    """Of something that visits took: ns of those that did not fail, and how many failed."""

    ns: NDArray[np.float64]
    failed: int


@dataclass(frozen=True)
class Visits:
    """All of a trial, in the order of their users."""

    rows: Rows
    ok: Mask
    order: NDArray[np.intp]
    """Of the rows, so that those of a visit stand together."""
    begins: NDArray[np.intp]
    """Where in `order` each visit begins."""
    largest: int
    """The resource with the largest body."""

    @classmethod
    def of(cls, rows: Rows, ok: Mask, work: Kind) -> "Visits | None":
        """Those of samples of this workload, whose rows that are `ok` did not fail; None where there are none."""
        visit = work.visit()
        if visit is None:
            return None
        within = rows.phase("warm") & rows["group"].known
        if not within.any():
            return None
        order = np.flatnonzero(within)
        user, group = rows["user"].values[order], rows["group"].values[order]
        by_visit = np.lexsort((group, user))
        order, user, group = order[by_visit], user[by_visit], group[by_visit]
        begins = np.flatnonzero(np.diff(user, prepend=user[0] - 1) | np.diff(group, prepend=group[0]))
        return cls(rows, ok, order, begins, visit.largest)

    def each(self) -> list[Visit]:
        """None where nobody knows when they began and ended."""
        start, end = self.rows["start_ns"], self.rows["end_ns"]
        if not (start.known & end.known)[self.order].all():
            return []
        documents = self._furthest(end, self._asking_for(0), last=True)
        columns = (
            *(self.rows[name].values[self.order][self.begins] for name in ("user", "group")),
            self._started(),
            np.where(documents.known, documents.values, -1),
            np.maximum.reduceat(end.values[self.order], self.begins),
            self._failed(self.rows.every),
        )
        rows = zip(*(column.tolist() for column in columns), strict=True)
        return [Visit(user, group, at, None if got < 0 else got, over, bad) for user, group, at, got, over, bad in rows]

    def until(self) -> Mapping[Arrival, Told]:
        """From a visit's start on."""
        return {
            "complete": self._until("end_ns", self.rows.every, last=True),
            "document": self._until("first_byte_ns", self._asking_for(0), last=False),
            "largest": self._until("end_ns", self._asking_for(self.largest), last=True),
        }

    def spent(self) -> Mapping[Stage, Told | None]:
        """On each stage by the mean request of a visit; None where the client does not mark it in all."""
        stages = stages_of(self.rows)
        return {
            "queued": self._mean(stages.queued),
            "connecting": self._mean(stages.connecting),
            "waiting": self._mean(stages.waiting),
            "receiving": self._mean(stages.receiving),
        }

    def _asking_for(self, resource: int) -> Mask:
        asked = self.rows["resource"]
        there: Mask = asked.known & (asked.values == resource)
        return there

    def _started(self) -> Integers:
        started: Integers = np.minimum.reduceat(self.rows["start_ns"].values[self.order], self.begins)
        return started

    def _failed(self, of: Mask) -> Mask:
        """The visits of which one of these rows failed."""
        failed: Mask = np.logical_or.reduceat((of & ~self.ok)[self.order], self.begins)
        return failed

    def _furthest(self, column: Numbers, of: Mask, *, last: bool) -> Numbers:
        """Of each visit the last, or the first, that a column says of its rows `of`."""
        worst = np.iinfo(np.int64).min if last else np.iinfo(np.int64).max
        told = np.where(of & column.known, column.values, worst)[self.order]
        reached = (np.maximum if last else np.minimum).reduceat(told, self.begins)
        return Numbers(reached, reached != worst)

    def _until(self, name: str, of: Mask, *, last: bool) -> Told:
        reached, failed = self._furthest(self.rows[name], of, last=last), self._failed(of)
        took = reached.values - self._started()
        return Told(took[reached.known & ~failed].astype(np.float64), int(np.count_nonzero(failed)))

    def _mean(self, spent: Numbers) -> Told | None:
        failed = self._failed(self.rows.every)
        known = np.logical_and.reduceat(spent.known[self.order], self.begins)
        if not known[~failed].all():
            return None
        requests = np.diff(self.begins, append=len(self.order))
        means = np.add.reduceat(spent.values[self.order], self.begins) / requests
        return Told(means[~failed], int(np.count_nonzero(failed)))
