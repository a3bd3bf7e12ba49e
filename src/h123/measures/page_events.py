"""When browsers told the pages of a trial's visits that they had loaded: client.json, beside the samples."""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from h123.documents.trial_files import Client
from h123.measures.visits import Visit
from h123.study.metrics.observed import PageEvent


class Events(NamedTuple):
    """Of a visit, on the clock of the samples; None where they never came."""

    visit: Visit
    dom_content_loaded: int | None
    load: int | None


def events_of(visits: Sequence[Visit], facts: Client | None) -> Iterator[Events]:
    """Of those visits that the client tells of, if it does."""
    told = {(one.user, one.group): one for one in facts.visits} if facts else {}
    for visit in visits:
        if one := told.get((visit.user, visit.group)):
            yield Events(visit, one.dom_content_loaded_ns, one.load_ns)


def times_until(event: PageEvent, visits: Sequence[Visit], facts: Client | None) -> list[float]:
    """ns from the start of each visit until then, infinite where it never came or the visit failed; none of a client
    that does not tell."""
    found = [(one.visit, one.load if event == "load" else one.dom_content_loaded) for one in events_of(visits, facts)]
    if all(at is None for _, at in found):
        return []
    return [math.inf if at is None or visit.failed else float(at - visit.start_ns) for visit, at in found]
