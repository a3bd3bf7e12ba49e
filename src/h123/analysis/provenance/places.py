"""Reports, for a campaign on several machines, each machine's properties and the blocks that it ran."""

from collections.abc import Iterable, Sequence
from typing import NotRequired

from typing_extensions import TypedDict

from h123.analysis.case import Case
from h123.analysis.section import Section
from h123.documents.campaign_file import MachineFacts, Privileges
from h123.documents.events import Event, machines
from h123.measures import Attempt


class PlaceRow(TypedDict):
    """A machine that ran trials, and the blocks that it completed."""

    name: str
    blocks: Sequence[int]
    trials: int
    machine: MachineFacts


def places(attempts: Sequence[Attempt], events: Iterable[Event]) -> list[PlaceRow]:
    """Return the machines of the analysed attempts, with the most recent facts about each. Empty if all attempts ran on
    one machine."""
    facts = machines(events)
    names = sorted({attempt.place for attempt in attempts if attempt.place})
    return [_row(name, attempts, facts) for name in names] if len(names) > 1 else []


def _row(name: str, attempts: Sequence[Attempt], facts: dict[str, MachineFacts]) -> PlaceRow:
    mine = [attempt for attempt in attempts if attempt.place == name]
    blocks = sorted({attempt.block for attempt in mine})
    return {"name": name, "blocks": blocks, "trials": len(mine), "machine": facts.get(name, {})}


def _compared(events: Sequence[Event]) -> list[Event]:
    """Return the events of trials that ran a second time, on a different machine."""
    homes = {event["trial"]: event.get("place") for event in events if event["event"] == "trial" and event["valid"]}
    return [
        event
        for event in events
        if event["event"] == "second-run" and homes.get(event["trial"], event["place"]) != event["place"]
    ]


class PlacesPart(TypedDict):
    places: NotRequired[Sequence[PlaceRow]]
    """The machines. Absent if there is only one."""
    second_runs: NotRequired[int]
    """The number of virtual trials that also ran on a second machine, with byte-identical results. Absent if there are
    none."""
    privileges: NotRequired[Sequence[Privileges]]
    """The privileges with which trials ran. Absent for campaigns of early versions, which always ran as root."""


def _compute(case: Case) -> PlacesPart:
    part: PlacesPart = {"places": places(case.measured.attempts, case.facts.events)}
    privileges = sorted({had for facts in machines(case.facts.events).values() if (had := facts.get("privileges"))})
    if compared := len(_compared(case.facts.events)):
        part["second_runs"] = compared
    return {**part, "privileges": privileges} if privileges else part


SECTION = Section(PlacesPart, _compute)
