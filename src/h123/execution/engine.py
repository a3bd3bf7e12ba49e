"""Defines engines, which execute the trial.json in a folder, and leave report.json there."""

import contextlib
import ctypes
import json
import os
import select
import signal
import subprocess
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Protocol

from h123.base.errors import UserError
from h123.base.paths import lab_binary, lab_remedy
from h123.base.roots import root_options
from h123.catalogue import files_folder, installations
from h123.documents import Reason, read_document, write_document
from h123.documents.lab_report import MachineLoad, Report
from h123.documents.trial_files import TrialFile
from h123.execution.disk import require_room
from h123.execution.machine import UnfitMachine
from h123.virtual import virtual_kernel

_SET_CHILD_SUBREAPER = 36
_NAME = 15
"""The number of characters that the kernel keeps of a program's name."""
_BAD_TRIAL, _UNFIT_MACHINE, _SIGNALLED = 2, 3, 128
_GRACE_S = 5.0
_PROBE_MS = 300
"""The time in ms for which `noise` watches the machine to see whether it is calm."""


class Engine(Protocol):
    """An engine that executes trials on a machine, several at the same time if requested. Only one thread may use it.

    All methods raise UnfitMachine if the machine has failed.
    """

    def start(self, folder: Path, roots: Mapping[str, Path]) -> None:
        """Start executing `folder/trial.json`. `roots` contains the folders that the trial needs in addition to
        `installed_roots`."""

    def wait(self) -> Path:
        """Wait until a started trial has ended, and return its folder, which then contains `report.json`.

        Raises UserError if no machine can execute the trial, and OSError if the disk has no room for it.
        """

    def noise(self) -> float:
        """Return the fraction of the processors' time, 0 to 1, that a trial would not get if it ran now. Call this
        method while nothing runs."""

    def stop(self) -> None:
        """Stop all running trials, and wait until they have ended."""


@dataclass(frozen=True)
class _Lab:
    process: "subprocess.Popen[bytes]"
    end_descriptor: int
    """A descriptor that becomes readable when the process has ended."""
    complaints: IO[bytes]


class LocalEngine:
    """The engine of this machine. It runs one h123-lab process for each trial, with its own namespaces or, under the
    virtual clock, its own kernel.

    Use it only from the thread that outlives all others, because a lab ends with the thread that started it
    (--die-with-parent).
    """

    def __init__(self) -> None:
        self._labs: dict[Path, _Lab] = {}
        _adopt_orphans()

    def start(self, folder: Path, roots: Mapping[str, Path]) -> None:
        options = ["--die-with-parent", *root_options({**installed_roots(), **roots}), *_kernel(folder)]
        command = [str(lab_binary()), "run", "trial.json", "--out", ".", *options]
        # Closed when the lab is reaped. A pipe without a reader could fill up and block the lab, and the disk may have
        # no room for a file.
        complaints = os.fdopen(os.memfd_create("complaints"), "w+b")
        # The lab has its own session: Ctrl-C in the terminal reaches only h123, which ends the lab properly.
        process = subprocess.Popen(
            command, cwd=folder, stdout=subprocess.DEVNULL, stderr=complaints, start_new_session=True
        )
        self._labs[folder] = _Lab(process, os.pidfd_open(process.pid), complaints)

    def wait(self) -> Path:
        poll = select.poll()
        for lab in self._labs.values():
            poll.register(lab.end_descriptor, select.POLLIN)
        ready = {descriptor for descriptor, _ in poll.poll()}
        folder = next(folder for folder, lab in self._labs.items() if lab.end_descriptor in ready)
        status, output = self._reap(folder)
        if status == 0 and (folder / "report.json").exists():
            return folder
        require_room(folder)
        if status == _UNFIT_MACHINE:
            raise UnfitMachine(output, remedy="run `h123 doctor` to see what this machine lacks")
        if status == _BAD_TRIAL:
            remedy = "if a network is wrong, correct its file, then run the same command again"
            raise UserError(f"the lab refused {folder / 'trial.json'}: {output}", remedy=remedy)
        _record_crash(folder, status, output)
        return folder

    def noise(self) -> float:
        command = [str(lab_binary()), "noise", "--ms", str(_PROBE_MS)]
        process = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        if process.returncode:
            raise UnfitMachine(f"h123-lab noise failed: {process.stderr.strip()}", remedy=lab_remedy())
        shares = json.loads(process.stdout)
        return float(max(shares["stalled"] or 0.0, shares["busy"]))

    def stop(self) -> None:
        for lab in self._labs.values():
            lab.process.terminate()
        for folder in list(self._labs):
            self._reap(folder, _GRACE_S)

    def _reap(self, folder: Path, patience_s: float | None = None) -> tuple[int, str]:
        """Return the exit status and the output of a lab. A lab that does not end in time is killed."""
        lab = self._labs[folder]
        try:
            status = lab.process.wait(patience_s)
        except subprocess.TimeoutExpired:
            lab.process.kill()
            status = lab.process.wait()
        del self._labs[folder]
        os.close(lab.end_descriptor)
        if status < 0:
            _wait_for_orphans(lab_binary().name, {other.process.pid for other in self._labs.values()})
        with lab.complaints as file:
            file.seek(0)
            return status, file.read().decode(errors="replace").strip()


def installed_roots() -> dict[str, Path]:
    """Return the folders on this machine that trials need, by the names that trial files use."""
    return {"subjects": installations(), "bodies": files_folder()}


def _kernel(folder: Path) -> list[str]:
    """Return the options that name the virtual kernel, if the trial's clock needs it."""
    return (
        ["--kernel", str(virtual_kernel())]
        if read_document(folder / "trial.json", TrialFile).clock == "virtual"
        else []
    )


def _record_crash(folder: Path, status: int, output: str) -> None:
    """Write a report that says that the trial failed, because the lab ended without writing one."""
    trial = read_document(folder / "trial.json", TrialFile)
    report = Report(
        h123="report/1",
        id=trial.id,
        clock=trial.clock,
        valid=False,
        reasons=[_crash(status, output)],
        warnings=[],
        started_unix_ns=0,
        phases_ns={"setup": 0, "check": 0, "ready": 0, "main": 0, "teardown": 0},
        links=[],
        roles=[],
        hosts=[],
        machine=MachineLoad(),
    )
    write_document(folder / "report.json", report)


def _crash(status: int, output: str) -> Reason:
    """Explain why there is no report. If the process in the lab's namespaces was killed, the lab ends with status 128 +
    n, and its output says so."""
    output = output or "it said nothing"
    if status < 0:
        memory = ", perhaps because memory ran out (see `dmesg`)" if -status == signal.SIGKILL else ""
        return {"code": "lab-killed", "detail": f"the lab was killed by signal {-status}{memory}"}
    if status > _SIGNALLED:
        return {"code": "lab-killed", "detail": output.removeprefix("h123-lab: ")}
    return {"code": "setup-failed", "detail": f"h123-lab ended with status {status}: {output}"}


def _adopt_orphans() -> None:
    """Make descendants of this process its children when their parent ends (prctl(2), PR_SET_CHILD_SUBREAPER).

    The processes inside a killed lab end too, but may still write into the trial's folder for a moment. So h123 waits
    for them: the first process of the lab's PID namespace ends only after all others (pid_namespaces(7)).
    """
    ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _wait_for_orphans(program: str, others: Collection[int]) -> None:
    """Wait until no child with this name is left, except the `others`, for which other code waits."""
    for child in _children(program[:_NAME]):
        if child not in others:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(child, 0)


def _children(name: str) -> Iterator[int]:
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            # The name, in parentheses, may contain any character; the state and the parent follow it.
            before, _, after = entry.read_text(encoding="utf-8", errors="replace").rpartition(")")
            if before.partition("(")[2] == name and int(after.split()[1]) == os.getpid():
                yield int(entry.parent.name)
