"""Defines the result of one check of a subject."""

from typing import Literal

from h123.base.strict import Strict
from h123.documents.campaign_file import VerifiedRole

Verdict = Literal["passed", "failed", "unsupported"]
DISTURBED = "the machine "
"""The first words of `detail` if a check did not run because a trial was disturbed."""


class Result(Strict):
    """The result of one check of a subject."""

    role: VerifiedRole
    protocol: str
    clock: Literal["wall", "virtual"] = "wall"
    check: str
    """The check's name, such as `GET 1000000`."""
    verdict: Verdict
    """unsupported: the check could not run here, and `detail` gives the reason."""
    detail: str = ""
    """The observation. For a failure, the fault and the path of the trial's folder."""

    @property
    def open(self) -> bool:
        """Whether the check should run again, because the machine prevented it (see Trial.disturbed)."""
        return self.verdict == "unsupported" and self.detail.startswith(DISTURBED)
