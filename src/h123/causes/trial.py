"""Explains, from a trial's files, what the time of its requests, visits to a page and recoveries from moves was spent
on."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from h123.base.errors import UserError
from h123.catalogue import QUIC
from h123.causes.cause import CAUSES, NUMBER, REPAIRS, UNATTRIBUTED, Nanoseconds, time_on
from h123.causes.conditions import Conditions
from h123.causes.connections.connection import Connection, connections
from h123.causes.connections.log_matching import match_logs
from h123.causes.connections.losses import attribute_drops, receive_drops
from h123.causes.explainer import Explainer
from h123.causes.matching import match
from h123.causes.processors import work
from h123.causes.recovery import Recovery, middle_recoveries
from h123.causes.request import Request
from h123.causes.senders.streams import Streams
from h123.causes.stretch import SUMS_UP, Stretch, missed
from h123.causes.visit import PathStep, middle_visits
from h123.documents import read_document
from h123.documents.lab_report import Report
from h123.documents.trial_files import TrialFile
from h123.measures import moves_of
from h123.packets.capture import BLOCKED, UP, Packets, read_packets
from h123.packets.frames import Frames, read_frames
from h123.packets.stack_log import read_stack_logs
from h123.store import Sample, read_samples
from h123.study.networks.network import Direction
from h123.study.workload import AnyWorkloadFile, WorkloadFile

_REPAIRS = [NUMBER[cause] for cause in REPAIRS]


@dataclass(frozen=True)
class ExplainedTrial:
    """A trial's requests that succeeded and ended within its record of packets, in the order of their starts."""

    rows: Sequence[Sample]
    """The client's row for each request."""
    seconds: NDArray[np.float64]
    """The seconds of each request by cause, as an array of shape (requests, causes). Each row adds up to the request's
    latency."""
    head_of_line: NDArray[np.float64]
    """For each request, the estimated seconds during which its data had already arrived, but waited for repairs of
    other requests' losses on the connection."""
    sizes: Mapping[str, float] = field(default_factory=dict)
    """For each cause that is a known limit, its size (a window in bytes, or a number of simultaneous requests on a
    connection), as the median over connections."""
    round_trip: float = 0.0
    """The round trip of the link without its queue, in s."""
    visits: Sequence[Stretch] = ()
    """For a page, the median warm visit, or the two in the middle, whose mean is the trial's median."""
    recoveries: Sequence[Stretch] = ()
    """For a client that moved, the median recovery, or the two in the middle."""

    @property
    def phases(self) -> list[str]:
        """The phase of each request: `cold` or `warm`."""
        return [row["phase"] for row in self.rows]

    @property
    def missed(self) -> NDArray[np.float64]:
        """For each request, the relative difference between the sum of its attributed parts and the latency that the
        client measured."""
        return missed(self.seconds, np.array([row["end_ns"] - row["start_ns"] for row in self.rows]) / 1e9)

    @property
    def sums_up(self) -> NDArray[np.bool_]:
        """For each request, whether the sum of its attributed parts differs from its latency by at most the share
        SUMS_UP."""
        near: NDArray[np.bool_] = self.missed <= SUMS_UP
        return near


def explain(folder: Path, statuses: Sequence[int]) -> ExplainedTrial:
    """Explain the trial in a folder. `statuses` are the required statuses of the resources. Raises UserError if the
    trial left no record of packets."""
    packets, trial = read_packets(folder), read_document(folder / "trial.json", TrialFile)
    link, conditions, frames = trial.links[0], Conditions.of(trial), _frames(folder)
    report = read_document(folder / "report.json", Report)
    # when the record of packets ended, ns; None if it is complete
    known_to = int(packets["at_ns"].max()) if _cut(report) and len(packets) else None
    every, asked_for = read_samples(folder / "samples.parquet", statuses, measured=True), _workload(folder)
    asking, retry_ns = (asked_for.asking(), asked_for.retry_ns or 0) if asked_for else (None, 0)
    rows, blocked = (
        [row for row in every if not row["error"] and (known_to is None or row["end_ns"] <= known_to)],
        _blocked_times(packets),
    )
    places = _by_connection(rows)
    visit_starts = _visit_starts(every)
    requests = [[_request(rows[place], blocked, visit_starts, retry_ns) for place in of] for of in places]
    all_connections = connections(
        packets, link.up or Direction(), link.down or Direction(), shared=link.cross is not None
    )
    moves = moves_of(link, report)
    matched = match(requests, all_connections, moves)
    whole = [connection for connection in matched if connection] if moves else all_connections
    logs = dict(zip(map(id, whole), match_logs(read_stack_logs(folder).logs, whole), strict=True))
    blocked_ns = np.zeros(len(rows))
    seconds = np.array([time_on(UNATTRIBUTED, row["start_ns"], row["end_ns"]) for row in rows]).reshape(
        len(rows), len(CAUSES)
    )
    server, drops = work(report, "server"), receive_drops(report)
    parts, sizes = dict[int, _Explanation](), defaultdict[str, list[float]](list)
    for of, requests_of_connection, connection in zip(places, requests, matched, strict=True):
        if connection:
            at_once = asking.at_once if asking else None
            streams = _streams(frames, connection)
            explainer = Explainer(
                connection, requests_of_connection, server, logs[id(connection)], at_once, moves, conditions, streams
            )
            seconds[of] = attribute_drops(np.array(explainer.explain()), drops, connection)
            blocked_ns[of] = np.minimum(explainer.head_of_line(), seconds[of][:, _REPAIRS].sum(axis=1))
            for name, size in explainer.sizes().items():
                sizes[name].append(size)
            parts |= {place: _Explanation(explainer, number, connection, drops) for number, place in enumerate(of)}
    medians = {name: float(np.median(of)) for name, of in sizes.items()}
    explained = ExplainedTrial(
        rows,
        seconds / 1e9,
        blocked_ns / 1e9,
        medians,
        (all_connections[0].round_trip_ns if all_connections else 0) / 1e9,
    )
    if moves:
        explained = replace(explained, recoveries=_recoveries(middle_recoveries(moves, every), explained, parts))
    return (
        explained
        if asking is None
        else replace(explained, visits=_visits(middle_visits(every, asking), explained, parts))
    )


@dataclass(frozen=True)
class _Explanation:
    explainer: Explainer
    number: int
    connection: Connection
    drops: int

    def until(self, time: int) -> NDArray[np.float64]:
        """Return the seconds of each cause up to `time`."""
        return self.seconds(self.explainer.until(self.number, time))

    def seconds(self, nanoseconds: Nanoseconds) -> NDArray[np.float64]:
        """Convert nanoseconds by cause to seconds, and attribute the effect of datagrams that full buffers dropped."""
        seconds: NDArray[np.float64] = attribute_drops(np.array([nanoseconds]), self.drops, self.connection)[0] / 1e9
        return seconds


def _visits(
    paths: Sequence[Sequence[PathStep]], explained: ExplainedTrial, parts: Mapping[int, _Explanation]
) -> list[Stretch]:
    """Return the visits with their parts. Empty if one of them has a request that the record of packets does not
    cover."""
    places = {id(row): place for place, row in enumerate(explained.rows)}
    if any(id(step.row) not in places for path in paths for step in path):
        return []
    return [_visit(path, [places[id(step.row)] for step in path], explained, parts) for path in paths]


def _visit(
    path: Sequence[PathStep], places: Sequence[int], explained: ExplainedTrial, parts: Mapping[int, _Explanation]
) -> Stretch:
    seconds, blocked_s = np.zeros(len(CAUSES)), 0.0
    for step, place in zip(path, places, strict=True):
        of = explained.seconds[place]
        if step.until < step.row["end_ns"] and place in parts:
            of = parts[place].until(step.until)
        elif step.until < step.row["end_ns"]:
            of = time_on(UNATTRIBUTED, step.row["start_ns"], step.until) / 1e9
        seconds += step.between / 1e9 + of
        blocked_s += min(explained.head_of_line[place], of[_REPAIRS].sum())
    return Stretch(seconds, blocked_s, (path[-1].until - path[0].row["start_ns"]) / 1e9)


def _recoveries(
    recoveries: Sequence[Recovery], explained: ExplainedTrial, parts: Mapping[int, _Explanation]
) -> list[Stretch]:
    """Return the recoveries with their parts. Empty if the record of packets does not cover one of them."""
    places = {id(row): place for place, row in enumerate(explained.rows)}
    if any(id(recovery.answer) not in places for recovery in recoveries):
        return []
    return [
        _stretch(recovery, parts.get(place), explained.head_of_line[place])
        for recovery in recoveries
        for place in [places[id(recovery.answer)]]
    ]


def _stretch(recovery: Recovery, of: _Explanation | None, blocked_s: float) -> Stretch:
    end = recovery.answer["end_ns"]
    if of is None:
        return Stretch(time_on(UNATTRIBUTED, recovery.at, end) / 1e9, 0.0, (end - recovery.at) / 1e9)
    seconds = of.seconds(recovery.durations(of.connection, of.explainer, of.number))
    return Stretch(seconds, min(blocked_s, float(seconds[_REPAIRS].sum())), (end - recovery.at) / 1e9)


def _by_connection(rows: Sequence[Sample]) -> list[list[int]]:
    """Return the indices of the rows of each connection; empty if the client does not report connections."""
    places = defaultdict[int | None, list[int]](list)
    for place, row in enumerate(rows):
        places[row["connection"]].append(place)
    places.pop(None, None)
    return list(places.values())


def _frames(folder: Path) -> Frames | None:
    try:
        return read_frames(folder)
    except UserError:  # the client logs no keys, or the log is from a different version
        return None


def _streams(frames: Frames | None, connection: Connection) -> Streams | None:
    """Return the streams in the connection's frames, or None if none of them could be read."""
    if frames is None:
        return None
    up = connection.up.packets
    own = frames[(frames["protocol"] == up["protocol"][0]) & np.isin(frames["port"], np.unique(up["source"]))]
    return Streams(own) if len(own) else None


def _workload(folder: Path) -> WorkloadFile | None:
    try:
        return AnyWorkloadFile.model_validate_json((folder / "workload.json").read_bytes()).root
    except (OSError, ValueError):  # from a different version
        return None


def _visit_starts(rows: Sequence[Sample]) -> dict[tuple[int, int], int]:
    start_of: dict[tuple[int, int], int] = {}
    for row in rows:
        if row["group"] is not None:
            visit = row["user"], row["group"]
            start_of[visit] = min(row["start_ns"], start_of.get(visit, row["start_ns"]))
    return start_of


def _request(
    row: Sample, blocked: NDArray[np.int64], visit_starts: Mapping[tuple[int, int], int], retry_ns: int
) -> Request:
    """Return the request that a sample records. `blocked`: when UDP packets reached a link that lets none through.
    `visit_starts`: when visits began. `retry_ns`: the time after which a request is retried."""
    start, again = row["start_ns"], row.get("tries", 1) - 1
    begin, end = np.searchsorted(blocked, [start, row["end_ns"]])
    return Request(
        start=start,
        ready=row["connected_ns"] or start,
        sent_at=row["sent_ns"],
        first_byte=row["first_byte_ns"],
        end=row["end_ns"],
        up=row["bytes_up"],
        down=row["bytes_down"],
        blocked=bool(end > begin),
        visit=0 if row["group"] is None else visit_starts[row["user"], row["group"]],
        quic=row["protocol"] == QUIC if row["protocol"] else None,
        last_try=start + again * retry_ns if again else 0,
    )


def _blocked_times(packets: Packets) -> NDArray[np.int64]:
    times: NDArray[np.int64] = packets["at_ns"][(packets["fate"] == BLOCKED) & (packets["way"] == UP)].astype(np.int64)
    return np.sort(times)


def _cut(report: Report) -> bool:
    """Return whether the record lacks packets of the link between client and server."""
    return bool(report.links and report.links[0].packets_left_out)
