"""A user's own networks, studies and subjects are found by name."""

import os
from pathlib import Path

import pytest

from h123.base.errors import UserError
from h123.base.paths import project_root
from h123.catalogue import read_subject, subject_names
from h123.study.registry import find_network, find_study, list_networks

NETWORK = "h123: network/1\ntitle: mine\n"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory; the configuration folder is below it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path


def _write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_a_network_in_the_working_directory_is_found_by_its_name(here: Path) -> None:
    _write(here / "networks/office.yaml", NETWORK)
    assert find_network("office").samefile(here / "networks/office.yaml")
    assert "office" in list_networks()


def test_a_study_in_the_configuration_folder_is_found_by_its_name(here: Path) -> None:
    path = _write(here / "config/h123/studies/mine.yaml", "h123: study/1\n")
    assert find_study("mine").samefile(path)


def test_the_working_directory_comes_before_the_configuration_folder(here: Path) -> None:
    _write(here / "config/h123/networks/office.yaml", NETWORK)
    path = _write(here / "networks/office.yaml", NETWORK)
    assert find_network("office").samefile(path)


def test_a_name_that_comes_with_h123_means_the_same_everywhere(here: Path) -> None:
    _write(here / "networks/lan.yaml", NETWORK)
    assert find_network("lan").samefile(project_root() / "networks/lan.yaml")


@pytest.mark.parametrize("text", ["openapi: 3.1.0\n", "", "#h123: network/1\n", "  h123: network/1\n"])
def test_files_of_other_programs_are_left_out(here: Path, text: str) -> None:
    _write(here / "networks/other.yaml", text)
    assert "other" not in list_networks()
    with pytest.raises(UserError, match="there is no network 'other'"):
        find_network("other")


def test_a_subject_in_the_working_directory_is_found_unless_it_belongs_to_another_user(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    manifest = (project_root() / "subjects/node/subject.toml").read_text("utf-8")
    _write(here / "subjects/mine/subject.toml", manifest.replace('name = "node"', 'name = "mine"'))
    assert "mine" in subject_names()
    assert read_subject(here / "subjects/mine").name == "mine"
    os.chown(here / "subjects", 65534, 65534)
    assert "mine" not in subject_names()
    assert "belongs to another user" in capsys.readouterr().err
