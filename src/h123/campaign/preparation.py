"""Prepares what a plan needs before its first trial: it installs the subjects, and checks that they can run the trials
and measure what the study compares."""

from collections.abc import Callable, Mapping
from typing import get_args

from h123.base.errors import UserError
from h123.base.transport import SETTINGS, Setting
from h123.catalogue import Subject, catalogue, check_metrics, own_subjects, settable
from h123.documents.campaign_file import PRIVILEGES, VerifiedRole
from h123.execution import check_trials, prepare, require_kernel, require_privileges
from h123.study import METRICS, Family, Likeness, Parameters, Plan, TransportRoles, likenesses, split_pair, unmatched

Cast = list[tuple[VerifiedRole, Subject]]
"""Servers and clients, with their roles."""


def check_campaign(plan: Plan) -> dict[str, Subject]:
    """Return the subjects of a plan's trials by name, without installing anything.

    Raises UserError if a subject cannot do what a trial requires, or a client cannot measure what the study compares.
    """
    treatments = _treatments(plan)
    subjects = check_trials(treatments, own_subjects(plan.study.servers))
    for family in plan.study.compare.families:
        for client in _clients(plan, family):
            check_metrics(subjects[client], {name: METRICS[name].needs.client for name in family.metrics})
    for name in plan.study.compare.essential:
        _check_essential(plan, subjects, SETTINGS[name])
    _check_required(plan)
    return subjects


def _check_required(plan: Plan) -> None:
    """Raise UserError if the study requires a condition that its measurements cannot test."""
    for condition in plan.study.require:
        if fault := plan.study.unheld(condition, plan.pairs):
            raise UserError(
                f"study {plan.study.name} requires {fault}",
                remedy="leave out --filter or --clock, or the condition in the study's `require`",
            )


def _clients(plan: Plan, family: Family) -> list[str]:
    compare = plan.study.compare
    levels = {level for pair in family.pairs or compare.pairs if pair in plan.pairs for level in split_pair(pair)}
    return list(dict.fromkeys(t.parameters.client for t in plan.blocks[0] if t.cell[compare.factor] in levels))


def cast_of(plan: Plan) -> Cast:
    """Return the servers and clients of the plan's trials, with their roles. Raises UserError like `check_campaign`."""
    subjects, treatments = check_campaign(plan), _treatments(plan)
    played: Cast = []
    for role in get_args(VerifiedRole):
        played += [(role, subjects[name]) for name in dict.fromkeys(getattr(p, role) for p in treatments)]
    return played


def likeness(plan: Plan) -> list[Likeness]:
    """Return how similarly the plan's treatments send data, according to the current manifests of their subjects."""
    return likenesses(plan, _choosing(check_trials(_treatments(plan), own_subjects(plan.study.servers))))


def _check_essential(plan: Plan, subjects: Mapping[str, Subject], setting: Setting) -> None:
    """Raise UserError if the senders of a compared pair differ in a setting that the study declares essential."""
    for a, b in unmatched(plan, _choosing(subjects), setting):
        available = {**catalogue(), **subjects}
        unable = [
            s for s in (a, b) if s.value is None and s.name and s.role not in settable(available[s.name])[setting.name]
        ]
        able = sorted(name for name in available if a.role in settable(available[name])[setting.name])
        cause = f"; {unable[0].name} as a {unable[0].role} does not let you choose it" if unable else ""
        cure = f"choose a {a.role} that does: {', '.join(able)}" if unable else "`--transport matched` makes it alike"
        raise UserError(
            f"study {plan.study.name}: the {setting.title} is essential, but differs: {a.text} over "
            f"{a.protocol}, {b.text} over {b.protocol}{cause}",
            remedy=cure,
        )


def _choosing(subjects: Mapping[str, Subject]) -> TransportRoles:
    return {name: settable(subject) for name, subject in subjects.items()}


def prepare_campaign(plan: Plan, report: Callable[[str], None]) -> dict[str, Subject]:
    """Install the subjects of a plan's trials, and return them by name. Before it installs anything, the function
    raises UserError if `check_campaign` would, or if the virtual kernel is missing."""
    check_campaign(plan)
    treatments = _treatments(plan)
    privileges = require_privileges(treatments, plan.study.networks)
    if privileges.chosen != "root":
        report(f"Trials run {PRIVILEGES[privileges.chosen]}: {privileges.chosen_way().detail}")
    return prepare(_treatments(plan), report, own_subjects(plan.study.servers))


def require_travelling(plan: Plan) -> None:
    """Raise UserError if other machines cannot run parts of the plan."""
    for name in (name for name, server in plan.study.servers.items() if not server.travels):
        raise UserError(
            f"server {name} of the study is your own: h123 cannot check that all machines run the same one",
            remedy="run the study on one machine, or make the server a subject (docs/contracts/subject.md)",
        )


def lacking(plan: Plan) -> UserError | None:
    """Return an error that names everything that the user must install before the plan can run. None if nothing is
    missing."""
    try:
        require_kernel(_treatments(plan))
    except UserError as error:
        return error
    return None


def _treatments(plan: Plan) -> list[Parameters]:
    """Return the parameters of all treatments. Every block contains each treatment once."""
    return [trial.parameters for trial in plan.blocks[0]]
