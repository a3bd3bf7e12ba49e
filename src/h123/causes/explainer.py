"""Divides a request's time into causes.

A request passes through these stages: opening a connection (if it needs one), sending, travelling to the server,
waiting for the response, receiving the response, waiting for the response's last packet to arrive, and processing by
the client. A page's request may first wait for a place on a connection. While a body is sent, the sender's course
(sender.py) shows what the time was spent on.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from h123.causes.cause import (
    BLOCKED,
    CAUSES,
    CLIENT_WORK,
    CONNECTION_LIMIT,
    GONE,
    IDLE,
    NAGLE,
    NUMBER,
    PLACE,
    QUEUE,
    RATE,
    SERVER,
    SERVER_WORK,
    STREAM_LIMIT,
    TRIES,
    TRIP,
    UNATTRIBUTED,
    VALIDATING,
    WINDOWS,
    Nanoseconds,
    time_on,
)
from h123.causes.conditions import WALL, Conditions
from h123.causes.connections.connection import FULL, NEVER, Connection, Sending
from h123.causes.connections.migration import elsewhere
from h123.causes.head_of_line import Body, head_of_line_ns
from h123.causes.processors import Work
from h123.causes.request import Request, most_at_once, sent_at, share_connection, waiting
from h123.causes.senders import handshake
from h123.causes.senders.limits import limits
from h123.causes.senders.sender import Sender
from h123.causes.senders.streams import Stream, Streams
from h123.causes.spans import Spans, Times
from h123.packets.capture import DOWN, TCP, UP
from h123.packets.stack_log import StackLog

_CLOCKS_NS = 50_000
"""The tolerance for a client's times in ns: a client may record the time of a packet just before or after the packet is
in flight."""
_LATE_NS = 1_000_000
"""A client may record that it sent a request up to this many ns before the request's packet reaches the link."""
_SMALL = 100
"""The largest body, in bytes, that fits into a single packet."""


class Explainer:
    """Explains the time of the requests of one connection."""

    def __init__(
        self,
        connection: Connection,
        requests: Sequence[Request],
        server: Work,
        log: StackLog | None = None,
        at_once: int | None = None,
        moves: Sequence[int] = (),
        conditions: Conditions = WALL,
        streams: Streams | None = None,
    ) -> None:
        """Prepare the explanation. `log`: the server stack's log of the connection. `at_once`: how many requests may be
        in progress on the connection at the same time, while others wait; None: the most that ever were in progress.
        `moves`: when the client's address changed, in ns. `streams`: the streams in the connection's frames; None if
        these cannot be read."""
        self._of, self._server_work, self._conditions = connection, server, conditions
        opened = requests
        if streams:
            streams_of_requests = streams.of([(sent_at(request), request.end) for request in requests])
            opened = [
                replace(request, stream=stream) for request, stream in zip(requests, streams_of_requests, strict=True)
            ]
        self._streams, self._at_once = streams, at_once or most_at_once(opened)
        self._requests = waiting(opened, self._at_once)
        up, down, trip = connection.up, connection.down, connection.round_trip_ns
        unheard = elsewhere(connection, moves)
        request_spans, answer_spans = self._bodies()
        if streams:
            request_spans, answer_spans = (
                body.with_(streams.bodies(way)) for body, way in ((request_spans, UP), (answer_spans, DOWN))
            )
        of_client, of_server = (limits(connection, way, log, streams) for way in (UP, DOWN))
        fills = connection.quic and streams is not None
        self._client = Sender(up, down, trip, [*of_client, *unheard], (), request_spans, fills, conditions)
        self._server = Sender(down, up, trip, of_server, unheard, answer_spans, fills, conditions)

    def explain(self) -> list[Nanoseconds]:
        """Return, for each request, the parts of its time, which add up to its latency."""
        shared = share_connection(self._requests)
        return [self._durations(request, among) for request, among in zip(self._requests, shared, strict=True)]

    def until(self, number: int, time: int) -> Nanoseconds:
        """Return the parts of one request's time up to `time`."""
        return self._durations(replace(self._requests[number], end=time), share_connection(self._requests)[number])

    def since(self, number: int, time: int) -> Nanoseconds:
        """Return the parts of one request's time since `time`. If `time` is earlier than the request, the time before
        the request is attributed to whatever delayed the server's data for other requests."""
        request, shared = self._requests[number], share_connection(self._requests)[number]
        if request.start >= time:
            return self._server.course.between(time, request.start) + self._durations(request, shared)
        if request.up > _SMALL:
            return self._durations(replace(request, start=time, ready=time), shared)
        last = self._last_answer(request)
        if last is None:
            return time_on(UNATTRIBUTED, time, request.end)
        spent_since = self._received(_Marks(replace(request, start=time)), last)
        return self._own(request, spent_since, self._share_since(request, time)) if shared else spent_since

    def from_opening(self, number: int) -> Nanoseconds:
        """Return the parts of one request's time since its connection began to open."""
        request, begin = self._requests[number], self._of.begin
        if request.begin <= self._open:
            return self._durations(replace(request, start=begin), share_connection(self._requests)[number])
        return handshake.explain(self._of, begin, self._open, BLOCKED if request.blocked else CLIENT_WORK) + self.since(
            number, self._open
        )

    def sizes(self) -> dict[str, float]:
        """Return, for each cause that is a known limit, its size: a window in bytes, or a number of simultaneous
        requests."""
        allowed = self._streams.allowed if self._streams else None
        size_of: dict[str, float] = {PLACE.name: min(allowed or self._at_once, self._at_once)}
        for way, sender in ((UP, self._client), (DOWN, self._server)):
            size_of |= sender.windows()
            if self._streams and sender.duration_on(STREAM_LIMIT):
                size_of[STREAM_LIMIT.name] = self._streams.windows(way)[0]
            if self._streams and sender.duration_on(CONNECTION_LIMIT):
                size_of[CONNECTION_LIMIT.name] = self._streams.windows(way)[1]
        return size_of

    def head_of_line(self) -> NDArray[np.float64]:
        """Return, for each request, for how many ns it waited for repairs of other requests' losses."""
        up = [Body(request.begin, request.end, request.up) for request in self._requests]
        down = [Body(request.begin, request.end, request.down) for request in self._requests]
        return head_of_line_ns(self._client, up) + head_of_line_ns(self._server, down)

    def _durations(self, request: Request, shared: bool) -> Nanoseconds:
        """Return the parts of a request's time. `shared`: whether another request was in progress on the connection."""
        course = self._course(request, shared)
        if course is None:
            return time_on(UNATTRIBUTED, request.start, request.end)
        up, marks = self._of.up, _Marks(request)
        time = time_on(TRIES, *marks.up_to(request.made_at)) + time_on(PLACE, *marks.up_to(request.begin))
        time += self._before(request, marks.up_to(int(up.at[course.first])))
        time += self._client.course.between(*marks.up_to(int(up.wire.ends[course.last])))
        time += time_on(TRIP, *marks.up_to(course.arrival))
        time += self._answering(*marks.up_to(course.answer_begin), shared)
        time += self._received(marks, course.end)
        return self._own(request, time) if shared else time

    def _course(self, request: Request, shared: bool) -> "_RequestPackets | None":
        """Return the request's packets, or None if the record lacks them."""
        up, down = self._of.up, self._of.down
        if request.stream:
            return _of_stream(request.stream, up, down)
        first, end = self._first(request), self._last_answer(request)
        if first is None or end is None or int(up.at[first]) > request.end:
            return None
        answer = _last(down, self._answers(request), request.first_byte) if request.first_byte is not None else None
        answer_seen = int(down.at[end if answer is None else min(answer, end)])
        last = _last_of_request(up, first, answer_seen, request.up)
        arrival = int(up.delivered_at[last])
        if not shared and request.up <= _SMALL:
            answer_seen = min(answer_seen, self._first_answer(request, arrival))
        return _RequestPackets(first, last, arrival, _answer_begins(down, arrival, answer_seen), end)

    def _bodies(self) -> tuple[Spans, Spans]:
        """Return when the client and the server had something to send: from the first packet of a request or response
        to its last."""
        up, down, shared_requests = (
            self._of.up,
            self._of.down,
            zip(self._requests, share_connection(self._requests), strict=True),
        )
        courses = [course for request, shared in shared_requests if (course := self._course(request, shared))]
        request_spans = Spans.union(
            [int(up.at[request_packets.first]) for request_packets in courses],
            [int(up.wire.ends[request_packets.last]) for request_packets in courses],
        )
        begins, ends = (
            [request_packets.answer_begin for request_packets in courses],
            [int(down.wire.ends[request_packets.end]) for request_packets in courses],
        )
        return request_spans, _with_unread(
            Spans.union(begins, ends),
            down,
            min((request_packets.arrival for request_packets in courses), default=NEVER),
        )

    def _received(self, marks: "_Marks", last: int) -> Nanoseconds:
        """Return the parts of the time from the beginning of the response to the request's end. `last`: the index of
        the response's last packet."""
        down = self._of.down
        time = self._server.course.between(*marks.up_to(int(down.wire.ends[last])))
        time += time_on(TRIP, *marks.up_to(int(down.delivered_at[last])))
        return time + time_on(CLIENT_WORK, *marks.up_to(NEVER))

    def _answers(self, request: Request) -> Times:
        """Return the indices of packets that may belong to the response. Over QUIC a small response may be no larger
        than an acknowledgement."""
        down = self._of.down
        return down.arrivals if self._of.quic and request.down <= _SMALL else down.delivered

    def _last_answer(self, request: Request) -> int | None:
        """Return the index of the response's last packet. Over QUIC, a stream may end in a separate packet that is no
        larger than an acknowledgement. It is that packet if the request ended just after its arrival."""
        down = self._of.down
        last = _last(down, self._answers(request), request.end)
        if not self._of.quic or last is None or request.end - int(down.delivered_at[last]) < _LATE_NS:
            return last
        small = _last(down, down.arrivals, request.end)
        return small if small is not None and request.end - int(down.delivered_at[small]) < _CLOCKS_NS else last

    def _first(self, request: Request) -> int | None:
        """Return the index of the request's first packet, whether or not it arrived. If the client recorded when it
        sent the request, and the request fits into one packet, this is the last packet sent until just after that time.
        Otherwise it is the first packet sent after the request began. Over QUIC, a request with a recorded time may be
        as small as an acknowledgement."""
        up, sent_known = self._of.up, request.sent_at is not None
        carries = np.ones(len(up), bool) if self._of.quic and sent_known else up.speaks
        begin = int(np.searchsorted(up.at, max(request.ready, request.begin) - _CLOCKS_NS))
        if sent_known and request.up <= _SMALL:
            by = int(np.searchsorted(up.at, (request.sent_at or 0) + _LATE_NS))
            if len(places := np.flatnonzero(carries[begin:by])):
                return begin + int(places[-1])
        places = np.flatnonzero(carries[begin:])
        return begin + int(places[0]) if len(places) else None

    def _first_answer(self, request: Request, arrival: int) -> int:
        """Return when the server sent the first packet that must belong to the response, even if the client read it
        much later. A busy client reads late, and a 16 kB TLS record over TCP may exceed the first flight. For a
        connection's first request over TCP, only full packets qualify, because session tickets are smaller; over QUIC,
        return NEVER."""
        if request.begin > self._open:
            return _first_payload_after(self._of.down, arrival, _SMALL)
        return NEVER if self._of.quic else _first_payload_after(self._of.down, arrival, FULL)

    def _answering(self, begin: int, end: int, shared: bool) -> Nanoseconds:
        """Return how much each cause took of the time between the request's arrival and the response's beginning."""
        mended = min(max(self._repaired_at(begin, end), begin), end)
        return time_on(self._client.repairing(begin, end), begin, mended) + self._thinking(mended, end, shared)

    def _repaired_at(self, begin: int, end: int) -> int:
        """Return when the server had received the retransmissions of all the client's lost packets. Until then, the
        server could read nothing after the gap."""
        up, repairs = self._of.up, self._client.mending
        open_then = (repairs.begins < end) & (repairs.ends > begin)
        if not open_then.any():
            return begin
        again = (up.at >= repairs.ends[open_then].max()) & up.arrived
        return int(up.delivered_at[np.argmax(again)]) if again.any() else begin

    def _thinking(self, begin: int, end: int, shared: bool) -> Nanoseconds:
        """Return how much each cause took of the time until the response begins. While the server sends other responses
        on the connection, or cannot reach a client that moved, the cause is whatever limits the server then."""
        alone = SERVER_WORK if self._server_work.fills(begin, end) else SERVER
        # While the server had nothing else to send, the response was not ready.
        idle = self._server.course.last(IDLE, begin, end) if shared else begin
        time = time_on(alone, begin, idle) + self._server.course.between(idle, end)
        for cause in (
            (IDLE, UNATTRIBUTED) if shared else [c for c in CAUSES if c not in (alone, NAGLE, GONE, VALIDATING)]
        ):
            time[NUMBER[alone]] += time[NUMBER[cause]]
            time[NUMBER[cause]] = 0
        return time

    def _share_since(self, request: Request, time: int) -> float:
        """Return the share of the response that came after `time`, estimated from how long the connection's data was on
        the wire."""
        whole, since = (self._server.course.between(begin, request.end) for begin in (request.start, time))
        return float(since[NUMBER[RATE]] / max(whole[NUMBER[RATE]], 1.0))

    def _own(self, request: Request, time: Nanoseconds, share: float = 1.0) -> Nanoseconds:
        """Attribute to queueing the time during which other requests' data on the connection was on the wire, and
        return the changed parts of the request's time. `share`: the share of the request's bodies that this time
        covers."""
        own = share * (self._of.up.wire_ns(request.up) + self._of.down.wire_ns(request.down))
        others_ns = max(time[NUMBER[RATE]] - own, 0.0)
        time[NUMBER[RATE]] -= others_ns
        time[NUMBER[QUEUE]] += others_ns
        return time

    def _before(self, request: Request, span: tuple[int, int]) -> Nanoseconds:
        at_client = PLACE if self._conditions.virtual else CLIENT_WORK
        if request.begin > self._open:
            # The connection's window may be full of small packets too.
            time = self._client.course.between(*span)
            for cause in (other for other in CAUSES if other not in WINDOWS):
                time[NUMBER[at_client]] += time[NUMBER[cause]] if cause is not at_client else 0
                time[NUMBER[cause]] *= cause is at_client
            return time
        return handshake.explain(self._of, *span, BLOCKED if request.blocked else at_client)

    @cached_property
    def _open(self) -> int:
        """The time when the first request was sent on the connection. Requests that started earlier had to wait for
        it."""
        first = self._first(self._requests[0])
        return int(self._of.up.at[first]) if first is not None else self._of.begin


@dataclass(frozen=True)
class _RequestPackets:
    first: int
    """The index of the request's first packet among the client's."""
    last: int
    """The index of the client's packet that completed the request at the server."""
    arrival: int
    """When that packet arrived, in ns."""
    answer_begin: int
    """When the server began to send the response, in ns."""
    end: int
    """The index of the response's last packet among the server's."""


def _of_stream(stream: Stream, up: Sending, down: Sending) -> _RequestPackets:
    """Return the packets with which the stream's frames begin and end. The response's last packet is the one that
    completed the response."""
    first, last = (int(np.searchsorted(up.at, time)) for time in (stream.request_begin, stream.request_end))
    read = np.searchsorted(down.delivered_at[down.arrivals], stream.answer_arrival, side="right") - 1
    return _RequestPackets(
        first, last, stream.request_arrival, stream.answer_begin, int(down.arrivals[max(int(read), 0)])
    )


def _with_unread(bodies: Spans, down: Sending, first_arrival: int) -> Spans:
    """Return `bodies` and the beginnings of responses that a client reads late, because over TCP it reads whole TLS
    records. Each beginning lasts from a full packet outside all bodies to the next body. Packets before the first
    request's arrival do not count."""
    outside = np.flatnonzero(down.full & ~bodies.hold(down.at) & (down.at >= first_arrival))
    if not len(outside) or down.packets["protocol"][0] != TCP:
        return bodies
    begins = down.at[outside]
    ends = np.append(bodies.begins, begins)[np.searchsorted(bodies.begins, begins)]
    return Spans.union(np.concatenate([bodies.begins, begins]), np.concatenate([bodies.ends, ends]))


class _Marks:
    """The times of a request's stages, in order and never after the request's end."""

    def __init__(self, request: Request) -> None:
        self._now, self._end = request.start, request.end

    def up_to(self, time: int) -> tuple[int, int]:
        """Return the beginning and the end of the stage that ends at `time`."""
        begin, self._now = self._now, min(max(time, self._now), self._end)
        return begin, self._now


def _last(sending: Sending, places: Times, time: int) -> int | None:
    """Return the last of `places` (the indices of packets, in the order of arrival) whose packet had been delivered by
    `time`. None if there is none."""
    count = int(np.searchsorted(sending.delivered_at[places], time + _CLOCKS_NS, side="right"))
    return int(places[count - 1]) if count else None


def _last_of_request(up: Sending, first: int, answered: int, size: int) -> int:
    """Return the index of the packet that completed the request at the server. For a request that fits into one packet,
    this is the first packet that arrived. Otherwise it is the last one before the response."""
    # nearly in the order of arrival
    end = max(int(np.searchsorted(up.delivered_at, answered, side="right")), first + 1)
    if size <= _SMALL:
        arrived = np.flatnonzero(up.arrived[first:])
        return first + int(arrived[0]) if len(arrived) else first
    candidates = first + np.flatnonzero((up.speaks & up.arrived)[first:end])
    candidates = candidates[up.delivered_at[candidates] <= answered]
    return int(candidates[-1]) if len(candidates) else first


def _first_payload_after(down: Sending, arrival: int, size: int) -> int:
    """Return when the first packet of more than `size` bytes was sent after the request's arrival, or NEVER."""
    begin = int(np.searchsorted(down.at, arrival))
    places = np.flatnonzero(down.packets["payload"][begin:] > size)
    return int(down.at[begin + int(places[0])]) if len(places) else NEVER


def _answer_begins(down: Sending, arrival: int, answer_seen: int) -> int:
    """Return when the server began to answer: when it sent the first packet between `arrival` and `answer_seen` that
    was lost, or `answer_seen` if none was lost."""
    begin, end = (int(n) for n in np.searchsorted(down.at, [arrival, answer_seen]))
    lost_places = np.flatnonzero(down.speaks[begin:end] & ~down.arrived[begin:end])
    return int(down.at[begin + int(lost_places[0])]) if len(lost_places) else answer_seen
