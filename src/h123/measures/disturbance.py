"""Computes an upper bound for the share of each metric's value that may be due to machine noise (docs/disturbances.md).

A trial records three things: when a processor was not free (`machine.stalls`), when the link's packets were overdue
(`links[].stalls`), and how long its threads waited for a processor in total. Each is attributed to the requests during
which it happened, and subtracted from their times. A metric of the remaining times is the smallest value that the trial
could have had on an undisturbed machine.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from h123.documents.lab_report import Report
from h123.documents.trial_files import TrialFile
from h123.measures.processor import TICKS_MEASURABLE_NS
from h123.store.rows import Mask, Numbers, Rows
from h123.study import METRICS, Metric
from h123.study.metrics.quantity import PageTime, RequestTime, StageTime, TimeFromSend
from h123.study.workload import OK

TURNS = 6
"""How many times during a round trip some thread must get a processor: at each end, the thread that waits for packets,
the one that reads, and the one that writes."""
FAULT_SHARE = 0.1
"""The fraction of an attempt's time above which a stall of the machine may have caused the failure."""
RUINABLE = frozenset({"link-overrun", "link-check-failed", "server-not-ready", "client-timeout"})
"""The codes of failures that a stall of the machine alone can cause."""

_TIMES = ("start_ns", "connected_ns", "first_byte_ns", "end_ns")

Ns = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True)
class Disturbance:
    """The largest share of each metric's value, from 0 to 1, that may be due to machine noise. Only metrics that are
    computed from request times have one."""

    shares: Mapping[str, float]
    waits: Mapping[str, float]
    """The part of each share that waiting for a processor, without any stall, can have caused."""

    def worst(self, metrics: Collection[str]) -> float:
        """Return the largest share among the given metrics, or 0 if nothing is known."""
        return max((share for name, share in self.shares.items() if name in metrics), default=0.0)

    def worst_wait(self, metrics: Collection[str]) -> float:
        """Return the largest share, among the given metrics, that waiting for a processor may have caused without any
        stall."""
        return max((share for name, share in self.waits.items() if name in metrics), default=0.0)


UNDISTURBED = Disturbance({}, {})


def disturbance(report: Report, trial: TrialFile, samples: Path, statuses: Sequence[int] = (OK,)) -> Disturbance:
    """Return the disturbance of the attempt with this report.json, trial.json and samples.parquet. `statuses` are the
    required statuses of the workload's resources. The result is empty under the virtual clock, or if the records are
    missing."""
    if trial.clock == "virtual" or report.machine.lab_ns is None or not samples.is_file():
        return UNDISTURBED
    load = _TrialLoad.of(report, _round_trip_ns(trial))
    requests = Rows.read(samples)
    ok = requests.ok(statuses)
    rows = {
        phase: {
            **{name: _times(requests[name], requests.phase(phase)) for name in _TIMES},
            "ok": ok[requests.phase(phase)],
        }
        for phase in ("warm", "cold")
    }
    rows["visits"] = _visits(requests, ok)
    return Disturbance(_shares(rows, load.added), _shares(rows, load.waits))


def _times(column: Numbers, where: Mask) -> Ns:
    """Return a column's times in the rows `where`. Unknown times are NaN."""
    return np.where(column.valid, column.values, np.nan)[where]


def _visits(rows: Rows, ok: Mask) -> dict[str, Any]:
    """Return, for each warm visit, its start, its end, and whether all of its requests were ok."""
    warm = rows.phase("warm") & rows["group"].valid
    keys, places = np.unique(
        np.column_stack([rows[name].values[warm] for name in ("user", "group")]), axis=0, return_inverse=True
    )
    start, end, good = np.full(len(keys), np.nan), np.full(len(keys), np.nan), np.ones(len(keys), np.bool_)
    np.fmin.at(start, places.ravel(), _times(rows["start_ns"], warm))
    np.fmax.at(end, places.ravel(), _times(rows["end_ns"], warm))
    np.logical_and.at(good, places.ravel(), ok[warm])
    return {"start_ns": start, "end_ns": end, "ok": good}


def machine_noise(report: Report) -> float:
    """Return the share of the processors' time, from 0 to 1, that the trial lost to stalls or to other programs,
    whichever took more."""
    machine, wall = report.machine, report.phases_ns["main"]
    if not wall or not machine.cpus:
        return 0.0
    stalled = sum(_within(_spans(spans), *_run(report)) for spans in machine.stalls or [])
    return float(max(stalled, _others_ns(report)) / (wall * machine.cpus))


def is_machines_fault(report: Report) -> bool:
    """Return whether the machine may have made an attempt invalid: a stall can cause each of the attempt's faults, and
    either a link was overrun or a processor stalled for too long."""
    codes = {reason["code"] for reason in report.reasons}
    if not codes or not codes <= RUINABLE:
        return False
    duration_ns = sum(report.phases_ns.values())
    stalls = [sum(to - start for start, to in spans) for spans in report.machine.stalls or []]
    return "link-overrun" in codes or bool(duration_ns and max(stalls, default=0) > FAULT_SHARE * duration_ns)


@dataclass(frozen=True)
class _TrialLoad:
    link: Any
    """The spans in which packets were overdue, in ns: an array of shape (spans, 2)."""
    processors: list[Any]
    """For each processor, the spans in which it was not free, in ns: an array of shape (spans, 2)."""
    weight: float
    """The fraction of the processors' stalled time that can have delayed the trial."""
    pace: float
    """How long the trial's threads waited outside stalls, in ns, per ns of the run."""
    chain_ns: float
    """The longest wait outside stalls, in ns, that one round trip is assumed to contain."""
    round_trip_ns: float

    @classmethod
    def of(cls, report: Report, round_trip_ns: float) -> "_TrialLoad":
        machine, run = report.machine, _run(report)
        processors = [_spans(spans) for spans in machine.stalls or []]
        stalled = sum(_within(spans, *run) for spans in processors)
        cpus = [role.cpu for role in report.roles if role.cpu]
        waited = sum(cpu.main_wait_ns or 0 for cpu in cpus)
        turns = sum(cpu.main_turns or 0 for cpu in cpus)
        # A trial's own threads wait for each other on an idle machine too, which is no disturbance.
        harm = min(waited, _others_ns(report)) + machine.steal_ns
        located = min(harm, stalled)
        wall = max(run[1] - run[0], 1)
        return cls(
            link=_spans([span for link in report.links for span in link.stalls or []]),
            processors=processors,
            weight=located / stalled if stalled else 0.0,
            pace=(harm - located) / wall,
            chain_ns=TURNS * (harm - located) / turns if turns else 0.0,
            round_trip_ns=round_trip_ns,
        )

    def added(self, start: Ns, end: Ns) -> Ns:
        """Return the longest time, in ns, that stalls and waits can have added between `start` and `end`."""
        stalls = _overlap(self.link, start, end)
        for spans in self.processors:
            stalls = stalls + self.weight * _overlap(spans, start, end)
        return stalls + self.waits(start, end)

    def waits(self, start: Ns, end: Ns) -> Ns:
        """Return the longest time, in ns, that waits outside stalls can have added between `start` and `end`. Waits are
        spread evenly over the run, but a round trip includes at most `TURNS` of them."""
        duration = end - start
        spread = duration * self.pace
        if not self.round_trip_ns:
            return spread
        chain: Ns = np.minimum(spread, (duration / self.round_trip_ns + 1) * self.chain_ns)
        return chain


_LATENCY = RequestTime("warm", "end_ns")


def _shares(rows: Mapping[str, Mapping[str, Any]], added: Any) -> dict[str, float]:
    """Return, for each metric that is computed from request times, the share of its value that may be due to machine
    noise. Metrics that the samples do not contain are absent."""
    shares = {name: _share_of(metric, rows, added) for name, metric in METRICS.items() if metric.of_requests}
    return {name: share for name, share in shares.items() if share is not None}


def _share_of(metric: Metric, rows: Mapping[str, Mapping[str, Any]], added: Any) -> float | None:
    if isinstance(metric.of, RequestTime):
        return _share(metric.of, rows[metric.of.phase], added)
    if isinstance(metric.of, TimeFromSend):  # treat the time since the send as the whole
        return _share(RequestTime("warm", "end_ns", metric.of.share), rows["warm"], added)
    if isinstance(metric.of, PageTime | StageTime):  # treat a part of a visit as the whole
        return _share(_LATENCY, rows["visits"], added)
    return _share_of_run(rows["warm"], added)


def _share(times: RequestTime, rows: Mapping[str, Any], added: Any) -> float | None:
    """Return the share of a quantile of the successful requests' times that may be due to machine noise. None if no
    request succeeded."""
    start, end = rows["start_ns"].astype(float), rows[times.until].astype(float)
    good = rows["ok"] & np.isfinite(end)
    if not good.any():
        return None
    start, end = start[good], end[good]
    duration = end - start
    least = duration - np.minimum(added(start, end), duration)
    measured, remains = (float(np.quantile(some, times.share)) for some in (duration, least))
    return 1 - remains / measured if measured > 0 else None


def _share_of_run(rows: Mapping[str, Any], added: Any) -> float | None:
    if not len(rows["start_ns"]):
        return None
    start, end = np.array([float(rows["start_ns"].min())]), np.array([float(rows["end_ns"].max())])
    duration = end - start
    return float((np.minimum(added(start, end), duration) / duration)[0]) if duration[0] > 0 else None


def _run(report: Report) -> tuple[float, float]:
    begin = float(report.main_began_ns)
    return begin, begin + report.phases_ns["main"]


def own_ns(report: Report) -> float:
    """Return the processor time of the trial's roles and of the lab during the client's run, in ns."""
    roles = sum(role.cpu.main_ns for role in report.roles if role.cpu)
    return float((report.machine.lab_ns or 0) + roles)


def _others_ns(report: Report) -> float:
    """Return the processor time of all other programs during the client's run, in ns. 0 if the run is too short to
    measure it."""
    if report.phases_ns["main"] < TICKS_MEASURABLE_NS:
        return 0.0
    return max(0.0, report.machine.busy_ns - own_ns(report))


def _round_trip_ns(trial: TrialFile) -> float:
    link = trial.links[0]
    return float(sum(way.delay_ns or 0 for way in (link.up, link.down) if way))


def _spans(listed: Any) -> Any:
    """Return the spans in ascending order, with overlapping ones merged: an array of shape (spans, 2)."""
    joined: list[list[float]] = []
    for start, end in sorted(listed):
        if joined and start <= joined[-1][1]:
            joined[-1][1] = max(joined[-1][1], end)
        else:
            joined.append([start, end])
    return np.array(joined, dtype=float).reshape(-1, 2)


def _overlap(spans: Any, start: Ns, end: Ns) -> Ns:
    """Return, for each request, how many ns of `spans` lie between its `start` and its `end`."""
    if not len(spans):
        return np.zeros(len(start))
    # The total time in spans before a moment grows within a span and is constant between two.
    lengths = np.cumsum(spans[:, 1] - spans[:, 0])
    moments, outside = spans.ravel(), np.column_stack([lengths - (spans[:, 1] - spans[:, 0]), lengths]).ravel()
    overlap: Ns = np.interp(end, moments, outside) - np.interp(start, moments, outside)
    return overlap


def _within(spans: Any, start: float, end: float) -> float:
    return float(_overlap(spans, np.array([start]), np.array([end]))[0])
