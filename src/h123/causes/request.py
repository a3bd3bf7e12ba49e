"""Describes the requests of a connection as their client reports them, and finds which of them were in progress at the
same time."""

from bisect import insort
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from h123.causes.senders.streams import Stream

_SMALL = 100
"""The largest body, in bytes, that fits into a single packet."""


@dataclass(frozen=True)
class Request:
    """The client's record of a request. All times are in ns."""

    start: int
    ready: int
    """When the connection was open, or the request's start if the connection was already open."""
    sent_at: int | None
    """When the client had sent the request. None if the client does not record it."""
    first_byte: int | None
    end: int
    up: int
    """The size of the request's body in bytes."""
    down: int
    """The size of the response's body in bytes."""
    blocked: bool = False
    """Whether the client tried UDP for the request and UDP was blocked."""
    place_at: int = 0
    """When the request stopped waiting for a place on its connection. 0: it did not wait."""
    visit: int = 0
    """When the request's visit began. 0: there is no visit."""
    quic: bool | None = None
    """Whether QUIC carried the request. None if the client does not record it."""
    last_try: int = 0
    """When the last attempt began. 0: there was only one."""
    stream: Stream | None = None
    """The stream according to the frames. None if these cannot be read."""

    @property
    def made_at(self) -> int:
        """When the request was made, or retried for the last time."""
        return max(self.start, self.last_try)

    @property
    def begin(self) -> int:
        """When the request got its place on the connection."""
        return max(self.made_at, self.place_at)


def most_at_once(requests: Sequence[Request]) -> int:
    """Return the largest number of requests in progress at the same time. A request is in progress from when it was
    sent. For uploads whose streams are unknown, return the number of all requests, because the true number is
    unknown."""
    if any(request.up > _SMALL and not request.stream for request in requests):
        return len(requests)  # their clients record when the whole body was sent
    starts = np.sort([sent_at(request) for request in requests])
    ends = np.sort([ended_at(request) for request in requests])
    return int((np.arange(1, len(starts) + 1) - np.searchsorted(ends, starts, side="right")).max(initial=1))


def waiting(requests: Sequence[Request], at_once: int) -> list[Request]:
    """Return the requests with `place_at`, the time until which each waited for a place on the connection. A request
    waits while `at_once` earlier ones are in progress."""
    delayed, ends = list(requests), list[int]()
    for place in sorted(range(len(delayed)), key=lambda place: sent_at(delayed[place])):
        request = delayed[place]
        if len(ends) >= at_once:
            delayed[place] = replace(request, place_at=min(ends[-at_once], sent_at(request)))
        insort(ends, ended_at(request))
    return delayed


def sent_at(request: Request) -> int:
    """Return when the request was sent, or the latest time at which it can have been sent."""
    if request.stream:
        return request.stream.request_begin
    return request.end if request.sent_at is None else request.sent_at


def ended_at(request: Request) -> int:
    """Return when the request's place became free again."""
    return request.stream.answer_arrival if request.stream else request.end


def share_connection(requests: Sequence[Request]) -> list[bool]:
    """Return for each request whether another one was in progress at the same time."""
    order = sorted(range(len(requests)), key=lambda place: requests[place].begin)
    begins = np.array([requests[place].begin for place in order])
    ends = np.array([requests[place].end for place in order])
    before = np.maximum.accumulate(np.array([0, *ends]))[:-1]
    next_begin = np.append(begins[1:], np.iinfo(np.int64).max)
    shared = np.empty(len(requests), bool)
    shared[order] = (before > begins) | (next_begin < ends)
    flags: list[bool] = shared.tolist()
    return flags
