"""Starts, resumes and runs campaigns. Stopping at any moment loses at most the running trials."""

import itertools
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from h123 import __version__
from h123.base.errors import UserError
from h123.base.paths import typed
from h123.base.units import counted
from h123.campaign.block_assignment import Assignee
from h123.campaign.campaign import Campaign, DraftedStudy
from h123.campaign.preparation import Cast, cast_of, prepare_campaign, require_travelling
from h123.campaign.scheduler import Attempts, Scheduler, untried
from h123.catalogue import OwnSubject, Subject, fingerprint, settable
from h123.documents import read_document
from h123.documents.campaign_file import Precision, Proof, SubjectFacts, VerifiedRole
from h123.documents.events import superseded
from h123.documents.lab_report import Report
from h123.documents.shard import Shard
from h123.execution import Jobs, Machine, Pool, kept_bytes, this_machine
from h123.execution.retry_policy import LiveAttempt, forgive, lose, usable
from h123.progress import Display
from h123.store import CampaignFolder, check_new
from h123.study import Network, Plan, PlannedTrial, Study, load_study, make_plan
from h123.virtual import NAME

Vouch = Callable[[Cast], Mapping[str, Mapping[VerifiedRole, Proof]]]
"""A function that returns the verification of each subject in each of its roles."""


@dataclass
class Outcome:
    planned: int
    valid: int = 0
    failed: list[str] = field(default_factory=list)
    """Trials without an attempt that counts."""


def start_campaign(
    study: Path | DraftedStudy,
    out: Path,
    *,
    blocks: int | None,
    seed: int | None,
    level_filter: dict[str, list[str]],
    report: Callable[[str], None],
    vouch: Vouch,
    scale: float = 1.0,
    clock: str | None = None,
    transport: str | None = None,
    looks: Sequence[int] = (),
    precision: Precision | None = None,
    shard: Shard | None = None,
) -> Campaign:
    """Install what the study (a file or a draft) needs, and create its campaign in the folder `out`.

    `vouch` returns the known verifications of the subjects, or raises UserError if a subject must not be measured.
    `looks`: the numbers of blocks at which to look at the results; the first is the number of blocks to plan now.
    `precision`: the interval width to reach (see `CampaignFolder.precision`). `shard`: the blocks that run here.
    """
    resolved = study.study if isinstance(study, DraftedStudy) else load_study(study).scaled(scale)
    resolved = resolved.settled(clock=clock, transport=transport)
    plan = make_plan(resolved, blocks=looks[0] if looks else blocks, seed=seed, level_filter=level_filter)
    check_new(out)  # before anything is built
    if shard:
        plan = _part(plan, shard)
    proofs = vouch(cast_of(plan))
    subjects = prepare_campaign(plan, report)
    folder = CampaignFolder.create(
        out,
        study=resolved.resolved(),
        study_text=study.text if isinstance(study, DraftedStudy) else study.read_text(encoding="utf-8"),
        networks={name: network.resolved() for name, network in resolved.networks.items()},
        seed=plan.seed,
        blocks=plan.planned,
        level_filter=level_filter,
        looks=looks,
        precision=precision,
        shard=shard,
        uploads=_uploads(study, plan),
        machine=this_machine().facts,
        subjects={name: _facts(subject, proofs.get(name, {})) for name, subject in subjects.items()},
    )
    return Campaign(plan, subjects, folder)


def _uploads(study: Path | DraftedStudy, plan: Plan) -> dict[str, Path]:
    """Return the files that the campaign keeps for its trials. A draft's folder may also contain files that its own
    servers read."""
    if isinstance(study, DraftedStudy):
        return {file.name: file for file in sorted(study.uploads.iterdir())} if study.uploads.is_dir() else {}
    return {upload.name: study.parent / upload.file for upload in plan.uploads()}


def _part(plan: Plan, shard: Shard) -> Plan:
    """Return the plan with only the shard's blocks. Raises UserError if other machines could not run the rest."""
    require_travelling(plan)
    return plan.part(shard.blocks(plan.planned))


def _facts(subject: Subject, proofs: Mapping[VerifiedRole, Proof]) -> SubjectFacts:
    takes = settable(subject)
    facts: SubjectFacts = {
        "version": subject.version,
        "stack": subject.stack,
        "language": subject.language,
        "congestion": subject.features.congestion,
        "initial_window": takes["initial_window"],
        "pacing": takes["pacing"],
        "max_datagram": takes["max_datagram"],
        "false_start": bool(subject.client and subject.client.false_start),
        "proofs": proofs,
    }
    if not isinstance(subject, OwnSubject):
        facts["fingerprint"] = fingerprint(subject)
    return facts


def extend_campaign(
    out: Path, *, blocks: int | None, report: Callable[[str], None], networks: Mapping[str, Network] | None = None
) -> Campaign:
    """Open the campaign in the folder `out` to continue it. `blocks`: the new number of blocks, or None to keep the
    number. `networks`: the networks as their files define them now, or None to use those that the campaign recorded."""
    folder = CampaignFolder.open(out)
    if folder.imported:
        raise UserError(
            f"{out} contains imported samples, so there is nothing to continue",
            remedy=f"`h123 analyse {typed(out)}` analyses them; `h123 import` makes a new folder from further samples",
        )
    study = Study.from_resolved(folder.study, folder.networks)
    if networks is not None:
        study = study.model_copy(update={"networks": dict(networks)})
    if blocks is not None and blocks < folder.blocks:
        raise UserError(
            f"{out} was planned with {folder.blocks} blocks; --blocks {blocks} would be fewer",
            remedy=f"use {folder.blocks} or more, or start a new campaign with --out",
        )
    plan = make_plan(study, blocks=blocks or folder.blocks, seed=folder.seed, level_filter=folder.level_filter)
    if folder.shard:
        plan = plan.part(folder.shard.blocks(plan.planned))
    subjects = prepare_campaign(plan, report)
    if lacking := folder.unjournalled():
        report(f"Putting {counted(len(lacking), 'finished trial')} that the journal lacks into it again")
    for damage in folder.damaged_trials().values():
        report(f"{damage}: the trial runs again")
    return Campaign(plan, subjects, folder)


def run_campaign(
    campaign: Campaign, pool: Pool, display: Display, jobs: int | None = None, *, retry: bool = False
) -> Outcome:
    """Run everything that is not finished yet on the pool's machines, with at most `jobs` trials at once (None: h123
    chooses, see execution/jobs.py), and close the pool.

    `retry`: whether trials that were given up or are still disturbed run again, without counting their earlier
    attempts. Call this only while no other process uses the folder (`alone`). On KeyboardInterrupt, or OSError if the
    disk is full, the function ends all running trials and raises the exception again. The journal records an
    interruption.
    """
    with display:
        try:
            outcome = _run_unfinished(campaign, pool, display, jobs, retry)
        except KeyboardInterrupt:
            campaign.folder.append({"event": "interrupted"})
            raise
        campaign.folder.append({"event": "finished", "valid": outcome.valid, "failed": len(outcome.failed)})
    return outcome


def _run_unfinished(campaign: Campaign, pool: Pool, display: Display, jobs: int | None, retry: bool) -> Outcome:
    try:
        attempts = _run_on(pool, campaign, display, jobs, retry)
    finally:
        pool.close()
    outcome = Outcome(planned=len(attempts))
    for trial, history in attempts.items():
        if usable(history):
            outcome.valid += 1
        else:
            outcome.failed.append(trial)
    return outcome


def _run_on(pool: Pool, campaign: Campaign, display: Display, jobs: int | None, retry: bool) -> Attempts:
    machines = [machine for machine in pool.machines() if _fits(campaign, machine)]
    if not machines:
        raise UserError(f"no machine has {NAME}", remedy="run `h123 install` there", status=3)
    attempts = _take_up(campaign, machines, retry)
    _check_uploads(campaign)
    _check_disk(campaign, untried(campaign.plan.trials(), attempts))

    def assignee_of(machine: Machine) -> Assignee | None:
        if not _fits(campaign, machine):
            return None
        assignee = Assignee(machine, Jobs.at(campaign.plan, jobs, machine))
        for event in itertools.chain.from_iterable(attempts.values()):
            if event.get("place") in (machine.name, None) and not campaign.folder.damage(event):
                assignee.jobs.learn(event, read_document(campaign.folder.attempt(event) / "report.json", Report))
        return assignee

    Scheduler(campaign, pool, display, machines, attempts, assignee_of).run()
    return attempts


def _fits(campaign: Campaign, machine: Machine) -> bool:
    virtual = any(trial.parameters.clock == "virtual" for trial in campaign.plan.blocks[0])
    return not virtual or bool(machine.facts.get("virtual_kernel"))


def _take_up(campaign: Campaign, machines: Sequence[Machine], retry: bool) -> Attempts:
    """Return the attempts already made, by trial, and remove incomplete files that a crash left.

    A sealed trial that is not in the journal, because of a crash or because the journal is gone, is added to it now:
    nothing that was measured is deleted. A trial whose files are gone or changed runs again.
    """
    folder = campaign.folder
    attempts: Attempts = {trial.id: [] for trial in campaign.plan.trials()}
    folder.rejournal(attempts.keys())
    events = folder.events()
    for event in events:
        if event["event"] == "trial":
            if event["trial"] not in attempts:
                raise UserError(f"the journal of {folder.path} has a trial that is not in its plan: {event['trial']}")
            attempts[event["trial"]].append(cast(LiveAttempt, event))
        elif event["event"] == "retry":
            _forgive_all(attempts)
    for attempt in itertools.chain.from_iterable(attempts.values()):
        if superseded(attempt) or folder.damage(attempt):
            lose(attempt)
    folder.discard_partials()
    _take_up_networks(campaign, attempts)
    if campaign.plan.planned > folder.blocks:
        folder.set_blocks(campaign.plan.planned)
    folder.append(
        {
            "event": "resume" if events else "campaign",
            "version": __version__,
            "trials": len(attempts),
            "places": {machine.name: machine.facts for machine in machines},
        }
    )
    if retry:
        folder.append({"event": "retry"})
        _forgive_all(attempts)
    return attempts


def _take_up_networks(campaign: Campaign, attempts: Attempts) -> None:
    """Use the current definition of a network that has changed since the campaign began. Raises UserError if there are
    already valid results over such a network."""
    folder, networks = campaign.folder, campaign.plan.study.networks
    changed = {name for name, resolved in folder.networks.items() if Network.from_resolved(resolved) != networks[name]}
    for event in itertools.chain.from_iterable(attempts.values()):
        over = {event["parameters"]["network"], event["parameters"]["backend_network"]}
        if event["valid"] and (names := changed & over):
            raise UserError(
                f"network {min(names)} has changed since this campaign measured over it",
                remedy=f"resume with the network as it was by `h123 run --out {folder.path}`, or choose another folder",
            )
    if changed:
        folder.set_networks({name: network.resolved() for name, network in networks.items()})


def _forgive_all(attempts: Attempts) -> None:
    for history in attempts.values():
        forgive(history)


def _check_uploads(campaign: Campaign) -> None:
    """Check that later trials upload the same files as the first ones."""
    for upload in campaign.plan.uploads():
        file = campaign.folder.uploads / upload.name
        if not (file.is_file() and file.stat().st_size == upload.size):
            raise UserError(
                f"{file}, which the study uploads as {upload.file}, is missing or no longer has {upload.size} bytes",
                remedy="restore the file, or begin a new campaign",
            )


def _check_disk(campaign: Campaign, trials: list[PlannedTrial]) -> None:
    """Raise UserError if the campaign's samples, logs and records would fill the disk. Most campaigns need little
    space."""
    needed = kept_bytes(trials, campaign.plan.study.networks)
    free = shutil.disk_usage(campaign.folder.path).free
    if free < needed:
        raise UserError(
            f"{campaign.folder.path} has {free / 1e6:.1f} MB free; this campaign needs about {needed / 1e6:.1f} MB",
            remedy="free some space, or name another folder with --out",
            status=1,
        )
