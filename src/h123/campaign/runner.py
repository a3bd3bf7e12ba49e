"""Runs the trials of a plan one after the other, so that stopping at any moment loses at most the running one."""

import fcntl
import json
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from h123 import __version__
from h123.campaign.certificate import campaign_certificate
from h123.campaign.engine import Engine
from h123.campaign.progress import Display, Forecast
from h123.campaign.trialfile import SERVER_ADDRESS, write_trial_files
from h123.catalogue import Subject, catalogue, check_supported, install
from h123.errors import UserError
from h123.results import CampaignFolder, ingest, machine_facts
from h123.study import Network, Plan, PlannedTrial, Study, load_study, make_plan

MAX_ATTEMPTS = 3
"""An invalid trial is repeated at most twice."""

HOPELESS_AFTER = 3
"""So many trials in a row without one valid attempt: whatever is wrong will not mend itself."""


@dataclass(frozen=True)
class Campaign:
    """A plan with the folder that holds its results."""

    plan: Plan
    subjects: dict[str, Subject]
    folder: CampaignFolder

    def network(self, trial: PlannedTrial) -> Network:
        """The profile that `trial` runs over."""
        return self.plan.study.networks[trial.parameters.network]


@dataclass
class Outcome:
    """What came of a run."""

    planned: int
    valid: int = 0
    failed: list[str] = field(default_factory=list)


def start_campaign(
    study_file: Path,
    out: Path,
    *,
    blocks: int | None,
    seed: int | None,
    only: dict[str, list[str]],
    report: Callable[[str], None],
) -> Campaign:
    """A new campaign of `study_file` in the folder `out`; what the study needs is installed first."""
    study = load_study(study_file)
    plan = make_plan(study, blocks=blocks, seed=seed, only=only)
    subjects = _subjects(plan)
    _prepare(plan, subjects, report)
    folder = CampaignFolder.create(
        out,
        study=study.resolved(),
        study_text=study_file.read_text(encoding="utf-8"),
        networks={name: network.resolved() for name, network in study.networks.items()},
        seed=plan.seed,
        blocks=len(plan.blocks),
        only=only,
        machine=machine_facts(),
        subjects={
            name: {"version": s.version, "stack": s.stack, "language": s.language} for name, s in subjects.items()
        },
    )
    return Campaign(plan, subjects, folder)


def extend_campaign(out: Path, *, blocks: int | None, report: Callable[[str], None]) -> Campaign:
    """The campaign in the folder `out`, to be gone on with; `blocks` may ask for more of them."""
    folder = CampaignFolder.open(out)
    study = Study.from_resolved(folder.study, folder.networks)
    if blocks is not None and blocks < folder.blocks:
        raise UserError(f"{out} was planned with {folder.blocks} blocks; --blocks {blocks} would be fewer")
    plan = make_plan(study, blocks=blocks or folder.blocks, seed=folder.seed, only=folder.only)
    subjects = _subjects(plan)
    _prepare(plan, subjects, report)
    return Campaign(plan, subjects, folder)


def run_campaign(campaign: Campaign, engine: Engine, display: Display) -> Outcome:
    """Run what is not finished yet. KeyboardInterrupt passes, after the journal has been told."""
    with _sole_user(campaign.folder), display:
        try:
            outcome = _run_unfinished(campaign, engine, display)
        except KeyboardInterrupt:
            campaign.folder.append({"event": "interrupted"})
            raise
        campaign.folder.append({"event": "finished", "valid": outcome.valid, "failed": len(outcome.failed)})
    return outcome


def _run_unfinished(campaign: Campaign, engine: Engine, display: Display) -> Outcome:
    trials = campaign.plan.trials()
    attempts = _take_up(campaign)
    forecast = Forecast({trial: cost.seconds for trial, cost in campaign.plan.estimates().items()})
    outcome = Outcome(planned=len(trials))
    checked: set[tuple[int, str]] = set()
    failed_in_a_row = 0
    _check_disk(campaign, [t for t in trials if not _settled(attempts[t.id])])
    for index, trial in enumerate(trials):
        tried = attempts[trial.id]
        while not _settled(tried):
            left = forecast.left(t for t in trials[index:] if not _settled(attempts[t.id]))
            display.begin(trial, len(tried) + 1, index, len(trials), left)
            # A link is checked once a block, and again before a trial is repeated.
            check = (trial.block, trial.parameters.network) not in checked or bool(tried)
            event = _run_trial(campaign, engine, trial, len(tried) + 1, check=check)
            tried.append(event)
            forecast.learn(trial, event["seconds"])
            display.end(event)
            if event["valid"]:
                checked.add((trial.block, trial.parameters.network))
            elif _settled(tried):
                failed_in_a_row += 1
                _stop_if_hopeless(failed_in_a_row, event, campaign.folder)
        if tried[-1]["valid"]:
            outcome.valid += 1
            failed_in_a_row = 0
        else:
            outcome.failed.append(trial.id)
    return outcome


def _run_trial(campaign: Campaign, engine: Engine, trial: PlannedTrial, attempt: int, *, check: bool) -> dict[str, Any]:
    """Execute one attempt; its folder is sealed and its event journalled. Returns the event."""
    began = time.monotonic()
    folder = campaign.folder
    partial = folder.partial(trial.id, attempt)
    # Absolute: the roles run in a folder of their own.
    certificate = campaign_certificate(folder.tls.resolve(), [SERVER_ADDRESS])
    write_trial_files(partial, trial, campaign.network(trial), campaign.subjects, certificate, check=check)
    engine.run(partial)
    report = json.loads((partial / "report.json").read_text(encoding="utf-8"))
    parameters = trial.parameters.model_dump(mode="json")
    # What samples lack after a failure is its consequence, not another reason.
    missing = ingest(partial, parameters)
    reasons = report["reasons"] or missing
    folder.seal(partial)
    event = {
        "event": "trial",
        "trial": trial.id,
        "attempt": attempt,
        "block": trial.block,
        "position": trial.position,
        "cell": trial.cell,
        "twin": trial.twin,
        "parameters": parameters,
        "link_seed": trial.link_seed,
        "valid": not reasons,
        "reasons": reasons,
        "seconds": round(time.monotonic() - began, 4),
    }
    folder.append(event)
    return event


def _settled(tried: list[dict[str, Any]]) -> bool:
    """Nothing more to try: a valid attempt, or as many as allowed, or a subject that says it cannot."""
    if not tried:
        return False
    unsupported = any(reason["code"] == "unsupported" for reason in tried[-1]["reasons"])
    return bool(tried[-1]["valid"]) or unsupported or len(tried) >= MAX_ATTEMPTS


def _stop_if_hopeless(failed_in_a_row: int, event: dict[str, Any], folder: CampaignFolder) -> None:
    if failed_in_a_row < HOPELESS_AFTER:
        return
    reason, logs = event["reasons"][0], folder.trial(event["trial"], event["attempt"]) / "logs"
    raise UserError(
        f"{HOPELESS_AFTER} trials in a row failed all their attempts, so the campaign stops. "
        f"The last one ({event['trial']}): {reason['code']}: {reason['detail']}",
        remedy=f"see the logs in {logs}; mend the cause and start a new campaign",
        status=1,
    )


def _take_up(campaign: Campaign) -> dict[str, list[dict[str, Any]]]:
    """Attempts already made, by trial, after whatever a crash left half done has been cleared away.

    A trial sealed in the instant before a crash, but not journalled, counts as the running one: it is run again.
    """
    folder = campaign.folder
    attempts: dict[str, list[dict[str, Any]]] = {trial.id: [] for trial in campaign.plan.trials()}
    events = folder.events()
    for event in events:
        if event["event"] == "trial":
            attempts[event["trial"]].append(event)
    folder.discard_partials()
    journalled = {folder.trial(e["trial"], e["attempt"]) for tried in attempts.values() for e in tried}
    for sealed in folder.sealed():
        if sealed not in journalled:
            shutil.rmtree(sealed)
    if len(campaign.plan.blocks) > folder.blocks:
        folder.set_blocks(len(campaign.plan.blocks))
    folder.append({"event": "resume" if events else "campaign", "version": __version__, "trials": len(attempts)})
    return attempts


def _subjects(plan: Plan) -> dict[str, Subject]:
    """The subjects that the plan names."""
    known = catalogue()
    return {name: known[name] for t in plan.trials() for name in (t.parameters.server, t.parameters.client)}


def _prepare(plan: Plan, subjects: dict[str, Subject], report: Callable[[str], None]) -> None:
    for trial in plan.trials():
        check_supported(subjects[trial.parameters.server], "server", trial.parameters)
        check_supported(subjects[trial.parameters.client], "client", trial.parameters)
    for subject in subjects.values():
        install(subject, report)


def _check_disk(campaign: Campaign, trials: list[PlannedTrial]) -> None:
    """Samples and logs need little; a campaign that would fill the disk is refused before it starts."""
    per_sample, per_trial = 100, 200_000
    requests = sum(t.parameters.users * (t.parameters.requests + t.parameters.warmup) for t in trials)
    needed = per_sample * requests + per_trial * len(trials)
    free = shutil.disk_usage(campaign.folder.path).free
    if free < needed:
        raise UserError(
            f"{campaign.folder.path} has {free / 1e6:.1f} MB free; this campaign needs about {needed / 1e6:.1f} MB",
            remedy="free some space, or name another folder with --out",
            status=1,
        )


@contextmanager
def _sole_user(folder: CampaignFolder) -> Iterator[None]:
    """Two processes must not run the same campaign. The lock goes with the process, however it ends."""
    with (folder.path / "campaign.json").open(encoding="utf-8") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UserError(f"another h123 is running the campaign in {folder.path}", status=1) from None
        yield
