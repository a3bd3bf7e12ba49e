"""Projects how many blocks would decide the campaign's question."""

import datetime as dt
from collections.abc import Iterable

from typing_extensions import TypedDict

from h123.analysis.case import Case
from h123.analysis.comparisons.projection import Outlook, outlook
from h123.analysis.section import Section
from h123.analysis.verdicts.judgement import comparisons
from h123.documents.events import Event, TrialEvent

_BEGINNINGS = ("campaign", "resume", "shard")


class OutlookPart(TypedDict):
    projection: Outlook


def _compute(case: Case) -> OutlookPart:
    pace = seconds_per_trial(case.facts.events)
    projection = outlook(
        comparisons(case), len(case.plan.blocks[0]), len(case.measured.attempts), pace, case.rule.remedy
    )
    return {"projection": projection}


def seconds_per_trial(events: Iterable[Event]) -> float | None:
    """Return the wall time from the first attempt's start to the last one's end, divided by the number of trials that
    ran in this time.

    Pauses between an interruption and a resumption do not count. Repeated attempts and the lab's own work are included,
    and so is the effect of trials that run in parallel. None if nothing was measured, or if the samples were imported.
    """
    spans: list[list[TrialEvent]] = []
    for event in events:
        if event["event"] in _BEGINNINGS:
            spans.append([])
        elif event["event"] == "trial" and spans:
            spans[-1].append(event)
    trials = {event["trial"] for span in spans for event in span}
    return sum(_seconds(span) for span in spans if span) / len(trials) if trials else None


def _seconds(attempts: Iterable[TrialEvent]) -> float:
    ends = [(dt.datetime.fromisoformat(event["time"]).timestamp(), event["seconds"] or 0.0) for event in attempts]
    return max(end for end, _ in ends) - min(end - seconds for end, seconds in ends)


SECTION = Section(OutlookPart, _compute)
