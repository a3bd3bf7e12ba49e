"""What trials need before the first of them starts: subjects that can do what is asked, and files to serve."""

from collections.abc import Callable, Sequence

from h123.campaign.trialfile import trial_roles
from h123.catalogue import (
    Subject,
    catalogue,
    check_metrics,
    check_supported,
    install,
    make_bodies,
    server_uses,
    subjects_folder,
)
from h123.errors import UserError
from h123.study import Parameters, Plan
from h123.virtual import virtual_kernel


def prepare_campaign(plan: Plan, report: Callable[[str], None]) -> dict[str, Subject]:
    """The subjects of a plan's trials by name, installed.

    Raises UserError, before anything is installed, where one cannot do what a trial asks, or a client cannot measure
    what the study compares.
    """
    known = catalogue()
    for client in {trial.parameters.client for trial in plan.trials()}:
        for family in plan.study.compare.families:
            check_metrics(known[client], family.metrics)
    return prepare([trial.parameters for trial in plan.trials()], report)


def prepare(trials: Sequence[Parameters], report: Callable[[str], None]) -> dict[str, Subject]:
    """The subjects of trials by name, installed, and the bodies that their servers serve as files. Raises UserError."""
    known, subjects = catalogue(), dict[str, Subject]()
    if any(p.clock == "virtual" for p in trials):
        virtual_kernel()  # refused now rather than at the first such trial
    for p in trials:
        for role, name in trial_roles(p, known).items():
            if name not in known:  # what a study names is known: it is what stands behind the server
                raise UserError(
                    f"{p.server} passes requests on to the subject {name}, which is missing in {subjects_folder()}",
                    remedy="link it into that folder (docs/contracts.md, section 4)",
                )
            check_supported(known[name], role, p)
            subjects[name] = known[name]
    for subject in subjects.values():
        install(subject, report)
    files = {p.size for p in trials if p.method == "GET" and server_uses(known[p.server], "files")}
    if files or any(server_uses(known[p.server], "block") for p in trials):
        make_bodies(files)
    return subjects
