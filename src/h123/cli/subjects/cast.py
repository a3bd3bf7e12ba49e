"""Chooses the subjects that take part in a verification, a profile or a matrix, and installs missing ones."""

from collections.abc import Mapping, Sequence

from h123 import virtual
from h123.base.errors import UserError
from h123.base.terminal.steps import Steps
from h123.catalogue import Subject, check_failures, install_each, installed, subjects_folder
from h123.execution import ORIGIN
from h123.verification import PROBE, VerifiedRole, counterpart, roles_of

_HELPERS = dict.fromkeys([PROBE, ORIGIN])


def tasks_of(
    subjects: Sequence[Subject], everything: bool, role: VerifiedRole | None
) -> list[tuple[Subject, VerifiedRole]]:
    """Return the subjects to verify, with their roles. Raises UserError if a named subject does not have the role."""
    roles = {subject.name: (subject, roles_of(subject, role)) for subject in subjects}
    idle = [name for name, (_, able) in roles.items() if not able]
    if not everything and (idle or not roles):
        what = f"not a {role}" if role else "neither a server nor a client"
        raise UserError(f"nothing to verify: {', '.join(idle or [virtual.NAME])} is {what}")
    return [(subject, r) for subject, able in roles.values() for r in able]


def cast_of(subject: Subject, role: VerifiedRole, subjects: Mapping[str, Subject]) -> list[Subject]:
    """Return the subjects that take part in the verification of one subject."""
    return [*helpers(subjects), subject, *([counterpart(subject, subjects)] if role == "client" else [])]


def install_missing(subjects: Sequence[Subject], steps: Steps) -> dict[str, UserError]:
    """Install missing subjects and return failures by name. Raises UserError if the installation of a helper
    fails, because no verification can run without it."""
    missing = {subject.name: subject for subject in subjects if not installed(subject)}
    failed = install_each(list(missing.values()), steps)
    check_failures({name: error for name, error in failed.items() if name in _HELPERS})
    return failed


def helpers(subjects: Mapping[str, Subject]) -> list[Subject]:
    """Return the subjects that verifications of servers need: a client, and a server to which proxies forward
    requests."""
    if lacking := [name for name in _HELPERS if name not in subjects]:
        raise UserError(
            f"subject {lacking[0]} is missing from {subjects_folder()}; verification needs it at the other end",
            remedy="link it into that folder (docs/contracts/subject.md)",
        )
    return [subjects[name] for name in _HELPERS]
