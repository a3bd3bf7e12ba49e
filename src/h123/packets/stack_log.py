"""Reads the qlog of one end of a QUIC connection: its congestion window, its losses, and when flow control blocked an
end.

A trial can be explained without a qlog, but a qlog distinguishes causes that look the same in encrypted packets.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from h123.packets.qlog import QLOG_FOLDER, Event, events, kind

_NS = 1_000_000
"""The number of ns in a millisecond, qlog's unit."""


@dataclass(frozen=True)
class FlowControlStall:
    """A period in which flow control kept one end from sending more. Times are in ns."""

    begin: int
    end: int
    stream: bool
    """Whether a stream's limit, not the connection's, was reached."""
    own: bool
    """Whether the end that writes the log was blocked, not the other end."""

    def later(self, ns: int) -> "FlowControlStall":
        return replace(self, begin=self.begin + ns, end=self.end + ns)


@dataclass(frozen=True)
class StackLog:
    """The log of one endpoint. Times are in ns, on the log's own clock until `later` shifts them to the trial's."""

    sendings: NDArray[np.int64]
    """When the endpoint sent each packet."""
    at: NDArray[np.int64]
    """When the endpoint logged the values of `window`, `in_flight` and `round_trip`."""
    window: NDArray[np.float64]
    """The endpoint's congestion window in bytes. NaN if it was not logged."""
    in_flight: NDArray[np.float64]
    """The bytes in flight, as the endpoint counts them. NaN if they were not logged."""
    round_trip: NDArray[np.float64]
    """The smoothed round-trip time, in ns. NaN if it was not logged."""
    losses: NDArray[np.int64]
    """When the endpoint declared each lost packet lost, except for probes of the path's MTU."""
    stalls: tuple[FlowControlStall, ...]

    def later(self, ns: int) -> Self:
        """Return the log shifted by `ns`."""
        times = {name: getattr(self, name) + ns for name in ("sendings", "at", "losses")}
        return replace(self, **times, stalls=tuple(stall.later(ns) for stall in self.stalls))


@dataclass(frozen=True)
class StackLogs:
    logs: list[StackLog]
    faults: list[str]
    """Why some files could not be read as logs."""


def read_stack_logs(folder: Path) -> StackLogs:
    """Return all logs in a trial's folder from the server, except those of connections on which it sent nothing."""
    all_logs = StackLogs([], [])
    files = (path for path in sorted((folder / QLOG_FOLDER).rglob("*")) if path.is_file())
    for path in files:
        try:
            log = read_stack_log(path)
        except (OSError, ValueError) as error:
            all_logs.faults.append(str(error))
        else:
            all_logs.logs.extend([log] if len(log.sendings) else [])
    return all_logs


def read_stack_log(path: Path) -> StackLog:
    """Return the log in one file. Raises ValueError if it is not a qlog."""
    course = _LogReader()
    try:
        for event in events(path):
            course.take(event)
        return course.log()
    except (TypeError, AttributeError, LookupError, OverflowError) as error:
        raise ValueError(f"{path.name} is not qlog that this version can read: {error}") from None


@dataclass
class _LogReader:
    """A reader of a log's events, with its state after the events read so far."""

    now: int = 0
    sendings: list[int] = field(default_factory=list)
    losses: list[int] = field(default_factory=list)
    looks: list[tuple[int, float, float, float]] = field(default_factory=list)
    metrics: dict[str, float] = field(default_factory=dict)
    """The latest metrics. Some stacks log only metrics that have changed."""
    open: dict[tuple[bool, str], int] = field(default_factory=dict)
    """The beginning of each open stall, in ns. The key says whether the log's writer is blocked, and contains the
    stream's number (empty for the connection)."""
    stalls: list[FlowControlStall] = field(default_factory=list)

    def take(self, event: Event) -> None:
        self.now = round(_number(event["time"]) * _NS) if event.get("time") is not None else self.now
        name, data = kind(event), event.get("data") or {}
        if name == "packet_sent":
            self.sendings.append(self.now)
        elif name == "packet_lost" and not data.get("is_mtu_probe_packet"):
            self.losses.append(self.now)
        elif name in ("metrics_updated", "recovery_metrics_updated"):
            self._look(data)
        if name in ("packet_sent", "packet_received"):
            for frame in data.get("frames") or ():
                self._frame(frame, own=name == "packet_sent")

    def _look(self, data: Mapping[str, Any]) -> None:
        values = {name: _number(data[name]) for name in _METRICS if data.get(name) is not None}
        if values:
            self.metrics |= values
            window, in_flight, trip = (self.metrics.get(name, np.nan) for name in _METRICS)
            self.looks.append((self.now, window, in_flight, trip * _NS))

    def _frame(self, frame: Mapping[str, Any], *, own: bool) -> None:
        """Process a frame. `own`: whether the log's writer sent it."""
        name = str(frame.get("frame_type")).lower()
        of = "" if name in ("data_blocked", "max_data") else str(frame.get("stream_id", frame.get("id", "")))
        if name in ("data_blocked", "stream_data_blocked"):
            self.open.setdefault((own, of), self.now)
        elif name in ("max_data", "max_stream_data"):
            self._release(not own, of)
        elif name == "reset_stream":
            self._release(own, of)

    def _release(self, own: bool, of: str) -> None:
        begin = self.open.pop((own, of), None)
        if begin is not None:
            self.stalls.append(FlowControlStall(begin, self.now, stream=bool(of), own=own))

    def log(self) -> StackLog:
        """Return the whole log. A stall that is open at the end of the log ends there."""
        for own, of in list(self.open):
            self._release(own, of)
        columns: Iterator[Any] = zip(*self.looks, strict=True) if self.looks else iter([[]] * (1 + len(_METRICS)))
        at, window, in_flight, trip = columns
        return StackLog(
            sendings=np.array(self.sendings, np.int64),
            at=np.array(at, np.int64),
            window=np.array(window, float),
            in_flight=np.array(in_flight, float),
            round_trip=np.array(trip, float),
            losses=np.array(self.losses, np.int64),
            stalls=tuple(sorted(self.stalls, key=lambda stall: stall.begin)),
        )


def _number(value: Any) -> float:
    """Parse a number, which some stacks write as text. Raises TypeError for anything else."""
    try:
        return float(value)
    except ValueError:
        raise TypeError(f"{value!r} is no number") from None


_METRICS = ("congestion_window", "bytes_in_flight", "smoothed_rtt")
"""The fields of `metrics_updated` that are used."""
