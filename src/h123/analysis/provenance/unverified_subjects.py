"""Reports subjects whose verification had not passed when the campaign began."""

from collections.abc import Sequence
from typing import NotRequired

from typing_extensions import TypedDict

from h123.analysis.case import Case
from h123.analysis.section import Section
from h123.documents.campaign_file import Proof, VerifiedRole


class UnprovedRow(Proof):
    """A subject that the campaign used in a role for which its verification had not passed."""

    subject: str
    role: VerifiedRole


class UnprovedPart(TypedDict):
    unproved: NotRequired[Sequence[UnprovedRow]]


def _compute(case: Case) -> UnprovedPart:
    """Return this section's part of verdicts.json. It is empty for campaigns of earlier versions, which did not record
    verifications."""
    return {
        "unproved": [
            {**proof, "subject": name, "role": role}
            for name, about in case.facts.subjects.items()
            for role, proof in about.get("proofs", {}).items()
            if proof["outcome"] != "passed"
        ]
    }


SECTION = Section(UnprovedPart, _compute)
