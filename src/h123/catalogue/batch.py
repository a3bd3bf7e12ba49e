"""Installs several subjects one after another, and shows progress."""

import time
from collections.abc import Sequence

from h123.base.errors import UserError
from h123.base.terminal.steps import Steps
from h123.base.units import format_bytes, format_span
from h123.catalogue.install import install, installation
from h123.catalogue.subject import Subject


def install_each(subjects: Sequence[Subject], steps: Steps) -> dict[str, UserError]:
    """Install each subject that is missing. If one fails, continue with the next. Return the errors by subject."""
    failures: dict[str, UserError] = {}
    start = time.monotonic()
    for number, subject in enumerate(subjects, 1):
        place = f"[{number}/{len(subjects)}] {subject.name}"
        steps.begin(f"{place}: {subject.title} {subject.version}")
        try:
            _install(subject, place, steps)
        except UserError as error:
            failures[subject.name] = error
            steps.begin(f"  failed: {_brief(error)}" if len(subjects) > 1 else "  failed")
    if len(subjects) > 1:
        count = len(subjects) - len(failures)
        duration = format_span(time.monotonic() - start)
        steps.begin(f"{count} of {len(subjects)} subjects are installed, {_total(subjects)}, {duration}")
    return failures


def check_failures(failures: dict[str, UserError]) -> None:
    """Raise one UserError about all failures, if there are any."""
    if len(failures) == 1:
        raise next(iter(failures.values()))
    if failures:
        lines = [f"  {name}: {_brief(error)}" for name, error in failures.items()]
        message = "\n".join([f"{len(failures)} subjects could not be installed:", *lines])
        raise UserError(message, remedy="`h123 install NAME` retries one and shows the end of its build", status=1)


def _install(subject: Subject, place: str, steps: Steps) -> None:
    if installed := installation(subject):
        steps.begin(f"  already installed, {format_bytes(installed.bytes)}")
        return
    install(subject, lambda step: steps.begin(f"  {step}"), lambda: steps.move(f"building {place}"))
    if installed := installation(subject):
        steps.begin(f"  installed in {format_span(installed.seconds)}, {format_bytes(installed.bytes)}")


def _brief(error: UserError) -> str:
    """Return an error in one line: the last line of its message, and the remedy, if there is one."""
    return f"{error.message.splitlines()[-1].strip()}{f' ({error.remedy})' if error.remedy else ''}"


def _total(subjects: Sequence[Subject]) -> str:
    each = {subject.installed_as: installed.bytes for subject in subjects if (installed := installation(subject))}
    return format_bytes(sum(each.values()))
