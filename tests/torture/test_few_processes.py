"""A lab that may start few processes and threads says so: no panic, and nothing left, whatever it was at."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from h123.base.paths import lab_binary, project_root

sys.path.append(str(project_root() / "tools/torture"))  # programs, not a package

import box
import scarcity
from processes import running

DIRECTION = {"delay_ns": 1_000_000, "rate": {"bps": 20_000_000}, "queue": {"bytes": 30_000}}
TRIAL = {
    "h123": "trial/1",
    "id": "few",
    "seed": 1,
    "clock": "wall",
    "hosts": ["client", "server"],
    "links": [
        {
            "name": "access",
            "kind": "emulated",
            "a": {"host": "client", "address": "10.1.0.1"},
            "b": {"host": "server", "address": "10.1.0.2"},
            "up": DIRECTION,
            "down": DIRECTION,
        }
    ],
    "congestion": "cubic",
    "check": True,
    "roles": [
        {"name": "main", "host": "client", "kind": "main", "command": ["true"], "env": {}, "timeout_ns": 10_000_000_000}
    ],
}


@pytest.mark.skipif(not scarcity.HAS_OWN_LIMIT, reason="before Linux 6.14 the limit on PIDs was the whole machine's")
def test_few_processes_are_a_reason_and_no_panic() -> None:
    ended = box.inside(_run_with_few)
    assert not any("panicked" in said for _, said in ended.values()), ended
    assert {status for status, _ in ended.values()} <= {0, 3}, ended
    assert ended[40] == (0, "valid"), ended
    assert ended[1][0] == 3, ended


def _run_with_few() -> dict[int, tuple[int, str]]:
    """By the number of processes and threads: the lab's exit status, and what it said or reported."""
    folder, ended = box.PLACE / "trial", {}
    folder.mkdir()
    file = folder / "trial.json"
    file.write_text(json.dumps(TRIAL))
    scarcity.use_up_reserved_pids()
    for limit in (1, 2, 4, 5, 6, 7, 8, 9, 10, 40):
        scarcity.allow_processes(limit)
        with Path(folder / "said").open("w+") as output:
            command = [str(lab_binary()), "run", str(file), "--out", str(folder)]
            status = subprocess.run(command, stdout=output, stderr=output, check=False).returncode
            output.seek(0)
            said = output.read()
        scarcity.allow_processes(scarcity.FREE_PIDS)
        report = folder / "report.json"
        if report.exists():
            reported = json.loads(report.read_text())
            said = "valid" if reported["valid"] else json.dumps(reported["reasons"])
            report.unlink()
        ended[limit] = (status, said)
        assert running() == {}
    return ended
