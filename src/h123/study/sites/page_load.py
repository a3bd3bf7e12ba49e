"""Finds the requests of a recording that load the page. Later requests, by a user or a timer, do not belong to the
load."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

IDLE_S = 0.5
"""The seconds without a request, after the browser's load event, after which the page has loaded."""
QUIET_S = 2.0
"""The seconds without a request after which the page has loaded if the recording has no load event."""
LONGEST_DATA_S = 5.0
"""The longest request for data, in seconds, that is not a stream or a long poll, which no page waits for."""
POLLS = 3
"""The smallest number of requests for the same thing, at even intervals, that are polls."""
_SHORTEST_POLL_S = 0.2
_UNEVEN = 1.5


@dataclass(frozen=True)
class RecordedRequest:
    """One request of a page."""

    start: float
    end: float
    what: str
    """The method, and the URL without the query."""
    data: bool
    """Whether the request may be a poll or a stream."""


@dataclass(frozen=True)
class PageLoad:
    """The indices of a page's requests that do not belong to the load."""

    polls: frozenset[int]
    late: frozenset[int]


def page_load(requests: Sequence[RecordedRequest], on_load: float | None) -> PageLoad:
    """Return the indices of the requests that do not belong to the load. `requests` must be in the order of their
    starts, and `on_load` is the time of the browser's load event."""
    polls = _polls(requests, on_load)
    idle = QUIET_S if on_load is None else IDLE_S
    busy_until = requests[0].start if requests and on_load is None else on_load or 0.0
    for index, request in enumerate(requests):
        if index in polls:
            continue
        if request.start > busy_until + idle:
            return PageLoad(polls, frozenset(range(index, len(requests))) - polls)
        busy_until = max(busy_until, min(request.end, request.start + LONGEST_DATA_S) if request.data else request.end)
    return PageLoad(polls, frozenset())


def _polls(requests: Sequence[RecordedRequest], on_load: float | None) -> frozenset[int]:
    """Return the indices of periodic requests after the load event. Without a load event, return all but the first of
    each series."""
    alike = defaultdict[str, list[int]](list)
    for index, request in enumerate(requests):
        if request.data:
            alike[request.what].append(index)
    polls = set[int]()
    for places in alike.values():
        gaps = [requests[later].start - requests[earlier].start for earlier, later in pairwise(places)]
        if len(places) >= POLLS and min(gaps) >= _SHORTEST_POLL_S and max(gaps) <= _UNEVEN * min(gaps):
            polls.update(
                places[1:] if on_load is None else [place for place in places if requests[place].start > on_load]
            )
    return frozenset(polls)
