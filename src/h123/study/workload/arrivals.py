"""Schedules the requests of an open loop, at rates that change in steps, ramps and bursts.

A schedule depends only on the arrivals, a seed and a number of requests, and a longer schedule begins with the shorter
one. It is made by rescaling time (Cox and Lewis, The Statistical Analysis of Series of Events, 1966): the i-th request
is due when the integral of the rate reaches i (constant arrivals) or the time of the i-th arrival of a Poisson process
with rate 1 (random arrivals).
"""

import bisect
import heapq
import itertools
import math
import random
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Annotated, Literal

from pydantic import Field, model_validator

from h123.base.strict import Strict
from h123.study.quantities import Duration

MOST_ARRIVALS = 1_000_000
"""The largest number of requests in a schedule. The client receives a time for each."""
MOST_STEPS = 1000
_MOST_RATE = 1_000_000
_RARE = 0.01
"""The fraction of trials in which a random gap between requests may be longer than `longest_gap_s`."""

Rate = Annotated[float, Field(ge=0, le=_MOST_RATE, strict=True, allow_inf_nan=False)]


class RateStep(Strict):
    """A step `{rate: 500, lasts: 2s}`, a ramp `{rate: [500, 2000], lasts: 5s}`, or a burst `{burst: 50, lasts: 100ms}`,
    which starts with 50 requests at once and sends none after them."""

    rate: Rate | Annotated[tuple[Rate, Rate], Field(strict=False)] | None = None
    """The requests per second, across all users or for each connection. For a ramp, the first and the last rate."""
    burst: Annotated[int, Field(ge=1, le=_MOST_RATE, strict=True)] | None = None
    lasts: Annotated[Duration, Field(gt=0)]

    @model_validator(mode="after")
    def _one_of_them(self) -> "RateStep":
        if (self.rate is None) == (self.burst is None):
            raise ValueError("write either `rate`, requests per second, or `burst`, requests at once")
        return self

    @property
    def ends(self) -> tuple[float, float]:
        """The first and last rate. Both are 0 for a burst."""
        if self.rate is None:
            return 0.0, 0.0
        return self.rate if isinstance(self.rate, tuple) else (self.rate, self.rate)

    @property
    def requests(self) -> float:
        return float(self.burst or 0) + sum(self.ends) / 2 * self.lasts / 1e9

    def after(self, requests: float) -> float:
        """Return the seconds from the step's start to the time at which request number `requests` is due. `requests`
        must be smaller than the number of requests in the step."""
        begin, end = self.ends
        if self.burst or requests <= 0:
            return 0.0
        # Solves begin t + (end - begin) t² / 2T = requests, in the form that loses no digits if both rates are equal.
        return 2 * requests / (begin + math.sqrt(begin**2 + 2 * (end - begin) * requests / (self.lasts / 1e9)))


class Arrivals(Strict):
    """Steps that follow one another. After the last step, they start again as long as there are requests."""

    process: Literal["poisson", "constant"] = "poisson"
    """How requests arrive. poisson: at random and independently of one another. constant: evenly spaced."""
    per: Literal["all", "connection"] = "all"
    """all: the steps apply across all users. connection: they apply separately to each connection's own requests."""
    steps: Annotated[tuple[RateStep, ...], Field(min_length=1, max_length=MOST_STEPS, strict=False)]

    @model_validator(mode="after")
    def _check_requests(self) -> "Arrivals":
        if self._request_counts[-1] < 1:
            raise ValueError("the steps together make less than one request: raise a rate, or let a step last longer")
        return self

    @cached_property
    def _request_counts(self) -> list[float]:
        """The number of requests until the end of each step."""
        return list(itertools.accumulate(step.requests for step in self.steps))

    @cached_property
    def _step_starts(self) -> list[int]:
        """The times in ns at which the steps begin, and the time at which the last one ends."""
        return list(itertools.accumulate((step.lasts for step in self.steps), initial=0))

    def due(self, seed: int, count: int) -> list[int]:
        """Return when each of `count` requests is due, in order and in ns from the start."""
        return list(itertools.islice(self._times(random.Random(seed)), count))

    def dealt(self, seed: int, count: int, connections: int) -> list[tuple[int, int]]:
        """Return when each of `count` requests is due and the index of its connection, if each connection has its own
        steps. Random arrivals are independent on each connection; constant arrivals alternate evenly between the
        connections."""
        each = (self._own(seed, index, connections) for index in range(connections))
        return list(itertools.islice(heapq.merge(*each), count))

    def _own(self, seed: int, index: int, connections: int) -> Iterator[tuple[int, int]]:
        for due in self._times(random.Random(f"{seed} {index}"), index / connections):
            yield due, index

    def _times(self, draw: random.Random, ahead: float = 0.0) -> Iterator[int]:
        last = 0
        for place in self._places(draw, ahead):
            last = max(last, self.at(place))  # rounding must not swap two requests
            yield last

    def at(self, place: float) -> int:
        """Return the time in ns at which the number of due requests reaches `place`, which need not be a whole
        number."""
        rounds, rest = divmod(place, self._request_counts[-1])
        number = min(bisect.bisect_right(self._request_counts, rest), len(self.steps) - 1)
        before = self._request_counts[number - 1] if number else 0.0
        within = round(self.steps[number].after(rest - before) * 1e9)
        return int(rounds) * self._step_starts[-1] + self._step_starts[number] + min(within, self.steps[number].lasts)

    def _places(self, draw: random.Random, ahead: float) -> Iterator[float]:
        if self.process == "constant":
            yield from (ahead + number for number in itertools.count())
        place = 0.0
        while True:
            place -= math.log(1.0 - draw.random())
            yield place

    def lasts_s(self, count: int, connections: int) -> float:
        """Return the seconds after which the last of `count` requests over `connections` connections is due."""
        return self.at(count / (connections if self.per == "connection" else 1)) / 1e9

    def longest_gap_s(self, count: int, connections: int) -> float:
        """Return the longest time in seconds between requests on one connection, which 1 of 100 trials may exceed: all
        pauses, plus the longest random gap at the lowest rate."""
        rates = [rate for step in self.steps for rate in step.ends if rate > 0]
        pauses = sum(step.lasts for step in self.steps if not all(step.ends)) / 1e9
        sharing = connections if self.per == "all" else 1
        each = sharing * (math.log(count / _RARE) if self.process == "poisson" else 1.0)
        return pauses + (each / min(rates) if rates else 0.0)

    def fault(self, count: int, *, rate: bool) -> str | None:
        """Return why `count` requests cannot be scheduled like this, or None. `rate` says whether the load also has a
        constant rate."""
        if rate:
            return "`arrivals` already sets when requests are due: leave out `rate`"
        if count > MOST_ARRIVALS:
            return f"a client accepts at most {MOST_ARRIVALS} times of requests: use fewer requests"
        return None

    def fields(self, seed: int, count: int, connections: int) -> dict[str, list[int]]:
        """Return the fields of workload.json: when each request is due, and, if connections have their own arrivals,
        its connection."""
        if self.per == "all":
            return {"gaps_ns": _gaps(self.due(seed, count))}
        dealt = self.dealt(seed, count, connections)
        return {"gaps_ns": _gaps([due for due, _ in dealt]), "dealt_to": [connection for _, connection in dealt]}


def _gaps(due: Sequence[int]) -> list[int]:
    return [later - earlier for earlier, later in itertools.pairwise([0, *due])]
