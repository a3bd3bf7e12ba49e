"""Metrics of one trial (docs/contracts.md, section 6): seconds, except goodput in bit/s and memory in bytes."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import duckdb

from h123.results.events import Values
from h123.results.lab_report import Report
from h123.results.processor import of_handshake, of_request
from h123.results.summary import Summary, summarise
from h123.study.workload import workload_of

_NS = 1e-9
PROCESSOR_METRICS = ("cpu", "cpu_server", "cpu_client", "cpu_warm", "cpu_handshake")
_BOTH = ("server", "client")
_ENOUGH = {0.95: 60, 0.99: 300}
"""Warm requests below which a quantile of one run says nothing."""


@dataclass(frozen=True)
class Metric:
    """What is measured, which way is better, and how it follows from a trial's samples and report."""

    lower_is_better: bool
    value: Callable[[Summary, Report], float | None]
    of_requests: bool = True
    """Whether requests that fail make it worse; what a processor or memory did for them is as real as for others."""

    @property
    def worst(self) -> float:
        """Of a trial whose requests failed: beyond any value that a trial can have."""
        return math.inf if self.lower_is_better else 0.0


def measure(summary: Summary, report: Report, clock: str = "wall") -> dict[str, float | None]:
    """All metrics of a trial; None where the trial has no value for one, `Metric.worst` where so many requests failed
    that nothing better can be said.

    Under the virtual clock processing takes no time: what its kernel counts as CPU time is rounding, not a value.
    """
    absent = PROCESSOR_METRICS if clock == "virtual" else ()
    return {name: None if name in absent else metric.value(summary, report) for name, metric in METRICS.items()}


def shown(metrics: Mapping[str, float | None]) -> dict[str, float | None]:
    """The same for a document, which can hold no infinity: a value that failed requests leave is none."""
    return {name: value if value is None or math.isfinite(value) else None for name, value in metrics.items()}


def trial_metrics(
    connection: duckdb.DuckDBPyConnection, samples: Path, report: Report, parameters: Values
) -> dict[str, float | None]:
    """All metrics of one trial by its files, samples.parquet and the content of report.json, and its parameters."""
    summary = summarise(connection, {samples: workload_of(parameters)})[samples]
    return measure(summary, report, parameters["clock"])


def _seconds(ns: float | None) -> float | None:
    if ns is None:
        return None
    return ns * _NS if math.isfinite(ns) else math.inf  # between two infinite ranks DuckDB finds no number


def _latency(summary: Summary, quantile: float) -> float | None:
    if summary.latency_ns is None or summary.warm < _ENOUGH.get(quantile, 1):
        return None
    return _seconds(summary.latency_ns[(0.5, 0.95, 0.99).index(quantile)])


def _ttfb(ns: float | None, ok: int, known: int) -> float | None:
    """A client that does not see the first byte of every answer has no time to first byte."""
    return _seconds(ns) if ok == known else None


def _goodput(summary: Summary) -> float | None:
    if summary.warm_start_ns is None or summary.warm_end_ns is None or summary.warm_end_ns <= summary.warm_start_ns:
        return None
    size = (summary.warm_bytes_up or 0) + (summary.warm_bytes_down or 0)
    if not size and summary.warm_ok:
        return None  # bodies without bytes
    return 8 * size / ((summary.warm_end_ns - summary.warm_start_ns) * _NS)


def _cpu(summary: Summary, report: Report, roles: tuple[str, ...]) -> float | None:
    used = [role.cpu.main_ns for role in report.roles if role.name in roles and role.cpu]
    return sum(used) * _NS / summary.rows if len(used) == len(roles) and sum(used) > 0 else None


def _memory(report: Report, role: str) -> float | None:
    """The largest resident set that the role ever had, as the kernel counted it."""
    peaks = [one.max_rss_bytes for one in report.roles if one.name == role]
    return float(peaks[0]) if len(peaks) == 1 and peaks[0] else None


METRICS: dict[str, Metric] = {
    "latency": Metric(True, lambda s, _: _latency(s, 0.5)),
    "latency_p95": Metric(True, lambda s, _: _latency(s, 0.95)),
    "latency_p99": Metric(True, lambda s, _: _latency(s, 0.99)),
    "ttfb": Metric(True, lambda s, _: _ttfb(s.ttfb_ns, s.warm_ok, s.warm_ttfb_known)),
    "goodput": Metric(False, lambda s, _: _goodput(s)),
    "cold_latency": Metric(True, lambda s, _: _seconds(s.cold_latency_ns)),
    "cold_ttfb": Metric(True, lambda s, _: _ttfb(s.cold_ttfb_ns, s.cold_ok, s.cold_ttfb_known)),
    "handshake": Metric(True, lambda s, _: _seconds(s.handshake_ns)),
    "cpu": Metric(True, lambda s, r: _cpu(s, r, _BOTH), of_requests=False),
    "cpu_server": Metric(True, lambda s, r: _cpu(s, r, ("server",)), of_requests=False),
    "cpu_client": Metric(True, lambda s, r: _cpu(s, r, ("client",)), of_requests=False),
    "cpu_warm": Metric(True, lambda s, r: _seconds(of_request(s, r, _BOTH)), of_requests=False),
    "cpu_handshake": Metric(True, lambda s, r: _seconds(of_handshake(s, r, _BOTH)), of_requests=False),
    "memory_server": Metric(True, lambda _, r: _memory(r, "server"), of_requests=False),
    "memory_client": Metric(True, lambda _, r: _memory(r, "client"), of_requests=False),
}
