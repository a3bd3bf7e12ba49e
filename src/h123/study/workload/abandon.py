"""Requests that are abandoned: their users leave, as people do who close a page or go on to another one.

Which these are is drawn from the seed before anything runs, and all of them stand apart from the others, given up or
answered in time: of those chosen, the quick ones alone would be left, and make the latency of any protocol better.
"""

import random
from typing import Annotated

from pydantic import Field

from h123.base.strict import Strict
from h123.study.quantities import Duration, Share

LEAVING = "leaving"
"""The phase of their rows."""
ABANDONED = "abandoned"
"""What stands in place of an error where one was given up: it is none."""


class Abandon(Strict):
    """`{share: 10%, after: 200ms}`."""

    share: Annotated[Share, Field(gt=0, lt=1)]
    """Of the warm requests."""
    after: Annotated[Duration, Field(gt=0)]
    """From when one is due until its user leaves, if it has not ended by then."""

    def count(self, requests: int) -> int:
        """Of so many."""
        return max(1, round(self.share * requests))

    def chosen(self, seed: int, requests: int) -> list[int]:
        """Their places among so many, in order."""
        return sorted(random.Random(f"{seed} abandon").sample(range(requests), self.count(requests)))
