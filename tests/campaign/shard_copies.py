"""Shards cut out of a campaign that has run, as machines would leave them: whole, torn, changed."""

import shutil
from collections.abc import Container
from pathlib import Path
from typing import Any

from h123.documents.events import TrialEvent
from h123.documents.shard import Shard
from h123.store import CampaignFolder, seal
from h123.study import Plan, Study, make_plan

FACTS: dict[str, Any] = {"kernel": "6.1.0", "cpu": "Quick One", "lab_build": "1abe1", "virtual_kernel_build": "be11"}


def cut(
    whole: CampaignFolder,
    shard: Shard,
    out: Path,
    *,
    trials: int | None = None,
    changed: Container[str] = (),
    place: str | None = None,
    **other: Any,
) -> CampaignFolder:
    """The shard's blocks in a folder of their own. `trials`: it was stopped after so many. `changed`: trials that did
    otherwise there. `place`: the machine. `other`: what else is another than the campaign's."""
    given: dict[str, Any] = {
        "study": whole.study,
        "study_text": (whole.path / "study.yaml").read_text(),
        "networks": whole.networks,
        "seed": whole.seed,
        "blocks": whole.blocks,
        "level_filter": whole.level_filter,
        "machine": whole.machine,
        "subjects": whole.subjects,
        "created": whole.created,
    }
    folder = CampaignFolder.create(out, **{**given, "shard": shard, **other})
    blocks = shard.blocks(folder.blocks)
    events = [event for event in whole.events() if event["event"] == "trial" and event["block"] in blocks]
    names = {event.get("place", "here") for event in events} | ({place} if place else set())
    known = [facts for event in whole.events() for facts in dict(event).get("places", {}).values()]  # type: ignore[attr-defined]
    facts: Any = {**(known[-1] if known else {}), **FACTS}
    folder.append({"event": "campaign", "version": folder.version, "places": dict.fromkeys(names, facts)})
    for event in events[:trials]:
        _copy(whole, folder, event, place, changed=event["trial"] in changed)
    if trials is not None:
        torn = folder.partial("b99-t01-h2", 1)
        (torn / "report.json").write_text("{")
        with (folder.path / "journal.jsonl").open("a") as journal:
            journal.write('{"event": "trial", "tri')
    return CampaignFolder.open(out)


def _copy(
    whole: CampaignFolder, folder: CampaignFolder, event: TrialEvent, place: str | None, *, changed: bool
) -> None:
    copied = folder.attempt(event)
    shutil.copytree(whole.attempt(event), copied)
    if changed:
        samples = copied / "client.json"
        samples.write_text(samples.read_text() + "\n")
        seal.make(copied)
    moved: Any = {"place": place} if place else {}
    folder.append({**event, **moved})


def plan_of(whole: CampaignFolder) -> Plan:
    """The campaign's."""
    study = Study.from_resolved(whole.study, whole.networks)
    return make_plan(study, blocks=whole.blocks, seed=whole.seed, level_filter=whole.level_filter)


def content(folder: Path) -> dict[str, bytes]:
    """All files below."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}
