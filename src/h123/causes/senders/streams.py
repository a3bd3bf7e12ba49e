"""Reads a connection's requests and responses from its frames: the streams of HTTP/2 and QUIC, and their flow control.

A frame is taken as sent when its first packet reaches the link, and as read when its last packet is delivered. A window
takes effect when the sender of the data could read the frame that grants it (RFC 9113, 5.2; RFC 9000, 4).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from h123.causes.assignment import assigned
from h123.causes.cause import CONNECTION_LIMIT, STREAM_LIMIT
from h123.causes.connections.connection import NEVER
from h123.causes.spans import Limits, Spans
from h123.packets.capture import DOWN, TCP, UP
from h123.packets.frames import FrameKind, Frames

_EMPTY = 64
"""The room in bytes below which a window is regarded as full, because the sender may prefer to wait for more."""
_DEFAULT = 65_535
"""The initial windows of HTTP/2 without settings, in bytes (RFC 9113, 6.9.2)."""
_MAX_STREAMS, _INITIAL_WINDOW = 3, 4
"""The numbers of parameters in HTTP/2's SETTINGS."""
_MAX_DATA, _OWN_STREAMS, _OTHERS_STREAMS, _MAX_STREAMS_BIDI = 4, 5, 6, 8
"""The numbers of QUIC's transport parameters that limit the data on the connection, the data on streams that the
announcing end opens, the data on streams that the other end opens, and the number of those."""
_UNLIKELY_NS = 10**12
"""The mismatch, in ns, of a stream that cannot have carried a request."""
_CONTENT = (FrameKind.DATA, FrameKind.HEADERS, FrameKind.STREAM)
_BODY = (FrameKind.DATA, FrameKind.STREAM)


@dataclass(frozen=True)
class Stream:
    """A request and its response. All times are in ns."""

    request_begin: int
    """When the request's first frame was sent."""
    request_end: int
    """When the request's last packet was sent."""
    request_arrival: int
    """When the server could read the whole request."""
    answer_begin: int
    """When the response's first frame was sent."""
    answer_end: int
    """When the response's last packet was sent."""
    answer_arrival: int
    """When the client could read the whole response."""


@dataclass(frozen=True)
class Streams:
    frames: Frames

    @cached_property
    def quic(self) -> bool:
        return bool(self.frames["protocol"][0] != TCP)

    @cached_property
    def complete(self) -> list[Stream]:
        """The streams whose request and response are complete in the record, in the order in which the responses
        arrived."""
        content = self.frames[np.isin(self.frames["kind"], _CONTENT)]
        content = content[content["stream"] % 4 == 0] if self.quic else content[content["stream"] % 2 == 1]
        order = np.argsort(content["stream"], kind="stable")
        parts = np.split(content[order], np.flatnonzero(np.diff(content["stream"][order])) + 1)
        streams = [stream for part in parts if (stream := _stream(part))]
        return sorted(streams, key=lambda each: each.answer_arrival)

    @cached_property
    def allowed(self) -> int | None:
        """The number of streams that the server initially allows at the same time. None if it does not announce one."""
        kind = _MAX_STREAMS_BIDI if self.quic else _MAX_STREAMS
        return self._setting(DOWN, kind)

    def windows(self, way: int) -> tuple[int, int]:
        """Return the initial flow control windows of a stream and of the connection, in bytes, for data in this
        direction."""
        return self._windows(way).first

    def limits(self, way: int) -> Limits:
        """Return when flow control did not allow the sender to send any data while a body was incomplete."""
        stream, whole = self._windows(way).blocked_spans
        return [(STREAM_LIMIT, stream), (CONNECTION_LIMIT, whole)]

    def bodies(self, way: int) -> Spans:
        spans = [
            (stream.request_begin, stream.request_end + 1)
            if way == UP
            else (stream.answer_begin, stream.answer_end + 1)
            for stream in self.complete
        ]
        return Spans.union([begin for begin, _ in spans], [end for _, end in spans])

    def of(self, requests: Sequence[tuple[int, int]]) -> list[Stream | None]:
        """Return, for each request, the stream that the client finished reading when it ended the request, or None.
        `requests` contains the times at which the client sent and ended each request."""
        if not requests or not self.complete:
            return [None] * len(requests)
        request_times, ends = np.array(requests, np.int64).T
        opened, read = (
            np.array([getattr(stream, name) for stream in self.complete])
            for name in ("request_begin", "answer_arrival")
        )
        apart = np.abs(ends[:, None] - read[None, :]) + np.abs(request_times[:, None] - opened[None, :]) * 1e-3
        apart[opened[None, :] > ends[:, None]] = _UNLIKELY_NS
        return [None if place is None else self.complete[place] for place in assigned(apart, _UNLIKELY_NS)]

    def _setting(self, way: int, number: int) -> int | None:
        settings = self.frames[(self.frames["kind"] == FrameKind.SETTING) & (self.frames["way"] == way)]
        values = settings["value"][settings["id"] == number]
        return int(values[0]) if len(values) else None

    def _windows(self, way: int) -> "_Windows":
        return self._up if way == UP else self._down

    @cached_property
    def _up(self) -> "_Windows":
        return _Windows.of(self, UP)

    @cached_property
    def _down(self) -> "_Windows":
        return _Windows.of(self, DOWN)


def _stream(frames: Frames) -> Stream | None:
    """Return the stream that consists of the given frames with content, in sending order. None if it is not
    complete."""
    up, down = frames[frames["way"] == UP], frames[frames["way"] == DOWN]
    if not up["fin"].any() or not down["fin"].any() or not up["left_ns"].all():
        return None
    read = down["left_ns"]
    if not (read[down["fin"] > 0] > 0).any():
        return None
    return Stream(
        request_begin=int(up["at_ns"].min()),
        request_end=int(up["sent_ns"].max()),
        request_arrival=int(up["left_ns"].max()),
        answer_begin=int(down["at_ns"].min()),
        answer_end=int(down["sent_ns"].max()),
        answer_arrival=int(read.max()),
    )


@dataclass
class _Windows:
    """The amount of data that one end may send, updated with the frames of both ends."""

    quic: bool
    stream: int = _DEFAULT
    """The number of bytes that a new stream may carry in this end's direction."""
    connection: int = _DEFAULT
    """The number of bytes that the whole connection may carry in this end's direction."""
    connection_bytes: int = 0
    grants: dict[int, int] = field(default_factory=dict)
    stream_bytes: dict[int, int] = field(default_factory=dict)
    open: set[int] = field(default_factory=set)
    """The streams whose body has begun but not ended."""
    edges: list[tuple[int, int]] = field(default_factory=list)
    """The times at which flow control began or ceased to block the sender, with the new state: 0 for not blocked, 1 for
    blocked by all streams' windows, 2 for blocked by the connection's window."""
    first: tuple[int, int] = (_DEFAULT, _DEFAULT)

    @classmethod
    def of(cls, streams: Streams, way: int) -> "_Windows":
        """Return the windows of the end that sends in this direction."""
        quic = streams.quic
        windows = cls(quic, *((0, 0) if quic else ()))
        initial = streams._setting(1 - way, _INITIAL_WINDOW)
        if quic:
            own = streams._setting(1 - way, _OTHERS_STREAMS if way == UP else _OWN_STREAMS)
            windows.stream, windows.connection = own or 0, streams._setting(1 - way, _MAX_DATA) or 0
            windows.first = (windows.stream, windows.connection)
        elif initial is not None:
            windows.first = (initial, _DEFAULT)
        if not quic:
            windows.first = (windows.first[0], _DEFAULT + _granted_at_first(streams.frames, way))
        if not quic or windows.stream:
            for time, frame in _events(streams.frames, way):
                windows.take(time, frame, own=int(frame["way"]) == way)
        return windows

    def take(self, time: int, frame: np.void, *, own: bool) -> None:
        """Process a frame. `own`: whether this end sent the frame; otherwise it has just read the frame."""
        kind, stream = int(frame["kind"]), int(frame["stream"])
        if own:
            self._send(kind, stream, frame)
        else:
            self._grant(kind, stream, int(frame["value"]), int(frame["id"]))
        now = self._blocked_by()
        if not self.edges or self.edges[-1][1] != now:
            self.edges.append((time, now))

    def _send(self, kind: int, stream: int, frame: np.void) -> None:
        if kind in (FrameKind.RESET, FrameKind.CLOSE):
            self.open.discard(stream)
        if kind not in _CONTENT:
            return
        length = int(frame["length"]) if kind in _BODY else 0
        before = self.stream_bytes.get(stream, 0)
        after = max(before, int(frame["offset"]) + length) if self.quic else before + length
        self.stream_bytes[stream] = after
        self.connection_bytes += after - before
        if stream % 4 == 0 if self.quic else stream % 2 == 1:
            (self.open.discard if frame["fin"] else self.open.add)(stream)

    def _grant(self, kind: int, stream: int, value: int, number: int) -> None:
        if kind == FrameKind.SETTING and not self.quic and number == _INITIAL_WINDOW:
            self.grants = {of: grant + value - self.stream for of, grant in self.grants.items()}
            self.stream = value
        elif kind == FrameKind.WINDOW_UPDATE and stream:
            self.grants[stream] = self.grants.get(stream, self.stream) + value
        elif kind == FrameKind.WINDOW_UPDATE:
            self.connection += value
        elif kind == FrameKind.MAX_DATA:
            self.connection = max(self.connection, value)
        elif kind == FrameKind.MAX_STREAM_DATA:
            self.grants[stream] = max(self.grants.get(stream, self.stream), value)
        elif kind in (FrameKind.RESET, FrameKind.STOP_SENDING):
            self.open.discard(stream)

    def _blocked_by(self) -> int:
        if not self.open:
            return 0
        rooms = [self.grants.get(of, self.stream) - self.stream_bytes.get(of, 0) for of in self.open]
        if max(rooms) < _EMPTY:
            return 1
        return 2 if self.connection - self.connection_bytes < _EMPTY else 0

    @property
    def blocked_spans(self) -> tuple[Spans, Spans]:
        """The spans during which the streams' windows were empty, and those during which only the connection's window
        was empty."""
        times = [time for time, _ in (*self.edges[1:], (NEVER, 0))]
        spans = [(begin, end, what) for (begin, what), end in zip(self.edges, times, strict=False)]
        of_streams, of_all = ([(begin, end) for begin, end, is_ in spans if is_ == what] for what in (1, 2))
        return Spans.union(*_columns(of_streams)), Spans.union(*_columns(of_all))


def _columns(spans: Sequence[tuple[int, int]]) -> tuple[list[int], list[int]]:
    return [begin for begin, _ in spans], [end for _, end in spans]


def _events(frames: Frames, way: int) -> Iterator[tuple[int, np.void]]:
    """Yield the frames that affect windows, with the times at which this end sent its own frames or could read the
    other end's, in the order of these times."""
    own = frames["way"] == way
    counts = np.isin(frames["kind"], [*_CONTENT, FrameKind.RESET, FrameKind.CLOSE]) & own
    updates = ~np.isin(frames["kind"], _CONTENT) & ~own & (frames["left_ns"] > 0)
    places = np.flatnonzero(counts | updates)
    times = np.where(own, frames["sent_ns"], frames["left_ns"])[places]
    for place in np.argsort(times, kind="stable"):
        yield int(times[place]), frames[places[place]]


def _granted_at_first(frames: Frames, way: int) -> int:
    """Return by how many bytes an HTTP/2 receiver enlarges the connection's window before the first byte of a body is
    sent to it."""
    body = frames[(frames["way"] == way) & (frames["kind"] == FrameKind.DATA)]
    until = int(body["at_ns"][0]) if len(body) else NEVER
    updates = frames[(frames["way"] != way) & (frames["kind"] == FrameKind.WINDOW_UPDATE) & (frames["stream"] == 0)]
    return int(updates["value"][updates["at_ns"] < until].sum())
