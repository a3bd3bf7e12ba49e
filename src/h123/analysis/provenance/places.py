"""The places of a campaign that has more than one: what each is, and which blocks are its."""

from collections.abc import Iterable, Sequence
from typing import NotRequired

from typing_extensions import TypedDict

from h123.analysis.case import Case
from h123.analysis.section import Section
from h123.documents.campaign_file import MachineFacts, Privileges
from h123.documents.events import Event
from h123.measures import Attempt


class PlaceRow(TypedDict):
    """Where trials ran: the blocks that are whole there, and what the machine is."""

    name: str
    blocks: Sequence[int]
    trials: int
    machine: MachineFacts


def places(attempts: Sequence[Attempt], events: Iterable[Event]) -> list[PlaceRow]:
    """Those of the attempts that count, as they were last; none where all are of one place."""
    facts = _facts(events)
    names = sorted({attempt.place for attempt in attempts if attempt.place})
    return [_row(name, attempts, facts) for name in names] if len(names) > 1 else []


def _facts(events: Iterable[Event]) -> dict[str, MachineFacts]:
    """Of each place, as it was last."""
    facts = dict[str, MachineFacts]()
    for event in events:
        if event["event"] in ("campaign", "resume", "joined", "shard"):
            facts |= event.get("places", {})
    return facts


def _row(name: str, attempts: Sequence[Attempt], facts: dict[str, MachineFacts]) -> PlaceRow:
    mine = [attempt for attempt in attempts if attempt.place == name]
    blocks = sorted({attempt.block for attempt in mine})
    return {"name": name, "blocks": blocks, "trials": len(mine), "machine": facts.get(name, {})}


class PlacesPart(TypedDict):
    places: NotRequired[Sequence[PlaceRow]]
    """None where there was one."""
    privileges: NotRequired[Sequence[Privileges]]
    """Those that trials ran with; absent where an earlier h123 began the campaign, which was root."""


def _compute(case: Case) -> PlacesPart:
    part: PlacesPart = {"places": places(case.attempts, case.facts.events)}
    privileges = sorted({had for facts in _facts(case.facts.events).values() if (had := facts.get("privileges"))})
    return {**part, "privileges": privileges} if privileges else part


SECTION = Section(PlacesPart, _compute)
