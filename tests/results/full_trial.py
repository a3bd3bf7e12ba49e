"""A trial that has a bit of everything, so that each metric has a value."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from h123.documents import trial_files
from h123.documents.lab_report import (
    NO_REPORT,
    Cpu,
    CrossTrafficReport,
    DirectionReport,
    Lateness,
    LinkReport,
    QueueWaits,
    Report,
    RoleReport,
)
from h123.documents.trial_files import ClientFile, Process, VisitEvents
from h123.measures.blocking import Blocking, blocking_of
from h123.measures.metrics import measure
from h123.measures.opening import Opening
from h123.measures.recovery import breaks_of, recoveries_of
from h123.measures.summary import summarise
from h123.packets.capture import DELIVERED, LOST, PACKET, QUEUE_FULL, write_packets
from h123.store.rows import Rows
from h123.study import METRICS
from h123.study.metrics.quantity import AbandonedShare, FallbackShare, OpeningCost, RetriedShare, WastedShare
from h123.study.networks.network import Change, Direction, Move
from h123.study.workload import KINDS, workload_of

MS = 1_000_000
NEVER_NULL = {"start_ns", "tries"}
"""Besides those that are always there: samples without them are refused."""

WAYS = {
    name: DirectionReport(
        packets_in=900,
        queue_dropped=9,
        marked=18,
        too_large=27,
        reordered_far=36,
        bytes_in=size,
        bytes_delivered=size,
        ipv6_bytes_delivered=size // 4,
        queue_ns=QueueWaits(mean=2 * MS, max=9 * MS),
        lateness_ns=Lateness(p99=100_000),
    )
    for name, size in (("up", 30_100), ("down", 602_000))
}
CROSS = CrossTrafficReport(
    packets_in=0, bytes_in=0, delivered=0, bytes_delivered=0, lost=0, queue_dropped=0, received_bytes=5_000_000
)
LINK = LinkReport(name="access", directions=WAYS, cross={"up": CROSS, "down": CROSS})
VISITS = [
    VisitEvents(user=0, group=n, dom_content_loaded_ns=(60 * n + 120) * MS, load_ns=(60 * n + 140) * MS + n * 1000)
    for n in range(100)
]
"""Visits begin every 60 ms, the first at 40 ms."""
AGAIN = {"method": "GET", "size": 1000, "retry": {"after": 10 * MS, "at_most": 2}}
FACTS = ClientFile(h123="client/1", process=Process(began_ns=0, ended_ns=10_000 * MS), visits=VISITS)


@dataclass(frozen=True)
class Trial:
    """What a trial left."""

    samples: list[dict[str, Any]]
    report: Report
    facts: ClientFile | None
    openings: Sequence[Opening] = ()
    moves: Sequence[Move] = ()
    changes: Sequence[Change] = ()
    counterpart: bool = True
    """Whether there is a trial beside it that lost nothing, whose requests numbers 7 and 9 took 1 and 2 ms less."""

    def value(self, folder: Path, name: str, clock: str | None = None) -> float | None:
        file = folder / "samples.parquet"
        left = isinstance(METRICS[name].of, AbandonedShare | WastedShare)
        paged = METRICS[name].of_visits
        Rows.of(self._left() if left else self._paged() if paged else self.samples).write(file)
        asked = workload_of({"method": "GET", "size": 1000})
        if paged:
            asked = workload_of({"kind": "page", **KINDS["page"].example(["GET"], False)})
        if isinstance(METRICS[name].of, FallbackShare):
            asked = workload_of({"protocol": "h3", "fallback": True, "method": "GET", "size": 1000})
        if isinstance(METRICS[name].of, RetriedShare):
            asked = workload_of(AGAIN)
        rows = Rows.read(file)
        link = trial_files.Link(moves=[*self.moves], down=Direction(changes=[*self.changes]))
        recoveries = recoveries_of(breaks_of(link, self.report), rows, [200])
        clock = clock or METRICS[name].clocks[0]
        told, blocking, summary = self._told(rows), self._blocking(folder), summarise(rows, asked)
        dialled = [2] * len(summary.visits) if self.openings else []
        return measure(summary, self.report, self.facts, clock, told, recoveries, blocking, dialled)[name]

    def _blocking(self, folder: Path) -> Blocking | None:
        """A record of packets is there where openings are told."""
        if not self.counterpart:
            return None
        packets = np.zeros(4, PACKET)
        packets["bytes"], packets["fate"] = [52, 1400, 1500, 52], [DELIVERED, LOST, QUEUE_FULL, DELIVERED]
        record = folder / "packets-access.parquet"
        record.unlink(missing_ok=True)
        if self.openings:
            write_packets(packets, record)
        beside = folder / "beside"
        beside.mkdir(exist_ok=True)
        less = {7: MS, 9: 2 * MS, 11: 50_000}
        ends = [row["end_ns"] and row["end_ns"] - less.get(number, 0) for number, row in enumerate(self.samples)]
        Rows.of(self.changed("end_ns", ends)).write(beside / "samples.parquet")
        return blocking_of(folder, beside, [200] * 3)

    def _told(self, rows: Rows) -> Sequence[Opening]:
        """As `openings_of` needs the columns."""
        whole = all(rows[column].valid.any() for column in OpeningCost.needs.columns)
        return self.openings if whole else ()

    def _paged(self) -> list[dict[str, Any]]:
        """The same as visits have them: downloads, the document on a new connection."""
        reused = [row["reused"] for row in self.samples]
        opened = [again and int(number % 3 != 1) for number, again in enumerate(reused)]
        return replace(self, samples=self.changed("bytes_up", [0] * len(reused))).changed("reused", opened)

    def changed(self, name: str, values: Sequence[Any]) -> list[dict[str, Any]]:
        """The samples with another column of this name."""
        return [{**row, name: value} for row, value in zip(self.samples, values, strict=True)]

    def _left(self) -> list[dict[str, Any]]:
        """The same where the users of every third request were to leave, and of every sixth one did."""
        every = range(len(self.samples))
        phases = ["leaving" if number and number % 3 == 0 else "warm" if number else "cold" for number in every]
        errors = ["abandoned" if number and number % 6 == 0 else "" for number in every]
        return replace(self, samples=self.changed("phase", phases)).changed("error", errors)

    def without(self, columns: set[str]) -> "Trial":
        """As if the client had not said these; what is never null is 1 in all rows."""
        said = {name: 1 if name in NEVER_NULL else None for name in columns}
        return replace(self, samples=[{**row, **said} for row in self.samples])

    def mute(self, told: str) -> "Trial":
        """As if the client had not told this of any visit."""
        assert self.facts
        visits = [visit.model_copy(update={told: None}) for visit in self.facts.visits]
        return replace(self, facts=self.facts.model_copy(update={"visits": visits}))

    def silent(self, told: str) -> "Trial":
        """As if the lab had not told this of any role, or of the link."""
        if told in DirectionReport.model_fields:
            ways = {name: way.model_copy(update={told: None}) for name, way in WAYS.items()}
            link = LINK.model_copy(update={"directions": ways})
            return replace(self, report=self.report.model_copy(update={"links": [link]}))
        if told in CrossTrafficReport.model_fields:
            link = LINK.model_copy(update={"cross": None})
            return replace(self, report=self.report.model_copy(update={"links": [link]}))
        first, _, last = told.partition(".")
        empty: Any = {"main_ns": 0, "main_over_time": []}.get(last)
        roles = [
            role.model_copy(update={first: role.cpu and role.cpu.model_copy(update={last: empty}) if last else None})
            for role in self.report.roles
        ]
        return replace(self, report=self.report.model_copy(update={"roles": roles}))

    def head(self, requests: int) -> "Trial":
        """As if so many warm requests had been made."""
        return replace(self, samples=self.samples[: requests + 1])


def full_trial() -> Trial:
    """A cold request, then 300 warm ones, one after another: 100 visits of a page of three."""
    rows = []
    for number in range(301):
        start = (number + 1) * 20 * MS
        rows.append(
            {
                "phase": "warm" if number else "cold",
                "user": 0,
                "start_ns": start,
                "connected_ns": None if number else start + 5 * MS,
                "sent_ns": start + 6 * MS,
                "first_byte_ns": start + 10 * MS,
                "end_ns": start + 15 * MS + number * 1000,
                "status": 200,
                "bytes_up": 10,
                "bytes_down": 1000,
                "protocol": "h2",
                "connection": 0,
                "reused": int(number > 0),
                "error": "",
                "group": (number - 1) // 3 if number else None,
                "resource": (number - 1) % 3 if number else 0,
                "tries": 2 if number % 4 == 1 else 1,
            }
        )
    # Opening the connection costs more than requests do.
    over_time = [[(at + 20) * MS, at * 100_000 + min(at, 15) * 400_000] for at in (*range(20), *range(20, 7000, 100))]
    roles = [
        RoleReport(name=name, cpu=Cpu(main_ns=over_time[-1][1], main_over_time=over_time), max_rss_bytes=size)
        for name, size in (("server", 30_000_000), ("client", 50_000_000), ("origin", 10_000_000))
    ]
    return Trial(
        rows,
        NO_REPORT.model_copy(update={"roles": roles, "links": [LINK], "phases_ns": {"main": 10_000 * MS}}),
        FACTS,
        [Opening(2, 2700, 2800, 4, 5, losses=False, retried=False, limited=False, ns=80 * MS)],
        [Move(at_ns=3_000 * MS, new="port")],
    )
