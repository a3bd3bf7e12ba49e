"""What a server writes goes with the lab, under both clocks, and the report says it; a trial works all the same."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from execution.test_carried import kernel_for
from h123.base.paths import lab_binary

PLACES = ["/root", "/etc", "/run", "/dev/shm", "/var/tmp", "/srv"]
SERVER = """
import os, pathlib, socket, sys
for path in sys.argv[1:]:
    pathlib.Path(path).write_text("x")
listening = socket.create_server(("10.1.0.2", 80))
while True:
    connection, _ = listening.accept()
    connection.sendall(b"answered")
    connection.close()
"""
CLIENT = """
import socket
with socket.create_connection(("10.1.0.2", 80)) as connection:
    print(connection.recv(100).decode())
"""


def _run(folder: Path, clock: str, server: dict[str, Any]) -> dict[str, Any]:
    end = {"delay_ns": 1_000_000}
    link = {"name": "access", "kind": "emulated", "up": end, "down": end}
    link |= {"a": {"host": "client", "address": "10.1.0.1"}, "b": {"host": "server", "address": "10.1.0.2"}}
    service = {"name": "server", "host": "server", "kind": "service", "ready": {"tcp": [80]}, **server}
    client = {"name": "client", "host": "client", "kind": "main", "command": ["python3", "-c", CLIENT]}
    trial = {"h123": "trial/1", "id": "t", "seed": 1, "clock": clock, "hosts": ["client", "server"], "links": [link]}
    (folder / "trial.json").write_text(json.dumps({**trial, "roles": [service, client]}))
    command = [str(lab_binary()), "run", "trial.json", "--out", "out", *kernel_for(clock)]
    subprocess.run(command, cwd=folder, check=True, timeout=120)
    report: dict[str, Any] = json.loads((folder / "out/report.json").read_text())
    assert report["reasons"] == []
    assert (folder / "out/logs/client.log").read_text() == "answered\n"
    return report


@pytest.mark.parametrize("clock", ["wall", "virtual"])
def test_what_a_server_writes_is_gone_and_said(tmp_path: Path, clock: str) -> None:
    strays = [f"{place}/h123-stray-{os.getpid()}" for place in PLACES]
    kept = tmp_path / "kept"
    kept.mkdir()
    words = [str(kept / "here"), "in-the-trial", *(place.replace("h123-", "") for place in strays)]
    server = {"command": ["python3", "-c", SERVER, *words], "inherits": True, "writes": [str(kept)]}
    report = _run(tmp_path, clock, server)
    assert not [path for path in words[2:] if Path(path).exists()]
    assert (kept / "here").read_text() == (tmp_path / "out/in-the-trial").read_text() == "x"
    told = [warning for warning in report["warnings"] if warning["code"] == "files-discarded"]
    said = "; ".join(warning["detail"] for warning in told)
    named = [path for path in words[2:] if path in said]
    assert len(named) == len(PLACES) - ("1 others" in said)
    assert str(kept) not in said


@pytest.mark.parametrize("clock", ["wall", "virtual"])
def test_of_what_writes_nothing_nothing_is_said(tmp_path: Path, clock: str) -> None:
    report = _run(tmp_path, clock, {"command": ["python3", "-c", SERVER, "in-the-trial"]})
    assert "files-discarded" not in {warning["code"] for warning in report["warnings"]}
