"""Runs single trials of a verification, each in a separate lab, and repeats a trial if the machine was too busy to run
the link on time."""

import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from h123.base.files.scratch import scratch
from h123.catalogue import Subject, catalogue
from h123.documents import Reason, read_document
from h123.documents.events import AttemptFacts
from h123.documents.lab_report import Report
from h123.execution import (
    SERVER_ADDRESS,
    Certificate,
    Pool,
    PreparedTrial,
    SingleTrials,
    campaign_certificate,
    trial_certificate,
    write_trial_files,
)
from h123.measures import is_machines_fault
from h123.study import Network, Parameters, PlannedTrial
from h123.verification.result import DISTURBED
from h123.virtual import installed_kernel

Clock = Literal["wall", "virtual"]
Window = tuple[int, int]
"""The monotonic clock before and after a trial, in ns."""
_ANY_TIME = (0, 2**63)
_MOST_ATTEMPTS = 3
SEED = 1
_LATE_NS = 1_000_000
"""The 99th percentile of the link's lateness, in ns, above which the times of a trial say nothing about the subject."""


def calm_clock(subject: Subject) -> Clock:
    """Return the virtual clock if it is installed and the subject runs under it, because nothing disturbs trials there;
    otherwise the wall clock."""
    return "virtual" if "virtual" in subject.features.clocks and installed_kernel() is not None else "wall"


@dataclass(frozen=True)
class Trial:
    """A finished trial. Its files are in its folder."""

    folder: Path
    report: Report
    faults: list[Reason]
    """The reasons why the trial is not valid, including faults in its samples. Empty if it is valid."""
    window: Window

    @property
    def reasons(self) -> list[Reason]:
        """The reasons why the lab calls the trial invalid. The list is empty if there are none."""
        return self.report.reasons

    @property
    def disturbed(self) -> str:
        """A description of how the machine disturbed the trial, or an empty string. A disturbed trial says nothing
        about the subject."""
        if is_machines_fault(self.report):
            return f"{DISTURBED}stalled: {'; '.join(reason['detail'] for reason in self.reasons)}"
        latest = max((way.lateness_ns.p99 for link in self.report.links for way in link.ways()), default=0)
        if self.reasons or latest <= _LATE_NS:
            return ""
        return f"{DISTURBED}was too busy: one packet in a hundred left the link {latest / 1e6:.1f} ms late or more"

    def logs(self, lines: int) -> dict[str, list[str]]:
        """Return the last lines that each role printed, keyed by role. Roles that printed nothing are left out."""
        logs = {}
        for path in sorted((self.folder / "logs").glob("*.log")):
            if end := path.read_text("utf-8", errors="replace").splitlines()[-lines:]:
                logs[path.stem] = end
        return logs


class Trials:
    """A runner of the trials of a verification, with common settings."""

    def __init__(self, subjects: Mapping[str, Subject], certificate: Certificate, pool: Pool) -> None:
        """Create the runner. `subjects` are the installed subjects that take part, keyed by name."""
        self.subjects, self.certificate = subjects, certificate
        self._trials = SingleTrials(pool, {"tls": certificate.folder})

    def carry_out(
        self,
        folder: Path,
        parameters: Parameters,
        network: Network,
        change: Callable[[Path], None] = lambda _: None,
    ) -> Trial:
        """Run one trial in this folder, after deleting the folder's earlier contents. `change` may edit trial.json and
        workload.json before the trial starts."""
        for _ in range(_MOST_ATTEMPTS):
            shutil.rmtree(folder, ignore_errors=True)
            prepared = self.prepare(folder, parameters, network, change)
            before = time.monotonic_ns()
            [(_, attempt)] = self._trials.run([prepared])
            # Virtual time belongs to a separate kernel, whose clocks start at its boot.
            window = (before, time.monotonic_ns()) if parameters.clock == "wall" else _ANY_TIME
            trial = _ended_trial(folder, attempt, window)
            if not trial.disturbed:
                break
        return trial

    def carry_out_each(
        self, prepared: Sequence[PreparedTrial], is_wanted: Callable[[PreparedTrial], bool] = lambda _: True
    ) -> Iterator[Trial]:
        """Yield prepared trials as they end. If all of them use the virtual clock, as many run at once as there are
        processors, because nothing disturbs them. A trial does not start if `is_wanted` returns False for it by
        then."""
        undisturbed = all(trial.parameters.clock == "virtual" for trial in prepared)
        for trial, attempt in self._trials.run(prepared, self._trials.machine.cpus if undisturbed else 1, is_wanted):
            yield _ended_trial(trial.folder, attempt, _ANY_TIME)

    def prepare(
        self, folder: Path, parameters: Parameters, network: Network, change: Callable[[Path], None]
    ) -> PreparedTrial:
        """Write a trial's files into a new folder with the trial's name."""
        folder.mkdir(parents=True)
        planned = PlannedTrial(folder.name, 1, 1, {}, False, parameters, SEED)
        certificate = trial_certificate(self.certificate.folder, parameters)
        write_trial_files(folder, planned, {parameters.network: network}, self.subjects, certificate, check=False)
        change(folder)
        return PreparedTrial(folder, parameters, network)


def _ended_trial(folder: Path, attempt: AttemptFacts, window: Window) -> Trial:
    return Trial(folder, read_document(folder / "report.json", Report), attempt["reasons"], window)


@contextmanager
def trials_with(subject: Subject, pool: Pool) -> Iterator[tuple[Trials, Path]]:
    """Yield a runner of trials with the subject and those of the catalogue, and a folder that is deleted afterwards."""
    with scratch() as place:
        yield Trials({**catalogue(), subject.name: subject}, campaign_certificate(place, [SERVER_ADDRESS]), pool), place
