"""What the time of each request of a trial was spent on, from what the trial left."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray

from h123.causes.cause import CAUSES, MENDING, NUMBER, UNTOLD, spent
from h123.causes.connection import connections
from h123.causes.drops import dropped, put_down
from h123.causes.matching import match
from h123.causes.processors import work
from h123.causes.request import Explainer, Request
from h123.causes.stated import stated
from h123.results import Sample, read_document
from h123.results.lab_report import Report
from h123.results.packets import BLOCKED, UP, Packets, read_packets
from h123.results.stack_log import read_stack_logs
from h123.results.trial_files import Trial
from h123.study.network import Direction

SUMS_UP = 0.02
"""Share of a request's latency by which the parts that are told may miss it, and still sum up to it."""


@dataclass(frozen=True)
class Explained:
    """A trial's requests that succeeded and ended within its record of packets, in the order of their start."""

    rows: Sequence[Sample]
    """What the client says of each."""
    seconds: NDArray[np.float64]
    """Shape (requests, causes): rows sum up to the requests' latencies."""
    held: NDArray[np.float64]
    """Of each request, seconds of `finding and mending losses` in which data of others on its connection had arrived
    and was held back."""

    @property
    def phases(self) -> list[str]:
        """Of each request, `cold` or `warm`."""
        return [row["phase"] for row in self.rows]

    @property
    def missed(self) -> NDArray[np.float64]:
        """Share of its latency by which the parts of each request, without what packets do not tell, miss what its
        client measured."""
        latencies = np.array([row["end_ns"] - row["start_ns"] for row in self.rows]) / 1e9
        told = self.seconds.sum(axis=1) - self.seconds[:, NUMBER[UNTOLD]]
        missed: NDArray[np.float64] = np.abs(told - latencies) / latencies
        return missed

    @property
    def sums_up(self) -> NDArray[np.bool_]:
        """Whether those of each request do not miss it by more."""
        near: NDArray[np.bool_] = self.missed <= SUMS_UP
        return near


def explain(folder: Path) -> Explained:
    """Of the trial in a folder. Raises UserError where it left no record of packets."""
    packets, link = read_packets(folder), read_document(folder / "trial.json", Trial).links[0]
    report = read_document(folder / "report.json", Report)
    known_to = int(packets["at_ns"].max()) if _cut(report) and len(packets) else None
    rows, blocked = _rows(folder / "samples.parquet", known_to), _blocked(packets)
    places = defaultdict[int | None, list[int]](list)
    for place, row in enumerate(rows):
        places[row["connection"]].append(place)
    places.pop(None, None)  # a client that does not tell
    requests = [[_request(rows[place], blocked) for place in of] for of in places.values()]
    there = connections(packets, link.up or Direction(), link.down or Direction(), shared=link.cross is not None)
    logs = dict(zip(map(id, there), stated(read_stack_logs(folder).logs, there), strict=True))
    held = np.zeros(len(rows))
    seconds = np.array([spent(UNTOLD, row["start_ns"], row["end_ns"]) for row in rows]).reshape(len(rows), len(CAUSES))
    server, drops = work(report, "server"), dropped(report)
    for of, asked, one in zip(places.values(), requests, match(requests, there), strict=True):
        if one:
            explainer = Explainer(one, asked, server, logs[id(one)])
            seconds[of] = put_down(np.array(explainer.explain()), drops, one)
            held[of] = np.minimum(explainer.held_back(), seconds[of][:, NUMBER[MENDING]])
    return Explained(rows, seconds / 1e9, held / 1e9)


def _rows(file: Path, known_to: int | None) -> list[Sample]:
    """`known_to`: when the record of packets ended, ns; None: it is whole."""
    rows: list[Sample] = [row for row in pq.read_table(file).to_pylist() if not row["error"]]
    told = [row for row in rows if known_to is None or row["end_ns"] <= known_to]
    return sorted(told, key=lambda row: row["start_ns"])


def _request(row: Sample, blocked: NDArray[np.int64]) -> Request:
    """`blocked`: when packets of UDP came to the link that let none pass."""
    start = row["start_ns"]
    begin, end = np.searchsorted(blocked, [start, row["end_ns"]])
    return Request(
        start=start,
        ready=row["connected_ns"] or start,
        sent=row["sent_ns"],
        first_byte=row["first_byte_ns"],
        end=row["end_ns"],
        up=row["bytes_up"],
        down=row["bytes_down"],
        blocked=bool(end > begin),
    )


def _blocked(packets: Packets) -> NDArray[np.int64]:
    told: NDArray[np.int64] = packets["at_ns"][(packets["fate"] == BLOCKED) & (packets["way"] == UP)].astype(np.int64)
    return np.sort(told)


def _cut(report: Report) -> bool:
    """Whether the record has not all packets of the link between client and server."""
    return bool(report.links and report.links[0].packets_left_out)
