"""Several installations: one that fails keeps no other from it, and all failures are told in the end."""

import io
import re
from pathlib import Path

import pytest
from rich.console import Console

from catalogue.small import MANIFEST, write_small
from h123.base.errors import UserError
from h123.base.terminal.steps import Steps
from h123.catalogue import Subject, check_failures, install_each, installed, read_subject

pytestmark = pytest.mark.usefixtures("cache")


def _subject(folder: Path, name: str, build: str = "", needs: str = "sh") -> Subject:
    manifest = MANIFEST.replace('"small"', f'"{name}"').replace('needs = ["sh"]', f'needs = ["{needs}"]')
    return read_subject(write_small(folder, manifest, build or 'cp serve "$1/serve"', name))


def _install(subjects: list[Subject]) -> tuple[dict[str, UserError], str]:
    said = io.StringIO()
    with Steps(Console(file=said, width=200)) as steps:
        return install_each(subjects, steps), said.getvalue()


def test_says_which_of_how_many_and_how_large(tmp_path: Path) -> None:
    subjects = [_subject(tmp_path, "one"), _subject(tmp_path, "two")]
    failures, _ = _install(subjects[:1])
    assert not failures
    failures, said = _install(subjects)
    assert not failures
    assert "[1/2] one" in said
    assert re.search(r"already installed, [\d.]+ kB", said)
    assert "[2/2] two" in said
    assert "  installed in 0 s" in said
    assert "2 of 2 subjects are installed" in said


def test_a_failure_keeps_no_other_from_it(tmp_path: Path) -> None:
    subjects = [
        _subject(tmp_path, "poor", needs="no-such-tool"),
        _subject(tmp_path, "broken", build="echo no such library; exit 1"),
        _subject(tmp_path, "good"),
    ]
    failures, said = _install(subjects)
    assert list(failures) == ["poor", "broken"]
    assert installed(subjects[2])
    assert "1 of 3 subjects are installed" in said
    with pytest.raises(UserError) as told:
        check_failures(failures)
    assert told.value.status == 1
    assert "poor: subject poor needs no-such-tool, not found on PATH (any Unix)" in told.value.message
    assert "broken: no such library" in told.value.message


def test_a_single_failure_is_told_whole(tmp_path: Path) -> None:
    failures, _ = _install([_subject(tmp_path, "broken", build="echo first; echo last; exit 1")])
    with pytest.raises(UserError, match="first\n  last"):
        check_failures(failures)
    check_failures({})
