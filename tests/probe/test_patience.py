"""What is said while a server has not opened its port."""

import threading
from pathlib import Path

import pytest

from h123.catalogue import OwnServer
from h123.documents.trial_files import Role
from h123.execution import own_role
from h123.probe import patience

SCOUT = Role(name="client", host="client", kind="main", command=["scout"], env={}, timeout_ns=1)


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "FIRST_S", 0.01)
    monkeypatch.setattr(patience, "EVERY_S", 0.02)


def _role() -> Role:
    own = {"command": "./serve", "ready": "ready", "host": "localhost", "protocols": ["h2", "h3"]}
    return own_role(OwnServer.model_validate(own), 8443)


def _heard(folder: Path, role: Role, count: int) -> list[str]:
    """The first things that are said."""
    heard, enough = list[str](), threading.Event()

    def say(text: str) -> None:
        heard.append(text)
        if len(heard) == count:
            enough.set()

    with patience.impatience(folder, role, SCOUT, say):
        assert enough.wait(60)
    return heard[:count]


def test_what_is_waited_for_is_said_and_how_long_and_what_was_printed_last(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    first, second = _heard(tmp_path, _role(), 2)
    assert first == (
        "  After 0.01 s it has not opened TCP port 8443 and UDP port 8443 and printed 'ready'; it has 30 s in all "
        "(Ctrl-C ends this). It has printed nothing"
    )
    assert second.startswith("  After 0.03 s")
    (tmp_path / "logs/server.log").write_text("opening the database\nwaiting for db:5432\n\n")
    (told,) = _heard(tmp_path, _role(), 1)
    assert told.endswith("It printed last: waiting for db:5432")


def test_when_it_was_ready_nothing_more_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs/client.log").touch()
    looked = threading.Event()
    found = patience._log

    def log(folder: Path, role: Role) -> Path:
        looked.set()
        return found(folder, role)

    monkeypatch.setattr(patience, "_log", log)
    heard = list[str]()
    with patience.impatience(tmp_path, _role(), SCOUT, heard.append):
        assert looked.wait(60)
    assert heard == []
