"""Subjects are what their manifests say: those whose files have changed since their published verification, and a
random sample of the others. `pytest -rs`, as `make test-all` calls it, names those left out, with the reason."""

import os
import random
import shutil
from datetime import date

import pytest

from cli.conftest import Tool
from h123.base.units import format_span
from h123.catalogue import Subject, catalogue, installation
from h123.verification import roles_of
from h123.verification.public_record import public_records

LONGEST_S = 300
VERIFY_S = 1800
SAMPLED = 5
"""Verifying one subject takes minutes, and all of them hours."""
EVERY = "H123_VERIFY_EVERY_SUBJECT"
SEED = int(os.environ.get("H123_SAMPLE_SEED", date.today().toordinal()))

SUBJECTS = {name: subject for name, subject in catalogue().items() if roles_of(subject)}


def cannot_install(subject: Subject) -> str | None:
    """Why the subject cannot be installed here in a few minutes. None: it can, or it is installed."""
    if installation(subject) is not None:
        return None
    if missing := [command for command in subject.install.needs if shutil.which(command) is None]:
        return f"{subject.name} needs {', '.join(missing)}: {subject.install.needs_help}"
    record = public_records().get(subject.name)
    if record is None or record.seconds is None:
        return f"{subject.name}: nobody has published how long it takes to install; `h123 install {subject.name}` first"
    if record.seconds > LONGEST_S:
        takes = f"{subject.name} takes {format_span(record.seconds)} to install"
        return f"{takes}; once it is there (`h123 install {subject.name}`), it can be verified here"
    return None


def sample() -> list[str]:
    ready = [name for name, subject in SUBJECTS.items() if cannot_install(subject) is None]
    return random.Random(SEED).sample(ready, min(SAMPLED, len(ready)))


def left_out(subject: Subject) -> str | None:
    """Why the subject is not verified here. None: it is."""
    if reason := cannot_install(subject):
        return reason
    record = public_records().get(subject.name)
    if EVERY in os.environ or record is None or not record.holds_for(subject) or subject.name in sample():
        return None
    verified = f"{subject.name} was verified with its present files on {record.record.time[:10]}"
    return f"{verified}; this sample (H123_SAMPLE_SEED={SEED}) is {', '.join(sample())}; {EVERY}=1 verifies all"


@pytest.mark.heavy
@pytest.mark.usefixtures("leaves_nothing_behind")
@pytest.mark.parametrize("name", SUBJECTS)
def test_a_subject_is_what_its_manifest_says(h123: Tool, name: str) -> None:
    if reason := left_out(SUBJECTS[name]):
        pytest.skip(reason)
    h123.succeed("verify", name, timeout=VERIFY_S)
