"""What trials need before the first of them starts: subjects that can do what is asked, and files to serve."""

from collections.abc import Callable, Mapping, Sequence

from h123.campaign.trialfile import trial_roles
from h123.catalogue import (
    Catalogue,
    Subject,
    catalogue,
    check_metrics,
    check_supported,
    install,
    make_bodies,
    server_uses,
    settable,
    subjects_folder,
)
from h123.errors import UserError
from h123.study import Choosing, Likeness, Parameters, Plan, likenesses, unmatched
from h123.transport import SETTINGS, Setting
from h123.virtual import virtual_kernel


def check_campaign(plan: Plan) -> dict[str, Subject]:
    """The subjects of a plan's trials by name. Does nothing.

    Raises UserError where one cannot do what a trial asks, or a client cannot measure what the study compares.
    """
    treatments = _treatments(plan)
    subjects = _check(treatments)
    for client in dict.fromkeys(p.client for p in treatments):
        for family in plan.study.compare.families:
            check_metrics(subjects[client], family.metrics)
    for name in plan.study.compare.essential:
        _check_essential(plan, subjects, SETTINGS[name])
    return subjects


def likeness(plan: Plan) -> list[Likeness]:
    """How alike the plan's treatments send, by what their subjects declare now."""
    return likenesses(plan, _choosing(_check(_treatments(plan))))


def _check_essential(plan: Plan, subjects: Mapping[str, Subject], setting: Setting) -> None:
    """Refuse a pair whose senders differ in what the study calls essential."""
    for a, b in unmatched(plan, _choosing(subjects), setting):
        known = catalogue()
        unable = [
            s for s in (a, b) if s.value is None and s.name and s.role not in settable(known[s.name])[setting.name]
        ]
        able = sorted(name for name in known if a.role in settable(known[name])[setting.name])
        cause = f"; {unable[0].name} as a {unable[0].role} does not let it be chosen" if unable else ""
        cure = f"choose a {a.role} that does: {', '.join(able)}" if unable else "`--transport matched` makes it alike"
        raise UserError(
            f"study {plan.study.name}: the {setting.title} is essential, but not alike: {a.said} over "
            f"{a.protocol}, {b.said} over {b.protocol}{cause}",
            remedy=cure,
        )


def _choosing(subjects: Mapping[str, Subject]) -> Choosing:
    return {name: settable(subject) for name, subject in subjects.items()}


def prepare_campaign(plan: Plan, report: Callable[[str], None]) -> dict[str, Subject]:
    """The subjects of a plan's trials by name, installed. Raises UserError, before anything is installed, as
    `check_campaign` does, and where the virtual kernel is missing."""
    check_campaign(plan)
    return prepare(_treatments(plan), report)


def prepare(trials: Sequence[Parameters], report: Callable[[str], None]) -> dict[str, Subject]:
    """The subjects of trials by name, installed, and the bodies that their servers serve as files. Raises UserError."""
    subjects = _check(trials)
    if _virtual(trials):
        virtual_kernel()  # refused now rather than at the first such trial
    for subject in subjects.values():
        install(subject, report)
    files = {p.size for p in trials if p.method == "GET" and server_uses(subjects[p.server], "files")}
    if files or any(server_uses(subjects[p.server], "block") for p in trials):
        make_bodies(files)
    return subjects


def lacking(plan: Plan) -> UserError | None:
    """What has to be installed by hand before the plan can run."""
    try:
        if _virtual(_treatments(plan)):
            virtual_kernel()
    except UserError as error:
        return error
    return None


def _virtual(trials: Sequence[Parameters]) -> bool:
    return any(p.clock == "virtual" for p in trials)


def _treatments(plan: Plan) -> list[Parameters]:
    """All of them: every block has each once."""
    return [trial.parameters for trial in plan.blocks[0]]


def _check(trials: Sequence[Parameters]) -> dict[str, Subject]:
    known, subjects = catalogue(), dict[str, Subject]()
    for p in trials:
        for named, name in p.roles().items():  # a campaign may name one that has been taken away since
            _require(known, name, f"the study's {named} is")
        for role, name in trial_roles(p, known).items():
            _require(known, name, f"{p.server} passes requests on to")
            check_supported(known[name], role, p)
            subjects[name] = known[name]
    return subjects


def _require(known: Catalogue, name: str, why: str) -> None:
    if name not in known:
        raise UserError(
            f"{why} the subject {name}, which is missing in {subjects_folder()}",
            remedy="link it into that folder (docs/contracts.md, section 4)",
        )
