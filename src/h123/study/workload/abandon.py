"""Requests that are abandoned: their users leave, like people who close a page or go to another one.

Which these are is drawn from the seed before anything runs, and all of them stand apart from the others, given up or
answered in time: of those chosen, the quick ones alone would be left, and make the latency of any protocol better.
"""

import random
from typing import Annotated, Any

from pydantic import Field

from h123.base.strict import Strict
from h123.study.quantities import Duration, Share
from h123.study.workload.arrivals import MOST_ARRIVALS

LEAVING = "leaving"
"""The phase of their rows."""
ABANDONED = "abandoned"
"""The value of a sample's `error` for an abandoned request, which is no error."""


class Abandon(Strict):
    """`{share: 10%, after: 200ms}`."""

    share: Annotated[Share, Field(gt=0, lt=1)]
    """The share of warm requests that are abandoned."""
    after: Annotated[Duration, Field(gt=0)]
    """The time from when a request is due until its user leaves, unless it has ended by then."""

    def count(self, requests: int) -> int:
        """The number of abandoned requests among `requests`."""
        return max(1, round(self.share * requests))

    def places(self, seed: int, requests: int) -> list[int]:
        """Their places among `requests`, in order."""
        return sorted(random.Random(f"{seed} abandon").sample(range(requests), self.count(requests)))

    def fault(self, warm: int, timeout_ns: int) -> str | None:
        """Why requests cannot be abandoned like this. None if they can."""
        if self.after >= timeout_ns:
            return "`abandon` comes too late, since requests have timed out by then: write a shorter `after`"
        if self.count(warm) == warm:
            return f"all of the {warm} requests would be abandoned: have more `requests`, or a smaller `share`"
        if self.count(warm) > MOST_ARRIVALS:
            return f"a client takes a list of at most {MOST_ARRIVALS} requests to abandon: have fewer requests"
        return None

    def fields(self, seed: int, users: int, requests: int, warmup: int) -> dict[str, Any]:
        """The fields of workload.json: the numbers of the abandoned requests, and when to abandon them. `requests` and
        `warmup` count those of each user."""
        placed = (divmod(place, requests) for place in self.places(seed, users * requests))
        return {
            "abandon_ns": self.after,
            "abandoned": [user * (requests + warmup) + warmup + number for user, number in placed],
        }
