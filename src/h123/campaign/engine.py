"""Where trials are executed: an engine takes a folder with trial.json and leaves report.json there."""

import contextlib
import json
import subprocess
from pathlib import Path
from typing import Protocol

from h123.errors import UserError
from h123.paths import lab_binary

_BAD_TRIAL, _UNFIT_MACHINE = 2, 3
_GRACE_S = 5.0


class Engine(Protocol):
    """Executes one trial at a time."""

    def run(self, folder: Path) -> None:
        """Execute `folder/trial.json`; afterwards `folder/report.json` exists.

        Raises UserError when no trial can be executed at all here, and lets KeyboardInterrupt pass after having
        ended everything it had started.
        """


class LocalEngine:
    """This machine: one h123-lab process a trial."""

    def run(self, folder: Path) -> None:
        command = [str(lab_binary()), "run", "trial.json", "--out", ".", "--die-with-parent"]
        # A session of its own: Ctrl-C in the terminal reaches only us, and we end the lab in order.
        process = subprocess.Popen(
            command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True
        )
        try:
            _, said = process.communicate()
        except BaseException:
            _end(process)
            raise
        said = said.strip()
        if process.returncode == _UNFIT_MACHINE:
            raise UserError(said, remedy="run `h123 doctor` to see what this machine lacks", status=3)
        if process.returncode == _BAD_TRIAL:
            raise UserError(f"the lab refused {folder / 'trial.json'}: {said}")
        if process.returncode != 0 or not (folder / "report.json").exists():
            _record_crash(folder, process.returncode, said)


def _end(process: subprocess.Popen[str]) -> None:
    process.terminate()
    try:
        process.wait(_GRACE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    with contextlib.suppress(OSError, ValueError):
        if process.stderr:
            process.stderr.close()


def _record_crash(folder: Path, status: int, said: str) -> None:
    """A lab that ended without a report is a failed trial like any other: recorded, shown, repeated."""
    trial = json.loads((folder / "trial.json").read_text(encoding="utf-8"))
    reason = {"code": "setup-failed", "detail": f"h123-lab ended with status {status}: {said or 'it said nothing'}"}
    report = {
        "h123": "report/1",
        "id": trial["id"],
        "valid": False,
        "reasons": [reason],
        "warnings": [],
        "started_unix_ns": 0,
        "phases_ns": {"setup": 0, "check": 0, "ready": 0, "main": 0, "teardown": 0},
        "links": [],
        "roles": [],
        "hosts": [],
        "machine": {},
    }
    (folder / "report.json").write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
