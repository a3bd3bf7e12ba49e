"""Campaigns and studies of others: what they start is shown and asked for, and nothing runs unasked."""

import os
from pathlib import Path

import pytest

from cli.conftest import Tool
from documents import changed_campaign
from h123.cli.campaigns.trust import is_own
from synthetic import NETWORKS, Scenario, make_campaign

SERVER = {"folder": "/", "environment": {"TOKEN": "s3cret"}, "host": "localhost", "protocols": ["h1"], "ready": None}
SERVER |= {"sni": None, "starts_within": "30000000000ns"}


@pytest.fixture
def received(h123: Tool, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A campaign that somebody sent, with a program in it."""
    monkeypatch.setenv("H123_CACHE", str(h123.folder / "cache"))
    folder = make_campaign(h123.folder / "c", Scenario(blocks=2, networks={"lan": NETWORKS["lan"]})).path
    change(folder, **SERVER, command=f"touch {h123.folder}/started\x1b[31m")
    return folder


def change(folder: Path, /, **server: object) -> None:
    with changed_campaign(folder) as content:
        content["study"]["servers"] = {"mine": server}


def test_a_received_campaign_is_not_started_unasked(h123: Tool, received: Path) -> None:
    refusal = h123.refusal("run", "--out", "c")
    assert "you did not start" in refusal
    assert f"touch {h123.folder}/started" in refusal
    assert "with TOKEN" in refusal
    assert "s3cret" not in refusal
    assert "\x1b" not in refusal
    assert "run the command again with --trust" in refusal
    assert not (h123.folder / "started").exists()
    assert h123("analyse", "c").returncode == 0  # reading starts nothing
    assert "you did not start" not in h123("run", "--out", "c", "--trust").stderr
    assert "you did not start" not in h123("run", "--out", "c").stderr
    received.rename(h123.folder / "moved")
    assert "you did not start" not in h123("run", "--out", "moved").stderr
    change(h123.folder / "moved", **SERVER, command="touch another")
    assert "you did not start" in h123("run", "--out", "moved").stderr


@pytest.mark.usefixtures("received")
def test_an_address_to_load_is_asked_for_too(h123: Tool) -> None:
    change(h123.folder / "c", address="192.0.2.7", allow_remote_load=True, host="x", protocols=["h1"])
    assert "requests to the server at 192.0.2.7" in h123.refusal("run", "--out", "c")


def test_whose_a_study_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SUDO_UID", raising=False)
    mine = tmp_path / "mine.yaml"
    mine.write_text("")
    assert is_own(mine)
    if os.geteuid() != 0:
        pytest.skip("only root gives files away")
    os.chown(mine, 1234, 1234)
    assert not is_own(mine)
    monkeypatch.setenv("SUDO_UID", "1234")
    assert is_own(mine)
    os.chown(tmp_path, 4321, 4321)
    assert not is_own(mine)  # who owns the folder can replace it
