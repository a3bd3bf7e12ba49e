"""Reads a client's receive limits on a QUIC connection from the server's log: the number of simultaneous requests, and
how far the server may send beyond the bytes that have arrived.

A packet that widens a window shows the window's size: the new end of the window minus the bytes acknowledged so far.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from h123.base.units import format_bytes
from h123.catalogue import Reach
from h123.verification.client_cases import STREAMS, ClientCase
from h123.verification.handshake import RECEIVED, SENT

_PARAMETERS = "transport:parameters_set"
_STEP = 4
"""The stream numbers of a client's requests are multiples of this (RFC 9000, section 2.1)."""
_ENDS = ("stop_sending", "reset_stream")
"""The frames with which a client cancels a request."""
NEAR = 0.1
"""The tolerance for a window, as a share of its size. Acknowledgements are delayed, so slightly more may have arrived
than they show."""


@dataclass(frozen=True)
class Window:
    """The size of a receive window: bytes that may be sent beyond those that have arrived."""

    first: int
    most: int

    def __str__(self) -> str:
        first, most = format_bytes(self.first), format_bytes(self.most)
        return f"{first} at first, {most} at most" if most != first else first


@dataclass(frozen=True)
class Reception:
    """The receive limits of a client's connection."""

    streams: int
    """The largest number of simultaneous requests."""
    stream: Window
    connection: Window


def reception(log: Sequence[Mapping[str, Any]]) -> Reception | None:
    """Return the limits from the server's log of a connection, or None if the log contains no parameters."""
    parameters = next(
        (e["data"] for e in log if e.get("name") == _PARAMETERS and e["data"]["initiator"] == "remote"), None
    )
    if parameters is None:
        return None
    stream, connection = parameters["initial_max_stream_data_bidi_local"], parameters["initial_max_data"]
    widest = dict(_widest(log))
    return Reception(
        streams=_at_once(log),
        stream=Window(stream, max(stream, *(most for name, most in widest.items() if name is not None), 0)),
        connection=Window(connection, max(connection, widest.get(None, 0))),
    )


def reception_words(case: ClientCase, received: Reception) -> str:
    """Return text such as `100 of 300 requests`, or `131 kB at first, 1.31 MB at most per stream; ...`, depending on
    the case."""
    if case.name == STREAMS:
        return f"{received.streams} of {case.parameters.users} requests"
    return f"{received.stream} per stream; {received.connection} per connection"


def reception_faults(case: ClientCase, limits: Reach, received: Reception | None) -> Iterator[str]:
    """Yield a fault for each declared limit that the log contradicts."""
    streams, window = limits.streams.get("h3"), limits.windows.get("h3")
    if received is None:
        yield "the server's log does not contain the connection"
    elif case.name == STREAMS:
        if streams is not None and received.streams != min(streams, case.parameters.users):
            yield f"{received.streams} requests were open at once, but {streams} are declared"
    elif window is not None and abs(received.stream.most - window) > NEAR * window:
        yield f"its stream window is {received.stream}, but {format_bytes(window)} is declared"


def count_cancelled(log: Iterable[Mapping[str, Any]]) -> int:
    received = (event for event in log if event.get("name") == RECEIVED)
    return len({frame["stream_id"] for event in received for kind in _ENDS for frame in _frames(event, kind)})


def count_requests(log: Iterable[Mapping[str, Any]]) -> int:
    """Return the number of requests that arrived, or that the client cancelled before anything arrived."""
    received = [event for event in log if event.get("name") == RECEIVED]
    return len(
        {stream for event in received for kind in ("stream", *_ENDS) for stream in _request_streams(event, kind)}
    )


def _at_once(log: Iterable[Mapping[str, Any]]) -> int:
    """Return the largest number of requests that, at the same time, had arrived and were neither answered nor
    cancelled."""
    streams, now, most = set[int](), set[int](), 0
    for event in log:
        if event.get("name") == RECEIVED:
            came = _request_streams(event, "stream") - streams
            streams |= came
            now = (now | came) - {frame["stream_id"] for kind in _ENDS for frame in _frames(event, kind)}
        elif event.get("name") == SENT:
            now -= {frame["stream_id"] for frame in _streams(event) if frame.get("fin")}
        most = max(most, len(now))
    return most


def _widest(log: Iterable[Mapping[str, Any]]) -> Iterator[tuple[int | None, int]]:
    """Yield the widest window of each stream, with the stream's number, and of the connection, with None."""
    arrived, widest = _Arrived(), dict[int | None, int]()
    for event in log:
        if event.get("name") == SENT and _data(event):
            arrived.record_sent(event)
        elif event.get("name") == RECEIVED and _data(event):
            for frame in _frames(event, "ack"):
                arrived.record_acknowledged(frame)
            for frame in (*_frames(event, "max_data"), *_frames(event, "max_stream_data")):
                of = frame.get("stream_id")
                widest[of] = max(widest.get(of, 0), frame["maximum"] - arrived.bytes[of])
    yield from widest.items()


class _Arrived:
    """The bytes that the client has acknowledged, by stream. None means the whole connection."""

    def __init__(self) -> None:
        self.bytes = defaultdict[int | None, int](int)
        self._carried: dict[int, list[tuple[int, int]]] = {}
        self._contiguous = 0
        """All packets with lower numbers are acknowledged."""

    def record_sent(self, event: Mapping[str, Any]) -> None:
        carried = [(frame["stream_id"], frame["length"]) for frame in _streams(event)]
        self._carried[event["data"]["header"]["packet_number"]] = carried

    def record_acknowledged(self, frame: Mapping[str, Any]) -> None:
        for first, *last in frame["acked_ranges"]:
            for number in range(max(first, self._contiguous), (last[0] if last else first) + 1):
                for stream, length in self._carried.pop(number, ()):
                    self.bytes[stream] += length
                    self.bytes[None] += length
        self._contiguous = min(self._carried, default=self._contiguous)


def _data(event: Mapping[str, Any]) -> bool:
    """Return whether the packet is a 1-RTT packet. Packets of other types have separate packet numbers."""
    return bool(event["data"]["header"]["packet_type"] == "1RTT")


def _request_streams(event: Mapping[str, Any], kind: str) -> set[int]:
    """Return the numbers of the client's request streams that have frames of this kind. The numbers are multiples of
    _STEP."""
    return {frame["stream_id"] for frame in _frames(event, kind) if frame["stream_id"] % _STEP == 0}


def _streams(event: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    return _frames(event, "stream")


def _frames(event: Mapping[str, Any], kind: str) -> Iterator[Mapping[str, Any]]:
    yield from (frame for frame in event["data"].get("frames", ()) if frame["frame_type"] == kind)
