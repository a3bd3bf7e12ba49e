"""Reports attempts without a seal. Only earlier versions of h123 recorded such attempts."""

from typing import NotRequired

from typing_extensions import TypedDict

from h123.analysis.case import Case
from h123.analysis.section import Section


class UnsealedPart(TypedDict):
    unsealed: NotRequired[int]
    """The number of attempts without a seal, in campaigns of early versions."""


def _compute(case: Case) -> UnsealedPart:
    return {"unsealed": sum(not event.get("seal") for event in case.facts.events if event["event"] == "trial")}


SECTION = Section(UnsealedPart, _compute)
