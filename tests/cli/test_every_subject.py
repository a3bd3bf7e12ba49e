"""Every subject that is here, or is here within five minutes, is what its manifest says. Those left out are named, with
the reason (`pytest -rs`, as `make test-all` calls it)."""

import shutil

import pytest

from cli.conftest import Tool
from h123.base.units import format_span
from h123.catalogue import Subject, catalogue, installation
from h123.verification import roles_of
from h123.verification.public_record import public_records

LONGEST_S = 300
VERIFY_S = 1800

SUBJECTS = [name for name, subject in catalogue().items() if roles_of(subject)]


def left_out(subject: Subject) -> str | None:
    """Why the subject is not verified here; None: it is."""
    if installation(subject) is not None:
        return None
    if missing := [command for command in subject.install.needs if shutil.which(command) is None]:
        return f"{subject.name} needs {', '.join(missing)}: {subject.install.needs_help}"
    told = public_records().get(subject.name)
    if told is None or told.seconds is None:
        return f"{subject.name}: nobody has published how long it takes to install; `h123 install {subject.name}` first"
    if told.seconds > LONGEST_S:
        takes = f"{subject.name} takes {format_span(told.seconds)} to install"
        return f"{takes}; once it is there (`h123 install {subject.name}`), it is verified here"
    return None


@pytest.mark.heavy
@pytest.mark.usefixtures("leaves_nothing_behind")
@pytest.mark.parametrize("name", SUBJECTS)
def test_a_subject_is_what_its_manifest_says(h123: Tool, name: str) -> None:
    if reason := left_out(catalogue()[name]):
        pytest.skip(reason)
    done = h123("verify", name, timeout=VERIFY_S)
    assert done.returncode == 0, done.stderr + done.stdout
