"""Finds the warm visits to pages among a trial's samples. A visit with a failed request counts as failed."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from h123.documents.trial_files import ClientFile
from h123.measures.stages import stages_of
from h123.packets.capture import TCP, UDP, UP, packets_file, read_packets
from h123.store.rows import Integers, Mask, Numbers, Rows
from h123.study.metrics.quantity import Arrival, PageEvent, Stage
from h123.study.workload import WorkloadKind


class Visit(NamedTuple):
    """One visit; times in ns, on the samples' clock."""

    user: int
    group: int
    start_ns: int
    """When the document was requested."""
    document_ns: int | None
    """When the last byte of the document arrived. None if unknown."""
    end_ns: int
    failed: bool


class VisitTimes(NamedTuple):
    """The times in ns of the visits that did not fail, and the number of visits that failed."""

    ns: NDArray[np.float64]
    failed: int


@dataclass(frozen=True)
class Visits:
    """All visits of a trial, in the order of their users."""

    rows: Rows
    ok: Mask
    order: NDArray[np.intp]
    """An order of the rows in which the rows of each visit are adjacent."""
    begins: NDArray[np.intp]
    """The index in `order` of the first row of each visit."""
    largest: int
    """The number of the resource with the largest body."""

    @classmethod
    def of(cls, rows: Rows, ok: Mask, work: WorkloadKind) -> "Visits | None":
        """Return the visits in samples of this workload. None if the workload has no visits, or the samples contain no
        warm ones. `ok` selects the rows that did not fail."""
        visit = work.visit()
        if visit is None:
            return None
        within = rows.phase("warm") & rows["group"].valid
        if not within.any():
            return None
        order = np.flatnonzero(within)
        user, group = rows["user"].values[order], rows["group"].values[order]
        by_visit = np.lexsort((group, user))
        order, user, group = order[by_visit], user[by_visit], group[by_visit]
        begins = np.flatnonzero(np.diff(user, prepend=user[0] - 1) | np.diff(group, prepend=group[0]))
        return cls(rows, ok, order, begins, visit.largest)

    def each(self) -> list[Visit]:
        """Return the visits one by one. Empty if the start or the end of a request is unknown."""
        start, end = self.rows["start_ns"], self.rows["end_ns"]
        if not (start.valid & end.valid)[self.order].all():
            return []
        documents = self._furthest(end, self._asking_for(0), last=True)
        columns = (
            *(self.rows[name].values[self.order][self.begins] for name in ("user", "group")),
            self._started(),
            np.where(documents.valid, documents.values, -1),
            np.maximum.reduceat(end.values[self.order], self.begins),
            self._failed(self.rows.every),
        )
        rows = zip(*(column.tolist() for column in columns), strict=True)
        return [
            Visit(user, group, at, None if document_ns < 0 else document_ns, end_ns, failed)
            for user, group, at, document_ns, end_ns, failed in rows
        ]

    def until(self) -> Mapping[Arrival, VisitTimes]:
        """Return, for each event, the time from each visit's start to the event."""
        return {
            "complete": self._until("end_ns", self.rows.every, last=True),
            "document": self._until("first_byte_ns", self._asking_for(0), last=False),
            "largest": self._until("end_ns", self._asking_for(self.largest), last=True),
        }

    def stage_times(self) -> Mapping[Stage, VisitTimes | None]:
        """Return, for each stage, the mean time that the requests of each visit spent in it. None if the stage is
        unknown for a request of a visit that did not fail."""
        stages = stages_of(self.rows)
        return {
            "queued": self._mean(stages.queued),
            "connecting": self._mean(stages.connecting),
            "waiting": self._mean(stages.waiting),
            "receiving": self._mean(stages.receiving),
        }

    def _asking_for(self, resource: int) -> Mask:
        resources = self.rows["resource"]
        matches: Mask = resources.valid & (resources.values == resource)
        return matches

    def _started(self) -> Integers:
        started: Integers = np.minimum.reduceat(self.rows["start_ns"].values[self.order], self.begins)
        return started

    def _failed(self, of: Mask) -> Mask:
        """Return, for each visit, whether one of its rows in `of` failed."""
        failed: Mask = np.logical_or.reduceat((of & ~self.ok)[self.order], self.begins)
        return failed

    def _furthest(self, column: Numbers, of: Mask, *, last: bool) -> Numbers:
        """Return, for each visit, the largest (`last`) or the smallest value of a column in the visit's rows that are
        in `of`."""
        worst = np.iinfo(np.int64).min if last else np.iinfo(np.int64).max
        values = np.where(of & column.valid, column.values, worst)[self.order]
        extremes = (np.maximum if last else np.minimum).reduceat(values, self.begins)
        return Numbers(extremes, extremes != worst)

    def _until(self, name: str, of: Mask, *, last: bool) -> VisitTimes:
        ends, failed = self._furthest(self.rows[name], of, last=last), self._failed(of)
        durations = ends.values - self._started()
        return VisitTimes(durations[ends.valid & ~failed].astype(np.float64), int(np.count_nonzero(failed)))

    def _mean(self, durations: Numbers) -> VisitTimes | None:
        failed = self._failed(self.rows.every)
        valid = np.logical_and.reduceat(durations.valid[self.order], self.begins)
        if not valid[~failed].all():
            return None
        requests = np.diff(self.begins, append=len(self.order))
        means = np.add.reduceat(durations.values[self.order], self.begins) / requests
        return VisitTimes(means[~failed], int(np.count_nonzero(failed)))


_COLUMNS = ("at_ns", "source", "way", "protocol")


def dialled_of(folder: Path, visits: Sequence[Visit]) -> list[int]:
    """Return, for each visit of the trial in `folder`, the number of connections, used or not, whose first packet
    reached the link during the visit. Empty if there is no record of packets, or if visits overlap, because connections
    then cannot be assigned to visits. Raises UserError if the record cannot be read."""
    ordered = sorted(visits, key=lambda visit: visit.start_ns)
    together = any(later.start_ns < earlier.end_ns for earlier, later in pairwise(ordered))
    if not visits or together or not packets_file(folder).is_file():
        return []
    beginnings = np.sort(_beginnings(folder))
    spans = np.array([(visit.start_ns, visit.end_ns + 1) for visit in visits])
    counts: list[int] = np.diff(np.searchsorted(beginnings, spans), axis=1).ravel().tolist()
    return counts


def _beginnings(folder: Path) -> Integers:
    """Return when the first packet of each connection arrived at the link. Connections differ in the protocol or the
    client's port."""
    packets = read_packets(folder, columns=_COLUMNS)
    up_packets = packets[(packets["way"] == UP) & np.isin(packets["protocol"], (TCP, UDP))]
    key = up_packets["protocol"].astype(np.int64) << 16 | up_packets["source"]
    _, first = np.unique(key, return_index=True)  # packets are in the order of arrival
    times: Integers = up_packets["at_ns"][first]
    return times


class VisitTimings(NamedTuple):
    """The events of a visit, on the clock of the samples. None for an event that never happened."""

    visit: Visit
    dom_content_loaded: int | None
    load: int | None


def events_of(visits: Sequence[Visit], facts: ClientFile | None) -> Iterator[VisitTimings]:
    """Yield the events of each visit for which the client reports them."""
    events_by_visit = {(events.user, events.group): events for events in facts.visits} if facts else {}
    for visit in visits:
        if events := events_by_visit.get((visit.user, visit.group)):
            yield VisitTimings(visit, events.dom_content_loaded_ns, events.load_ns)


def times_until(event: PageEvent, visits: Sequence[Visit], facts: ClientFile | None) -> list[float]:
    """Return the time in ns from the start of each visit to the event. It is infinite if the event never happened or
    the visit failed. Empty if the client does not report the event."""
    ends = [
        (timings.visit, timings.load if event == "load" else timings.dom_content_loaded)
        for timings in events_of(visits, facts)
    ]
    if all(at is None for _, at in ends):
        return []
    return [math.inf if at is None or visit.failed else float(at - visit.start_ns) for visit, at in ends]
