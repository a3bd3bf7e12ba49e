"""One thing that was asked of a subject, and what came of it."""

from typing import Literal

from h123.base.strict import Strict
from h123.documents.campaign_file import VerifiedRole

Verdict = Literal["passed", "failed", "unsupported"]
DISTURBED = "the machine "
"""With which the details begin of what was not asked, because a trial was disturbed."""


class Result(Strict):
    """One thing that was asked of a subject, and what came of it."""

    role: VerifiedRole
    protocol: str
    clock: Literal["wall", "virtual"] = "wall"
    check: str
    """Such as `GET 1000000`."""
    verdict: Verdict
    """unsupported: it could not be asked here, and `detail` says why."""
    detail: str = ""
    """What was seen; of a failure, what is wrong and where its log is."""

    @property
    def open(self) -> bool:
        """Whether another time may tell: the machine kept it from being asked (Trial.disturbed says so)."""
        return self.verdict == "unsupported" and self.detail.startswith(DISTURBED)
