"""Retries requests that get no response in time, as many programs do.

All tries count as one request, whose time starts when the request was first due. So a response soon after the third try
is not a quick one.
"""

from typing import Annotated, Any

from pydantic import Field

from h123.base.strict import Strict
from h123.study.quantities import Duration

MOST_RETRIES = 100


class Retry(Strict):
    """Settings for retrying requests: `{after: 500ms, at_most: 2}`."""

    after: Annotated[Duration, Field(gt=0)]
    """The time from when a request is due until its first retry, and from each retry to the next, unless it has a
    response by then."""
    at_most: Annotated[int, Field(ge=1, le=MOST_RETRIES, strict=True)]
    """The largest number of retries of a request."""

    @property
    def last_ns(self) -> int:
        """The time in ns from when a request is due until its last try."""
        return self.after * self.at_most

    def fault(self, timeout_ns: int) -> str | None:
        """Return why requests cannot be retried like this, or None."""
        if self.last_ns >= timeout_ns:
            return (
                "requests time out before their last try: write a shorter `after`, a smaller "
                "`at_most`, or a longer `timeout`"
            )
        return None

    def fields(self) -> dict[str, Any]:
        return {"retry_ns": self.after, "retries": self.at_most}
