"""Chooses requests that the client abandons, as users do when they close a page or go to a different one.

The seed determines the requests to abandon before anything runs. They are counted separately, even those that get a
response in time: these are all quick, and would make the latency of any protocol look better.
"""

import random
from typing import Annotated, Any

from pydantic import Field

from h123.base.strict import Strict
from h123.study.quantities import Duration, Share
from h123.study.workload.arrivals import MOST_ARRIVALS

LEAVING = "leaving"
"""The phase of a sample whose request is one of those to abandon."""
ABANDONED = "abandoned"
"""The value of a sample's `error` for an abandoned request. It is not an error."""


class Abandon(Strict):
    """Settings for abandoning requests: `{share: 10%, after: 200ms}`."""

    share: Annotated[Share, Field(gt=0, lt=1)]
    """The share of warm requests that are to be abandoned."""
    after: Annotated[Duration, Field(gt=0)]
    """The time from when a request is due until its user leaves, unless the request has ended by then."""

    def count(self, requests: int) -> int:
        """Return how many of `requests` requests are to be abandoned."""
        return max(1, round(self.share * requests))

    def places(self, seed: int, requests: int) -> list[int]:
        """Return the indices of those of `requests` requests that are to be abandoned, in order."""
        return sorted(random.Random(f"{seed} abandon").sample(range(requests), self.count(requests)))

    def fault(self, warm: int, timeout_ns: int) -> str | None:
        """Return why requests cannot be abandoned like this, or None."""
        if self.after >= timeout_ns:
            return "requests time out before `abandon` would cancel them: write a shorter `after`"
        if self.count(warm) == warm:
            return f"all of the {warm} requests would be abandoned: use more `requests`, or a smaller `share`"
        if self.count(warm) > MOST_ARRIVALS:
            return f"a client accepts at most {MOST_ARRIVALS} requests to abandon: use fewer requests"
        return None

    def fields(self, seed: int, users: int, requests: int, warmup: int) -> dict[str, Any]:
        """Return the fields of workload.json: the numbers of the requests to abandon, and the time after which each is
        abandoned. `requests` and `warmup` are counts for each user."""
        placed = (divmod(place, requests) for place in self.places(seed, users * requests))
        return {
            "abandon_ns": self.after,
            "abandoned": [user * (requests + warmup) + warmup + number for user, number in placed],
        }
