"""Compares how the treatments sent data: congestion control, windows and other transport settings."""

from collections.abc import Mapping, Sequence
from typing import NotRequired

from typing_extensions import TypedDict

from h123.analysis.case import Case
from h123.analysis.section import Section
from h123.study import likenesses


class TransportRow(TypedDict):
    """The differences between the compared treatments in congestion control, windows and other transport settings."""

    transport: str
    """`deployed` or `matched`."""
    unlike: Mapping[str, str]
    """For each setting, how the compared treatments differ beyond what the study compares."""
    said: str
    """The differences in a sentence."""


class TransportPart(TypedDict):
    transport: NotRequired[Sequence[TransportRow]]


def _compute(case: Case) -> TransportPart:
    if case.facts.imported:
        return {"transport": []}
    rows = likenesses(case.plan, case.choosing)
    return {
        "transport": [
            {"transport": likeness.transport, "unlike": likeness.differences, "said": likeness.text}
            for likeness in rows
        ]
    }


SECTION = Section(TransportPart, _compute)
