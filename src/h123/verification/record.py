"""Reads and writes the last verification of a subject in the cache: verified/<subject>.json
(docs/contracts/verifications.md)."""

import shutil
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Literal

from pydantic import ValidationError

from h123.base.files.durable import write_atomically
from h123.base.files.textfile import read_cached
from h123.base.paths import cache_folder
from h123.base.strict import Strict
from h123.catalogue import Subject, fingerprint
from h123.documents.campaign_file import VerifiedRole
from h123.execution import machine_facts
from h123.verification.constants.findings import Constants
from h123.verification.migration import MoveResult
from h123.verification.paths import PathBehaviour
from h123.verification.profile.findings import SituationResult
from h123.verification.result import Result

FORMAT: Final = "verified/1"


class Record(Strict):
    """All results of a subject's verification."""

    h123: Literal["verified/1"] = FORMAT
    subject: str
    version: str
    fingerprint: str
    """The fingerprint of the subject's files. The results cover only these files."""
    time: str
    """The time of the last verification in ISO 8601."""
    machine: dict[str, object]
    results: list[Result]
    constants: list[Constants] | None = None
    """The constants, or None if not measured yet."""
    profile: list[SituationResult] | None = None
    """The profile, or None if not measured yet."""
    moves: list[MoveResult] | None = None
    """The reactions to clients that move, or None if not measured yet. Empty for a subject that is not an HTTP/3
    server."""
    paths: list[PathBehaviour] | None = None
    """The behaviour on paths that interfere with ECN or drop large packets, or None if not measured yet."""

    @property
    def passed(self) -> bool:
        """Whether no check failed."""
        return all(result.verdict != "failed" for result in self.results)

    def of_role(self, role: VerifiedRole) -> list[Result]:
        """Return the results of one role. The list is empty if the role was not verified."""
        return [result for result in self.results if result.role == role]


def read_record(subject: Subject) -> Record | None:
    """Return the record of the subject's present files, or None if the subject has not been verified since they
    changed."""
    record = last_record(subject)
    return record if record and record.fingerprint == fingerprint(subject) else None


def last_record(subject: Subject) -> Record | None:
    """Return the latest record of the subject, even if the subject's files have changed since."""
    try:
        return Record.model_validate_json(read_cached(_file(subject)) or b"")
    except ValidationError:
        return None


def keep_results(subject: Subject, role: VerifiedRole, results: Sequence[Result]) -> Record:
    """Replace the results of a role, keep the other role's results, and return the record.

    Of the role's folders of failed trials, only the newest remains, which belongs to these results.
    """
    existing = read_record(subject)
    others = [result for result in existing.results if result.role != role] if existing else []
    record = Record(
        subject=subject.name,
        version=subject.version,
        fingerprint=fingerprint(subject),
        time=datetime.now(UTC).isoformat(timespec="seconds"),
        machine=dict(machine_facts()),
        results=[*others, *results],
        constants=existing.constants if existing else None,
        profile=existing.profile if existing else None,
        moves=existing.moves if existing else None,
        paths=existing.paths if existing else None,
    )
    keep_record(subject, record)
    for outdated in sorted(trials_folder(subject).glob(f"{role}*"))[:-1]:
        shutil.rmtree(outdated)
    return record


def keep_measured(
    subject: Subject,
    role: VerifiedRole,
    field: Literal["constants", "profile", "paths"],
    measured: Sequence[Constants | SituationResult | PathBehaviour],
) -> bool:
    """Replace the measurements of a role. Returns False if there is no record of the subject's present files."""
    record = read_record(subject)
    if record is None:
        return False
    others = [one for one in getattr(record, field) or [] if one.role != role]
    keep_record(subject, record.model_copy(update={field: [*others, *measured]}))
    return True


def keep_moves(subject: Subject, moves: Sequence[MoveResult]) -> bool:
    """Replace a server's reactions to clients that move. Returns False if there is no record of the subject's present
    files."""
    record = read_record(subject)
    if record is None:
        return False
    keep_record(subject, record.model_copy(update={"moves": [*moves]}))
    return True


def keep_record(subject: Subject, record: Record) -> None:
    """Write the subject's record. It replaces any earlier one."""
    _file(subject).parent.mkdir(parents=True, exist_ok=True)
    write_atomically(_file(subject), record.model_dump_json(indent=1) + "\n")


def trials_folder(subject: Subject) -> Path:
    """Return the folder of a subject's trials. It contains a folder for each verification of a role."""
    return _file(subject).with_suffix("")


def failures_folder(subject: Subject, role: VerifiedRole) -> Path:
    """Make a new, empty folder for failed trials, named after the role and the present time, and return it."""
    folder = trials_folder(subject) / f"{role}-{datetime.now(UTC):%Y%m%dT%H%M%S.%f}"
    folder.mkdir(parents=True)
    return folder


def _file(subject: Subject) -> Path:
    return _folder() / f"{subject.name}.json"


def _folder() -> Path:
    return cache_folder().resolve() / "verified"
