"""Requests that are repeated, as by programs that need the answer and retry until they have it.

However often it is made, it is one request, which counts from when it was first due: an answer that comes soon after
the third try is not a quick one.
"""

from typing import Annotated, Any

from pydantic import Field

from h123.base.strict import Strict
from h123.study.quantities import Duration

MOST_RETRIES = 100


class Retry(Strict):
    """`{after: 500ms, at_most: 2}`."""

    after: Annotated[Duration, Field(gt=0)]
    """The time from when a request is made until it is repeated, unless it has an answer by then."""
    at_most: Annotated[int, Field(ge=1, le=MOST_RETRIES, strict=True)]
    """The most repeats of a request."""

    @property
    def last_ns(self) -> int:
        """The time from when it is due until its last attempt is made, ns."""
        return self.after * self.at_most

    def fault(self, timeout_ns: int) -> str | None:
        """Why requests cannot be repeated like this. None if they can."""
        if self.last_ns >= timeout_ns:
            return (
                "requests have timed out before they are made for the last time: write a shorter `after`, a smaller "
                "`at_most`, or a longer `timeout`"
            )
        return None

    def fields(self) -> dict[str, Any]:
        """The fields of workload.json."""
        return {"retry_ns": self.after, "retries": self.at_most}
