"""Where a person's own server may write so that it stays."""

from pathlib import Path

import pytest

from h123.catalogue import OwnServer


def _server(folder: Path) -> OwnServer:
    return OwnServer(command="./serve", folder=str(folder), host="localhost", protocols=["h1"])


@pytest.mark.parametrize("user", ["me", "sudo"])
def test_it_writes_in_its_folder_but_not_in_a_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, user: str) -> None:
    home = tmp_path / "me"
    project = home / "project"
    project.mkdir(parents=True)
    (tmp_path / "link").symlink_to(home)
    monkeypatch.setenv("HOME", str(tmp_path / "link" if user == "me" else tmp_path / "root"))
    monkeypatch.setenv("SUDO_USER", "nobody-of-this-name" if user == "me" else "root")
    assert _server(project).writes == [str(project)]
    for held in (Path("/"), *([home, tmp_path] if user == "me" else [Path("/root")])):
        assert _server(held).writes == []
