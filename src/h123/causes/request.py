"""Requests of a connection as their client reports them, and which of them were in progress at once."""

from bisect import insort
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from h123.causes.senders.streams import Stream

_SMALL = 100
"""Bytes of a body up to which one packet has it all."""


@dataclass(frozen=True)
class Request:
    """The client's record of a request, ns."""

    start: int
    ready: int
    """When its connection was open; the request's start, if the connection was open before."""
    sent_at: int | None
    """When it had been sent. None: the client does not record it."""
    first_byte: int | None
    end: int
    up: int
    """Bytes of its body."""
    down: int
    """Body bytes of the answer."""
    blocked: bool = False
    """Whether the client tried UDP for it and UDP was blocked."""
    place_at: int = 0
    """When it stopped waiting for a place on its connection. 0: it did not wait."""
    visit: int = 0
    """When its visit began. 0: it belongs to none."""
    quic: bool | None = None
    """Whether QUIC carried it. None: the client does not record it."""
    last_try: int = 0
    """When its last attempt was made. 0: there was only one."""
    stream: Stream | None = None
    """Its stream as the frames show it. None: they cannot be read."""

    @property
    def made_at(self) -> int:
        """When it was made, or repeated for the last time."""
        return max(self.start, self.last_try)

    @property
    def begin(self) -> int:
        """When it had its place on the connection."""
        return max(self.made_at, self.place_at)


def most_at_once(requests: Sequence[Request]) -> int:
    """The most requests in progress at once, from when they were sent. For uploads that is unknown."""
    if any(request.up > _SMALL and not request.stream for request in requests):
        return len(requests)  # their clients say when all of a body was sent
    starts = np.sort([sent_at(request) for request in requests])
    ends = np.sort([ended_at(request) for request in requests])
    return int((np.arange(1, len(starts) + 1) - np.searchsorted(ends, starts, side="right")).max(initial=1))


def waiting(requests: Sequence[Request], at_once: int) -> list[Request]:
    """The requests with how long each waited for its place: until one before it ended and made room."""
    delayed, ends = list(requests), list[int]()
    for place in sorted(range(len(delayed)), key=lambda place: sent_at(delayed[place])):
        request = delayed[place]
        if len(ends) >= at_once:
            delayed[place] = replace(request, place_at=min(ends[-at_once], sent_at(request)))
        insort(ends, ended_at(request))
    return delayed


def sent_at(request: Request) -> int:
    """When it was sent, or the latest time at which it can have been sent."""
    if request.stream:
        return request.stream.request_begin
    return request.end if request.sent_at is None else request.sent_at


def ended_at(request: Request) -> int:
    """When its place was free again."""
    return request.stream.answer_arrival if request.stream else request.end


def share_connection(requests: Sequence[Request]) -> list[bool]:
    """For each request, whether another one was in progress at the same time."""
    order = sorted(range(len(requests)), key=lambda place: requests[place].begin)
    begins = np.array([requests[place].begin for place in order])
    ends = np.array([requests[place].end for place in order])
    before = np.maximum.accumulate(np.array([0, *ends]))[:-1]
    next_begin = np.append(begins[1:], np.iinfo(np.int64).max)
    shared = np.empty(len(requests), bool)
    shared[order] = (before > begins) | (next_begin < ends)
    flags: list[bool] = shared.tolist()
    return flags
