"""A lab that is killed: nothing of it lives, or writes, once the engine says that the trial has ended."""

import contextlib
import json
import os
import signal
import time
from pathlib import Path

import pytest

from h123.execution.engine import LocalEngine

SLEEPERS = 300
NAP = f"60.{os.getpid()}"
TRIAL = {
    "h123": "trial/1",
    "id": "killed",
    "seed": 1,
    "check": False,
    "hosts": ["client", "server"],
    "links": [
        {
            "name": "access",
            "a": {"host": "client", "address": "10.1.0.1"},
            "b": {"host": "server", "address": "10.1.0.2"},
            "kind": "veth",
        }
    ],
    "roles": [
        {
            "name": "client",
            "host": "client",
            "kind": "main",
            "command": ["sh", "-c", f"for i in $(seq {SLEEPERS}); do sleep {NAP} & done; touch begun; wait"],
            "env": {},
            "timeout_ns": 60_000_000_000,
        }
    ],
    "clock": "wall",
}


def alive() -> int:
    """Sleepers that are left."""
    found = 0
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            found += NAP in entry.read_text()
    return found


@pytest.mark.parametrize("victim", ["lab", "inner lab"])
def test_a_killed_lab_has_ended_whole_when_its_trial_has(tmp_path: Path, victim: str) -> None:
    (tmp_path / "trial.json").write_text(json.dumps(TRIAL))
    engine = LocalEngine()
    engine.start(tmp_path, {})
    try:
        deadline = time.monotonic() + 60
        while not (tmp_path / "begun").exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        assert alive() > SLEEPERS / 2
        (lab,) = engine._labs.values()
        (inner,) = Path(f"/proc/{lab.process.pid}/task/{lab.process.pid}/children").read_text().split()
        os.kill(lab.process.pid if victim == "lab" else int(inner), signal.SIGKILL)
        assert engine.wait() == tmp_path
        assert alive() == 0
        assert json.loads((tmp_path / "report.json").read_text())["reasons"][0]["code"] == "lab-killed"
    finally:
        engine.stop()
