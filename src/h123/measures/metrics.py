"""Computes the metrics of one trial from its samples and report. Each kind of `Metric.of` has its own computation."""

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal, assert_never

from h123.documents.events import Values
from h123.documents.lab_report import Report
from h123.documents.reading import read_document
from h123.documents.trial_files import SECOND_SERVER, ClientFile, Link, TrialFile
from h123.measures.blocking import Blocking
from h123.measures.opening import Opening, openings_of
from h123.measures.processor import of_handshake, of_request
from h123.measures.recovery import breaks_of, recoveries_of
from h123.measures.summary import QUANTILES, SEND_QUANTILES, Summary, summarise
from h123.measures.visits import dialled_of, times_until
from h123.store.rows import Rows
from h123.study import METRICS, Metric
from h123.study.metrics.quantity import (
    AbandonedShare,
    BodyRate,
    CrossTrafficRate,
    FallbackShare,
    Ipv6Share,
    LinkTraffic,
    LossCost,
    OpenedConnections,
    OpeningCost,
    PacketShare,
    PageTime,
    ProcessorTime,
    ProcessOverhead,
    QueueDelay,
    RecoveryTime,
    RequestRate,
    RequestTime,
    ResidentMemory,
    RetriedShare,
    Role,
    RoundTripRate,
    StageTime,
    TimeFromSend,
    VisitTime,
    WastedShare,
    Way,
)
from h123.study.workload import WorkloadKind, workload_of

_NS = 1e-9
_PLAYED: Mapping[Role, Sequence[str]] = {"backend": ("backend", "origin")}
"""The roles in report.json that a role of a metric covers. A role without an entry covers only the role of the same
name."""


def measure(
    summary: Summary,
    report: Report,
    facts: ClientFile | None,
    clock: str = "wall",
    openings: Sequence[Opening] = (),
    recoveries: Sequence[float] = (),
    blocking: Blocking | None = None,
    dialled: Sequence[int] = (),
) -> dict[str, float | None]:
    """Return all metrics of a trial. A metric is None if the trial has no value for it, and `Metric.worst` if too many
    requests failed. Metrics of the server's process are None if a second server ran."""
    two = any(role.name == SECOND_SERVER for role in report.roles)
    return {
        name: metric_value(metric, summary, report, facts, openings, recoveries, blocking, dialled)
        if clock in metric.clocks and not (two and metric.of_the_server)
        else None
        for name, metric in METRICS.items()
    }


def finite_metrics(metrics: Mapping[str, float | None]) -> dict[str, float | None]:
    """Return the metrics in a form for documents, which cannot contain infinity: a value that is infinite because of
    failed requests becomes None."""
    return {name: value if value is None or math.isfinite(value) else None for name, value in metrics.items()}


@dataclass(frozen=True)
class EndedTrial:
    """A finished trial, whose files are read at most once."""

    folder: Path
    report: Report
    parameters: Values

    @cached_property
    def work(self) -> WorkloadKind:
        return workload_of(self.parameters)

    @cached_property
    def rows(self) -> Rows:
        return Rows.read(self.folder / "samples.parquet")

    @cached_property
    def link(self) -> Link:
        return read_document(self.folder / "trial.json", TrialFile).links[0]

    @cached_property
    def facts(self) -> ClientFile | None:
        return read_facts(self.folder)


def trial_metrics(trial: EndedTrial) -> dict[str, float | None]:
    rows, statuses, report = trial.rows, trial.work.statuses(), trial.report
    openings = openings_of(trial.folder, rows, statuses)
    recoveries = recoveries_of(breaks_of(trial.link, report), rows, statuses)
    summary = summarise(rows, trial.work)
    dialled, clock = dialled_of(trial.folder, summary.visits), trial.parameters["clock"]
    return measure(summary, report, trial.facts, clock, openings, recoveries, dialled=dialled)


def read_facts(trial: Path) -> ClientFile | None:
    """Return the client's report about itself, or None if it wrote none."""
    path = trial / "client.json"
    return read_document(path, ClientFile) if path.is_file() else None


def metric_value(
    metric: Metric,
    summary: Summary,
    report: Report,
    facts: ClientFile | None,
    openings: Sequence[Opening] = (),
    recoveries: Sequence[float] = (),
    blocking: Blocking | None = None,
    dialled: Sequence[int] = (),
) -> float | None:
    """Return the trial's value of one metric in the metric's unit. None if the trial has no value."""
    match metric.of:
        case RequestTime() as times:
            return _seconds(_quantile(times, summary))
        case TimeFromSend() as times:
            return _seconds(_sent_quantile(times, summary))
        case PageTime(until):
            return _seconds(_until(until, summary, facts))
        case StageTime(stage):
            return _seconds(summary.stages_ns.get(stage))
        case OpenedConnections():
            return _dialled(summary, report, dialled)
        case BodyRate():
            return _goodput(summary)
        case RequestRate():
            return _rate(summary)
        case ProcessorTime(roles, "all"):
            return _cpu(summary, report, roles)
        case ProcessorTime(roles, "open"):
            return _seconds(of_request(summary, report, roles))
        case ProcessorTime(roles):
            return _seconds(of_handshake(summary, report, roles))
        case ResidentMemory(role):
            return _memory(report, role)
        case ProcessOverhead(part):
            return _seconds(_around(summary, facts, part))
        case PacketShare(way, share):
            return _packet_share(report, way, share)
        case LinkTraffic(way, what):
            return _link_amount(summary, report, way, what)
        case QueueDelay(way):
            return _queued(report, way)
        case CrossTrafficRate(way):
            return _crossed(report, way)
        case OpeningCost(what):
            return _median([getattr(opening, what) for opening in openings])
        case RoundTripRate():
            return _round_trip_rate(openings)
        case RecoveryTime():
            return _seconds(_median(recoveries))
        case LossCost(what):
            return blocking and _seconds(blocking.others if what == "others" else blocking.own + blocking.others)
        case FallbackShare():
            return None if summary.fell_back is None else 100 * summary.fell_back
        case Ipv6Share(way):
            return _ipv6_share(report, way)
        case AbandonedShare():
            return 100 * summary.abandoned / summary.leaving if summary.leaving else None
        case RetriedShare():
            return 100 * summary.retried / summary.warm if summary.retried is not None and summary.warm else None
        case WastedShare():
            return _wasted(summary, report) if summary.leaving or summary.retried is not None else None
        case None:
            return None
        case _:
            assert_never(metric.of)


def _median(values: Sequence[float]) -> float | None:
    return statistics.median(values) if values else None


def _round_trip_rate(openings: Sequence[Opening]) -> float | None:
    """Return the number of round trips per minute while the connections opened. None if there are no openings."""
    ns = sum(opening.ns for opening in openings)
    return 60 * sum(opening.round_trips for opening in openings) / (ns * _NS) if ns else None


def _until(until: VisitTime, summary: Summary, facts: ClientFile | None) -> float | None:
    """Return the median time, in ns, from the start of a visit to an event. None if it is unknown."""
    if until == "dom_content_loaded" or until == "load":
        return _median(times_until(until, summary.visits, facts))
    return summary.visits_ns.get(until)


def _dialled(summary: Summary, report: Report, dialled: Sequence[int]) -> float | None:
    """Return the median number of connections that a visit opened. A failed visit has an infinite number, because it
    may not have opened all of its connections. None if the record of packets is missing or incomplete."""
    cut = any(link.packets_left_out for link in report.links[:1])
    each = zip(summary.visits, dialled, strict=True) if dialled and not cut else ()
    return _median([math.inf if visit.failed else count for visit, count in each])


def _quantile(times: RequestTime, s: Summary) -> float | None:
    """Return the quantile that `times` describes, in ns. Infinite if too many requests failed. None if there are too
    few requests, or if their times are unknown."""
    requests, quantiles = {
        ("warm", "end_ns"): (s.warm, s.latency_ns[QUANTILES.index(times.share)] if s.latency_ns else None),
        ("warm", "first_byte_ns"): (s.warm, _first_byte_of_all(s.ttfb_ns, s.warm_ok, s.warm_ttfb_known)),
        ("cold", "connected_ns"): (s.cold, s.handshake_ns),
        ("cold", "first_byte_ns"): (s.cold, _first_byte_of_all(s.cold_ttfb_ns, s.cold_ok, s.cold_ttfb_known)),
        ("cold", "end_ns"): (s.cold, s.cold_latency_ns),
    }[times.phase, times.until]
    return quantiles if requests >= times.requests else None


def _sent_quantile(times: TimeFromSend, s: Summary) -> float | None:
    """Return the quantile that `times` describes, in ns since the request was sent. None if there are too few requests,
    or if these times are unknown."""
    if s.sent_latency_ns is None or s.warm < times.requests:
        return None
    return s.sent_latency_ns[SEND_QUANTILES.index(times.share)]


def _first_byte_of_all(ns: float | None, ok: int, count: int) -> float | None:
    """Return the time to first byte, `ns`. None if the client did not record the first byte of every response."""
    return ns if ok == count else None


def _seconds(ns: float | None) -> float | None:
    if ns is None:
        return None
    return ns * _NS if math.isfinite(ns) else math.inf  # between two infinite ranks, DuckDB returns no number


def _warm_seconds(summary: Summary) -> float | None:
    """Return the seconds from the first warm request's start to the last one's end."""
    if summary.warm_start_ns is None or summary.warm_end_ns is None or summary.warm_end_ns <= summary.warm_start_ns:
        return None
    return (summary.warm_end_ns - summary.warm_start_ns) * _NS


def _rate(summary: Summary) -> float | None:
    seconds = _warm_seconds(summary)
    return summary.warm_ok / seconds if seconds else None


def _goodput(summary: Summary) -> float | None:
    seconds = _warm_seconds(summary)
    if not seconds:
        return None
    size = (summary.warm_bytes_up or 0) + (summary.warm_bytes_down or 0)
    if not size and summary.warm_ok:
        return None  # the bodies are empty
    return 8 * size / seconds


def _cpu(summary: Summary, report: Report, roles: Sequence[Role]) -> float | None:
    times = [_processor_ns(report, role) for role in roles]
    valid = [ns for ns in times if ns is not None]
    complete = summary.rows and len(valid) == len(times) and sum(valid) > 0
    return sum(valid) * _NS / summary.rows if complete else None


def _processor_ns(report: Report, role: Role) -> int | None:
    """Return the role's processor time in ns. None if the trial has no such role, or if its time is unknown."""
    playing = [role_report.cpu for role_report in report.roles if role_report.name in _PLAYED.get(role, (role,))]
    return sum(cpu.main_ns for cpu in playing if cpu) if playing and all(playing) else None


def _memory(report: Report, role: str) -> float | None:
    """Return the largest resident set size that the role's processes reached, in bytes, as the kernel recorded it. None
    if unknown."""
    peaks = [report_of_role.max_rss_bytes for report_of_role in report.roles if report_of_role.name == role]
    return float(peaks[0]) if len(peaks) == 1 and peaks[0] else None


def _around(summary: Summary, facts: ClientFile | None, part: Literal["start", "end"]) -> float | None:
    """Return how long, in ns, the program that made the requests ran before the first request started, or after the
    last request ended. None if the client does not report when that program ran."""
    process = facts.process if facts else None
    if process is None:
        return None
    if part == "start":
        return None if summary.start_ns is None else summary.start_ns - process.began_ns
    return None if summary.end_ns is None else process.ended_ns - summary.end_ns


def _link_amount(summary: Summary, report: Report, way: Way, what: Literal["bytes", "packets"]) -> float | None:
    """Return the number of bytes or packets that entered the link, per request. None over a veth, which counts
    nothing."""
    link = report.links[0] if report.links else None
    direction = link.directions.get(way) if link and link.directions else None
    amount = direction and (direction.bytes_in if what == "bytes" else direction.packets_in)
    return amount / summary.rows if amount and summary.rows else None


def _packet_share(report: Report, way: Way, what: str) -> float | None:
    """Return the percentage of packets that the link's counter `what` counted. None over a veth, or if the counter is
    0."""
    link = report.links[0] if report.links else None
    direction = link.directions.get(way) if link and link.directions else None
    if direction is None or not direction.packets_in:
        return None
    treated: int | None = getattr(direction, what)
    return 100 * treated / direction.packets_in if treated else None


def _ipv6_share(report: Report, way: Way) -> float | None:
    """Return the percentage of delivered bytes that IPv6 packets carried. None over a veth, or if nothing arrived."""
    link = report.links[0] if report.links else None
    direction = link.directions.get(way) if link and link.directions else None
    if direction is None or not direction.bytes_delivered or direction.ipv6_bytes_delivered is None:
        return None
    return 100 * direction.ipv6_bytes_delivered / direction.bytes_delivered


def _queued(report: Report, way: Way) -> float | None:
    """Return the mean queueing delay in seconds. None if the link has no rate, because then no packet waits."""
    link = report.links[0] if report.links else None
    direction = link.directions.get(way) if link and link.directions else None
    waits = direction.queue_ns if direction else None
    return waits.mean * _NS if waits and waits.mean else None


def _crossed(report: Report, way: Way) -> float | None:
    """Return the rate, in bits per second, at which cross traffic was received. None if there is none."""
    link, ran = report.links[0] if report.links else None, report.phases_ns.get("main")
    traffic = link.cross.get(way) if link and link.cross else None
    return 8 * traffic.received_bytes / (ran * _NS) if traffic and ran else None


def _wasted(summary: Summary, report: Report) -> float | None:
    """Return the percentage of the delivered bytes that were not part of a body."""
    link = report.links[0] if report.links else None
    down = link.directions.get("down") if link and link.directions else None
    if down is None or not down.bytes_delivered or summary.bytes_down is None:
        return None
    return 100 * (1 - summary.bytes_down / down.bytes_delivered)
