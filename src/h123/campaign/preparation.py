"""What a plan needs before its first trial starts: subjects that can do what it asks and measure what it compares."""

from collections.abc import Callable, Mapping

from h123.catalogue import Subject, catalogue, check_metrics, window_roles
from h123.errors import UserError
from h123.study import Likeness, Parameters, Plan, likenesses, unmatched
from h123.trial import check_trials, prepare, require_kernel


def check_campaign(plan: Plan) -> dict[str, Subject]:
    """The subjects of a plan's trials by name. Does nothing.

    Raises UserError where one cannot do what a trial asks, or a client cannot measure what the study compares.
    """
    treatments = _treatments(plan)
    subjects = check_trials(treatments)
    for client in dict.fromkeys(p.client for p in treatments):
        for family in plan.study.compare.families:
            check_metrics(subjects[client], family.metrics)
    _check_essentials(plan, subjects)
    return subjects


def likeness(plan: Plan) -> list[Likeness]:
    """How alike the plan's treatments send, by what their subjects declare now."""
    return likenesses(plan, _choosing(check_trials(_treatments(plan))))


def _check_essentials(plan: Plan, subjects: Mapping[str, Subject]) -> None:
    """Refuse a pair whose senders cannot begin alike, where the study calls that essential."""
    if "initial_window" not in plan.study.compare.essential:
        return
    for a, b in unmatched(plan, _choosing(subjects)):
        known = catalogue()
        unable = [s for s in (a, b) if s.window is None and s.role not in window_roles(known[s.name])]
        able = sorted(name for name in known if a.role in window_roles(known[name]))
        cause = f"; {unable[0].name} as a {unable[0].role} does not let it be chosen" if unable else ""
        cure = f"choose a {a.role} that does: {', '.join(able)}" if unable else "`--transport matched` makes it alike"
        raise UserError(
            f"study {plan.study.name}: the initial window is essential, but not alike: {a.starts_with} over "
            f"{a.protocol}, {b.starts_with} over {b.protocol}{cause}",
            remedy=cure,
        )


def _choosing(subjects: Mapping[str, Subject]) -> dict[str, list[str]]:
    return {name: window_roles(subject) for name, subject in subjects.items()}


def prepare_campaign(plan: Plan, report: Callable[[str], None]) -> dict[str, Subject]:
    """The subjects of a plan's trials by name, installed. Raises UserError, before anything is installed, as
    `check_campaign` does, and where the virtual kernel is missing."""
    check_campaign(plan)
    return prepare(_treatments(plan), report)


def lacking(plan: Plan) -> UserError | None:
    """What has to be installed by hand before the plan can run."""
    try:
        require_kernel(_treatments(plan))
    except UserError as error:
        return error
    return None


def _treatments(plan: Plan) -> list[Parameters]:
    """All of them: every block has each once."""
    return [trial.parameters for trial in plan.blocks[0]]
