"""Joins shards into a campaign. Everything is checked first, and nothing is written if anything is refused.

The campaign's journal contains the shards' own events, block by block. Before the blocks of each shard, a line says
which folder and which machines their events came from. Further shards can be added to a joined campaign.
"""

import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from h123.base.errors import UserError
from h123.base.files.durable import sync_tree
from h123.base.paths import real, typed
from h123.campaign.joining.blocks import History, RunBlock, require_seals, run_blocks
from h123.campaign.joining.doubles import require_same
from h123.campaign.joining.kinship import require_kin
from h123.campaign.second_runs import require_same as require_same_again
from h123.documents.events import SecondRun, TrialEvent, machines
from h123.documents.shard import Shard
from h123.store import CampaignFolder, check_new, seal
from h123.study import Plan, Study, make_plan


@dataclass(frozen=True)
class Joined:
    folder: CampaignFolder
    planned: int
    added: Sequence[int]
    """Blocks that were just added."""
    missing: Sequence[int]
    """Blocks that the campaign lacks."""
    unfinished: Mapping[Path, Sequence[int]] = field(default_factory=dict)
    """Missing blocks that a shard has begun and not finished."""
    damaged: Mapping[Path, int] = field(default_factory=dict)
    """Shards whose journal lacks finished trials, with the number of these trials, which are left out."""
    empty: Sequence[Path] = ()
    """Folders in which nothing has begun."""


def join_shards(shards: Sequence[Path], out: Path, report: Callable[[str], None]) -> Joined:
    """Add the finished blocks of `shards` to the campaign in `out`, which is created if necessary.

    Raises UserError, and changes nothing, if a shard belongs to another campaign, differs from its seals, or contains a
    block that conflicts with the same block in another shard.
    """
    begun, empty = _begun(shards, out)
    campaign = CampaignFolder.open(out) if (out / "campaign.json").exists() else None
    if campaign and campaign.shard:
        raise UserError(f"{out} is a shard itself", remedy="name another folder with --out")
    folders = [*([campaign] if campaign else []), *begun]
    if not folders:
        raise UserError(f"no shard in these folders has begun: {', '.join(map(str, shards))}")
    for folder in folders:
        require_kin(folder, folders[0])
    plan = _plan(folders)
    for number, folder in enumerate(folders, 1):
        report(f"Verifying the seals of {folder.path} ({number} of {len(folders)})")
        require_seals(folder)
    mine = run_blocks(campaign, plan) if campaign else {}
    theirs = [run_blocks(folder, plan) for folder in begun]
    chosen = _choose(mine, [block for blocks in theirs for block in blocks.values()])
    second_runs = _second_runs(folders, {**mine, **chosen}, plan)
    if campaign is None:
        check_new(out)
        campaign = _create(out, min(begun, key=lambda folder: folder.created), plan)
    with campaign.alone():
        if plan.planned > campaign.blocks:
            campaign.set_blocks(plan.planned)
        added = _add(campaign, mine, chosen, report)
        _carry_looks(campaign, begun)
        _carry_second_runs(campaign, second_runs)
    final = run_blocks(campaign, plan)
    missing = [n for n in range(1, plan.planned + 1) if n not in final or not final[n].finished]
    unfinished = {
        folder.path: begun_blocks
        for folder, blocks in zip(begun, theirs, strict=True)
        if (begun_blocks := [n for n, block in blocks.items() if n in missing and not block.finished])
    }
    damaged = {folder.path: len(lacking) for folder in begun if (lacking := folder.unjournalled())}
    return Joined(campaign, plan.planned, added, missing, unfinished, damaged, empty)


def _begun(shards: Iterable[Path], out: Path) -> tuple[list[CampaignFolder], list[Path]]:
    """Return the shards without duplicates, and separately the folders in which no trial has begun, because a machine
    was stopped before its first trial.

    Raises UserError if a folder is not a campaign, or is the folder `out`.
    """
    folders, empty = dict[Path, CampaignFolder](), list[Path]()
    for path in shards:
        if real(path) == real(out):
            raise UserError(f"{path} is the campaign that the shards are joined into", remedy="name only shards")
        if path.is_dir() and not (path / "campaign.json").exists() and not any(path.glob("trials/*")):
            empty.append(path)
        else:
            folders.setdefault(real(path), CampaignFolder.open(path))
    return list(folders.values()), empty


def _plan(folders: Sequence[CampaignFolder]) -> Plan:
    """Return the campaign's plan, with as many blocks as the largest shard has."""
    first = folders[0]
    study = Study.from_resolved(first.study, first.networks)
    blocks = max(folder.blocks for folder in folders)
    return make_plan(study, blocks=blocks, seed=first.seed, level_filter=first.level_filter)


def _choose(mine: dict[int, RunBlock], theirs: Sequence[RunBlock]) -> dict[int, RunBlock]:
    """Return the finished blocks to take from the shards, because the campaign lacks them or has only their beginning.
    Raises UserError if two runs of a block differ."""
    chosen = dict[int, RunBlock]()
    for block in theirs:
        if not block.finished:
            continue
        known = chosen.get(block.number) or mine.get(block.number)
        if known is None or _continues(block, known):
            chosen[block.number] = block
        elif not _continues(known, block):
            _require_finished(known)
            require_same(known, block)
    return chosen


def _continues(longer: RunBlock, shorter: RunBlock) -> bool:
    """Return whether the history `shorter` is the beginning of `longer`. If so, one folder was copied, and one of the
    two then ran further."""
    return longer.marks()[: len(shorter.history)] == shorter.marks()


def _require_finished(block: RunBlock) -> None:
    """Raise UserError if the campaign itself has begun the block but not finished it: its attempts and the shard's have
    the same names."""
    if not block.finished:
        path = typed(block.folder.path)
        raise UserError(
            f"{block.folder.path} has itself begun block {block.number} ({block.done} of {len(block.trials)} trials)",
            remedy=f"finish it, and join again: h123 run --out {path}\nor join the shards into a new folder (--out)",
        )


def _second_runs(folders: Iterable[CampaignFolder], blocks: Mapping[int, RunBlock], plan: Plan) -> list[SecondRun]:
    """Return all second runs. Raises UserError if one of them differs from the trial in its block."""
    trials, found = {trial.id: trial for trial in plan.trials()}, list[SecondRun]()
    for folder in folders:
        for event in folder.events():
            if event["event"] != "second-run" or event["trial"] not in trials:
                continue
            found.append(event)
            trial = trials[event["trial"]]
            if block := blocks.get(trial.block):
                require_same_again(folder, event, block.folder, block.standing(trial))
    return found


def _create(out: Path, first: CampaignFolder, plan: Plan) -> CampaignFolder:
    return CampaignFolder.create(
        out,
        study=first.study,
        study_text=(first.path / "study.yaml").read_text(encoding="utf-8"),
        networks=first.networks,
        seed=first.seed,
        blocks=plan.planned,
        level_filter=first.level_filter,
        looks=first.looks,
        precision=first.precision,
        machine=first.machine,
        subjects=first.subjects,
        uploads={file.name: file for file in sorted(first.uploads.iterdir())} if first.uploads.is_dir() else None,
        created=first.created,
    )


def _add(
    campaign: CampaignFolder, mine: dict[int, RunBlock], chosen: dict[int, RunBlock], report: Callable[[str], None]
) -> list[int]:
    """Copy and journal the attempts that the campaign lacks. Return the numbers of the blocks that have new
    attempts."""
    added = list[int]()
    for folder in dict.fromkeys(block.folder for block in chosen.values()):
        blocks = {n: block for n, block in sorted(chosen.items()) if block.folder is folder}
        known = {n: len(mine[n].history) if n in mine else 0 for n in blocks}
        news: dict[int, History] = {n: block.history[known[n] :] for n, block in blocks.items()}
        numbers = [n for n, history in news.items() if history]
        if not numbers:
            continue
        report(f"Adding {len(numbers)} block{'s' * (len(numbers) != 1)} of {folder.path}")
        events = [event for n in numbers for event in news[n]]
        for event in events:
            if event["event"] == "trial":
                _copy(folder, campaign, event)
        places = {event["place"] for event in events if "place" in event}
        campaign.append(
            {
                "event": "shard",
                "shard": (folder.shard or Shard.of(range(1, folder.blocks + 1))).text,
                "folder": folder.name,
                "blocks": numbers,
                "places": {name: facts for name, facts in machines(folder.events()).items() if name in places},
            }
        )
        for event in events:
            campaign.append(event)
        added += numbers
    shutil.rmtree(campaign.arrivals, ignore_errors=True)
    return sorted(added)


def _copy(folder: CampaignFolder, campaign: CampaignFolder, event: TrialEvent) -> None:
    """Copy an attempt, and check the copy against its seal. If the campaign already has the attempt, because an earlier
    join was interrupted, only check it."""
    source, target = folder.attempt(event), campaign.attempt(event)
    sealed = event.get("seal")
    assert sealed  # `require_seals` has checked this
    if target.exists():
        if fault := seal.broken(target, sealed):
            raise UserError(
                f"{target} already exists and differs from {source}: {fault}",
                remedy="join the shards into a new folder (--out)",
                status=1,
            )
        return
    arrived = campaign.arrivals / source.name
    shutil.rmtree(arrived, ignore_errors=True)
    shutil.copytree(source, arrived, symlinks=True)
    sync_tree(arrived)
    campaign.take_in(arrived, event, sealed)


def _carry_second_runs(campaign: CampaignFolder, second_runs: Iterable[SecondRun]) -> None:
    """Record the shards' second runs in the campaign, so that later joins can compare them with the blocks that they
    add."""
    known = {(event["trial"], event["place"]) for event in campaign.events() if event["event"] == "second-run"}
    for event in second_runs:
        if (event["trial"], event["place"]) not in known:
            known.add((event["trial"], event["place"]))
            campaign.append(event)


def _carry_looks(campaign: CampaignFolder, shards: Iterable[CampaignFolder]) -> None:
    """Record in the campaign the looks at its shards, because they were looks at its data. Later verdicts are then as
    strict as these looks require."""
    known = {event.get("blocks") for event in campaign.events() if event["event"] == "look"}
    for event in (event for folder in shards for event in folder.events() if event["event"] == "look"):
        if event.get("blocks") not in known:
            known.add(event.get("blocks"))
            campaign.append(event)
