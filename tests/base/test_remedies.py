"""What to do about a broken lab, record or result fits how h123 was installed: from a checkout, or as a package."""

import subprocess
from pathlib import Path

import pytest

from h123.base import paths
from h123.base.errors import UserError
from h123.catalogue import catalogue, remove
from h123.cli.machine import doctor
from h123.execution import machine

REINSTALL = "pip install --force-reinstall h123"
EMBEDDED = next(subject for subject in catalogue().values() if subject.install.embedded)


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """This h123 was installed with pip, without a lab."""
    monkeypatch.delenv("H123_ROOT", raising=False)
    monkeypatch.setenv("H123_LAB", str(tmp_path / "h123-lab"))
    monkeypatch.setattr(paths, "_PACKAGED", tmp_path)


def test_a_checkout_names_make_and_git() -> None:
    assert (paths.lab_remedy(), "git checkout" in paths.data_remedy()) == ("run `make setup`", True)


@pytest.mark.usefixtures("package")
def test_a_package_is_installed_again() -> None:
    assert REINSTALL in paths.lab_remedy()
    assert REINSTALL in paths.data_remedy()


@pytest.mark.usefixtures("package")
def test_doctor_asks_no_toolchain_of_a_package_without_a_lab(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    checks = {check.name: check for check in [*doctor._without_lab(), doctor._rust(), doctor._go()]}
    assert not checks["lab"].ok
    assert REINSTALL in checks["lab"].remedy
    assert checks["Rust"].ok
    assert checks["Go"].ok


@pytest.mark.usefixtures("package")
def test_an_older_lab_of_a_package_is_installed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = subprocess.CompletedProcess([], machine._UNKNOWN_COMMAND, "", "")
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: answer)
    machine.ways.cache_clear()
    try:
        (way,) = machine.ways().ways
    finally:
        machine.ways.cache_clear()
    assert REINSTALL in way.detail


@pytest.mark.usefixtures("package")
def test_what_comes_with_a_package_is_removed_with_it() -> None:
    with pytest.raises(UserError) as refused:
        remove(EMBEDDED, print)
    assert "pip uninstall h123" in str(refused.value.remedy)
