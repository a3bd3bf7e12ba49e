"""Verifies a virtual trial: two simultaneous executions must agree exactly with each other, and with the campaign's own
execution."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from h123.base.errors import UserError
from h123.base.files.scratch import scratch
from h123.base.paths import real, typed
from h123.catalogue import own_subjects
from h123.documents import read_document
from h123.documents.events import AttemptFacts
from h123.documents.lab_report import Report
from h123.documents.trial_files import TrialFile
from h123.execution import Pool, PreparedTrial, SingleTrials, prepare, trial_certificate, write_trial_files
from h123.measures import Repetition, compare_executions
from h123.store import CampaignFolder
from h123.study import PlannedTrial, Study, make_plan

EXECUTIONS = 2


@dataclass(frozen=True)
class Verifiable:
    """A planned trial under the virtual clock. Its campaign provides the networks and the certificate."""

    folder: CampaignFolder
    study: Study
    trial: PlannedTrial


@dataclass(frozen=True)
class Verification:
    """The comparison of two new executions of a trial, and of the first one with the campaign's own execution."""

    again: Repetition
    stored: Repetition | None
    """The comparison with the campaign's own execution. None if the campaign has no successful one."""

    @property
    def repeated(self) -> bool:
        return self.again.repeated and (self.stored is None or self.stored.repeated)


def find_trial(where: Path, name: str | None = None) -> Verifiable:
    """Return the trial whose folder is `where`, or the trial `name` of the campaign in `where`. `name` does not include
    the number of the attempt.

    Raises UserError if there is none, or if it does not use the virtual clock.
    """
    if name is None:
        where, name = _of_trial_folder(where)
    folder = CampaignFolder.open(where)
    if folder.imported:
        raise UserError(
            f"{where} contains imported samples, which cannot be executed",
            remedy="name the folder of a campaign that h123 measured",
        )
    study = Study.from_resolved(folder.study, folder.networks)
    trials = make_plan(study, blocks=folder.blocks, seed=folder.seed, level_filter=folder.level_filter).trials()
    identifier = name.partition("~")[0]
    planned = next((trial for trial in trials if trial.id == identifier), None)
    if planned is None:
        raise UserError(f"{where} has no trial {identifier!r}", remedy=f"its trials are the folders in {folder.trials}")
    if planned.parameters.clock != "virtual":
        raise UserError(
            f"{identifier} is a trial under the wall clock: in real time none repeats exactly, so there is nothing to"
            " verify",
            remedy="name a trial of a campaign that ran with `--clock virtual`",
        )
    return Verifiable(folder, study, planned)


def _of_trial_folder(where: Path) -> tuple[Path, str]:
    """Return the campaign's folder and the name of the trial whose folder is `where`. Raises UserError if `where` is
    something else."""
    campaign = real(where).parent.parent
    if (where / "campaign.json").is_file():
        raise UserError(
            f"{where} is a campaign", remedy=f"also name one of its trials: h123 verify {typed(where)} TRIAL"
        )
    if not (where / "trial.json").is_file() or not (campaign / "campaign.json").is_file():
        raise UserError(
            f"{where} is not the folder of a campaign's trial",
            remedy="name one, such as campaigns/NAME/trials/b01-t03-medium-virtual-h3~1",
        )
    return campaign, real(where).name


def verify_trial(verifiable: Verifiable, pool: Pool, report: Callable[[str], None]) -> Verification:
    """Execute the trial twice at the same time, and compare the two executions with each other and with the stored one.
    The new executions are deleted afterwards.

    Raises UserError if an execution fails, with the reason from the trial's report.
    """
    stored = stored_attempt(verifiable)
    # The inspection of links precedes everything else and shifts its time.
    check = stored is None or read_document(stored / "trial.json", TrialFile).check
    with scratch() as parent:
        folders = [parent / str(number) for number in range(1, EXECUTIONS + 1)]
        prepared = [prepare_again(folder, verifiable, report, check=check) for folder in folders]
        trials = SingleTrials(pool, verifiable.folder.roots, verifiable.study.servers, seed=verifiable.folder.seed)
        for _, attempt in trials.run(prepared, EXECUTIONS):
            require_valid(attempt, verifiable)
        repetition = compare_executions(stored, folders[0]) if stored else None
        return Verification(compare_executions(*folders), repetition)


def stored_attempt(verifiable: Verifiable) -> Path | None:
    attempts = [folder for folder in verifiable.folder.sealed() if folder.name.partition("~")[0] == verifiable.trial.id]
    attempts.sort(key=lambda folder: int(folder.name.partition("~")[2] or 0))
    good = [folder for folder in attempts if not read_document(folder / "report.json", Report).reasons]
    return good[-1] if good else None


def prepare_again(folder: Path, verifiable: Verifiable, report: Callable[[str], None], *, check: bool) -> PreparedTrial:
    """Write the trial's files again from the campaign's plan, because the campaign may have been moved since."""
    folder.mkdir()
    subjects = prepare([verifiable.trial.parameters], report, own_subjects(verifiable.study.servers))
    certificate = trial_certificate(verifiable.folder.tls, verifiable.trial.parameters, verifiable.folder.seed)
    write_trial_files(folder, verifiable.trial, verifiable.study.networks, subjects, certificate, check=check)
    parameters = verifiable.trial.parameters
    return PreparedTrial(folder, parameters, verifiable.study.networks[parameters.network])


def require_valid(attempt: AttemptFacts, verifiable: Verifiable) -> None:
    """Raise UserError if the execution failed, with the reason from the trial's report."""
    if attempt["reasons"]:
        details = "; ".join(f"{reason['code']}: {reason['detail']}" for reason in attempt["reasons"])
        raise UserError(f"{verifiable.trial.id} could not be executed: {details}", status=1)
