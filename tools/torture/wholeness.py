"""Checks what must be true of a campaign in the end, whatever happened to it."""

import itertools
import json
from collections import defaultdict
from collections.abc import Iterator, Set
from pathlib import Path
from typing import Any

from reference_campaign import samples

from h123.base.errors import UserError
from h123.store import CampaignFolder

Event = dict[str, Any]


def faults(campaign: Path, planned: dict[str, int], harmed: Set[str] = frozenset()) -> Iterator[str]:
    """Yield everything that is wrong with the campaign. `planned` has the number of samples by trial ID. `harmed` are
    the attempts whose files were deleted or changed, which must have been repeated."""
    try:
        folder = CampaignFolder.open(campaign)
        journal = folder.events()
    except UserError as error:
        yield error.message
        return
    attempts = [event for event in journal if event["event"] == "trial"]
    yield from _order(journal)
    yield from _trials(attempts, set(planned), harmed)
    yield from _folders(campaign, attempts, harmed)
    for event in attempts:
        if _name(event) in harmed:
            continue
        if damage := folder.damage(event):
            yield f"{_name(event)}: {damage}"
        elif not event.get("seal"):
            yield f"{_name(event)} has no seal"
        elif event["valid"]:
            yield from _files(campaign, event, planned.get(event["trial"]))
    yield from _report(campaign, len(planned))


def _name(event: Event) -> str:
    """Return the name of the attempt's folder."""
    return f"{event['trial']}~{event['attempt']}"


def _order(journal: list[Event]) -> Iterator[str]:
    """Check that there was one run at a time: the journal continues after the end of a run only if a new run began."""
    runs = [event for event in journal if event["event"] != "look"]  # whoever analyses may look at any time
    if runs[-1]["event"] != "finished":
        yield f"the journal ends with {runs[-1]['event']!r}"
    for before, after in itertools.pairwise(runs):
        if before["event"] in ("finished", "interrupted") and after["event"] not in ("resume", "campaign"):
            yield f"the journal goes on after {before['event']!r} with {after['event']!r}"


def _trials(attempts: list[Event], planned: set[str], harmed: Set[str]) -> Iterator[str]:
    """Check that each planned trial was run, no other was, and no trial was repeated that already had an undisturbed
    valid attempt."""
    tried = defaultdict[str, list[Event]](list)
    for event in attempts:
        tried[event["trial"]].append(event)
    if set(tried) != planned:
        yield f"lost: {sorted(planned - set(tried))}; not planned: {sorted(set(tried) - planned)}"
    for trial, made in tried.items():
        numbers = [event["attempt"] for event in made]
        if numbers != list(range(1, len(made) + 1)):
            yield f"{trial}: attempts {numbers}"
        if not any(event["valid"] for event in made if _name(event) not in harmed):
            yield f"{trial}: no valid attempt"
        if any(event["valid"] and not event["disturbed"] for event in made[:-1] if _name(event) not in harmed):
            yield f"{trial}: done again, although an attempt counts"


def _folders(campaign: Path, attempts: list[Event], harmed: Set[str]) -> Iterator[str]:
    journalled = {_name(event) for event in attempts}
    there = {path.name for path in (campaign / "trials").iterdir()}
    if there - journalled or journalled - there - harmed:
        yield f"in the journal alone: {sorted(journalled - there)}; on the disk alone: {sorted(there - journalled)}"
    for path in campaign.rglob("*"):
        if path.name.endswith((".tmp", ".partial")):
            yield f"{path.relative_to(campaign)} was left"


def _files(campaign: Path, event: Event, rows: int | None) -> Iterator[str]:
    folder = campaign / "trials" / _name(event)
    try:
        report = json.loads((folder / "report.json").read_text())
        json.loads((folder / "trial.json").read_text())
        json.loads((folder / "client.json").read_text())
        if report["id"] != event["trial"] or not report["valid"]:
            yield f"{folder.name}: report.json is of {report['id']}, valid: {report['valid']}"
        if samples(campaign, event) != rows:
            yield f"{folder.name}: {samples(campaign, event)} samples instead of {rows}"
    except (OSError, ValueError) as error:
        yield f"{folder.name}: {error}"


def _report(campaign: Path, planned: int) -> Iterator[str]:
    try:
        verdicts = json.loads((campaign / "verdicts.json").read_text())
        page = (campaign / "report.html").read_text()
    except (OSError, ValueError) as error:
        yield f"no report: {error}"
        return
    counted = verdicts["trials"]
    if (counted["planned"], counted["valid"], counted["missing"]) != (planned, planned, 0):
        yield f"the verdicts are of {counted}, {planned} trials were planned"
    if not page.rstrip().endswith("</html>"):
        yield "report.html is not whole"
    pictures = list((campaign / "figures").iterdir())
    if not pictures or any(path.stat().st_size == 0 for path in pictures):
        yield f"figures: {len(pictures)}, of which some are empty"
