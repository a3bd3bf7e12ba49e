"""Removal: what is there goes, wholly; what is part of h123 stays."""

import shutil
from pathlib import Path

import pytest

from catalogue.small import MANIFEST, PART, small, write_small
from h123.base.errors import UserError
from h123.catalogue import install, installation, installed, prefix, read_subject, remove

pytestmark = pytest.mark.usefixtures("cache")


def test_removed_and_installed_again(tmp_path: Path, cache: Path) -> None:
    subject = small(tmp_path)
    assert not remove(subject, print)
    install(subject, print)
    assert remove(subject, print)
    assert not installed(subject)
    assert {path.name for path in (cache / "subjects").iterdir()} == {"builds", "small.lock"}
    install(subject, print)
    assert installed(subject)


def test_remains_of_a_killed_installation_and_a_failed_ones_log_go_too(tmp_path: Path) -> None:
    subject = small(tmp_path, build="exit 1")
    with pytest.raises(UserError):
        install(subject, print)
    remains = prefix(subject).with_name("small~123.partial")
    remains.mkdir()
    assert remove(subject, print)
    assert not remains.exists()
    assert not prefix(subject).with_name("small.log").exists()


def test_what_an_interrupted_removal_leaves_is_no_installation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    subject = small(tmp_path)
    install(subject, print)
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "rmtree", interrupted)
        with pytest.raises(KeyboardInterrupt):
            remove(subject, print)
    assert not installed(subject)
    assert remove(subject, print)
    assert not list(prefix(subject).parent.glob("small~*"))


def test_what_is_part_of_h123_stays(tmp_path: Path) -> None:
    subject = small(tmp_path, MANIFEST.replace("needs = ", "embedded = true\nneeds = "))
    install(subject, print)
    with pytest.raises(UserError, match="part of h123"):
        remove(subject, print)
    assert installed(subject)


def test_a_part_goes_with_what_it_is_a_part_of(tmp_path: Path) -> None:
    whole = small(tmp_path)
    part = read_subject(write_small(tmp_path, PART, name="part"))
    install(whole, print)
    with pytest.raises(UserError, match="part is part of the installation of small"):
        remove(part, print)
    assert installed(part)
    assert remove(whole, print)
    assert not installed(part)


def test_what_an_installation_took_is_known(tmp_path: Path) -> None:
    subject = small(tmp_path)
    assert installation(subject) is None
    install(subject, print)
    found = installation(subject)
    assert found is not None
    assert found.bytes >= 4096  # one block at least, for the script
    assert 0 <= found.seconds < 60
