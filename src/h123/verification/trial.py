"""One trial of a verification, in a lab of its own; where the machine was too busy for its link, it is done again."""

import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Literal

from h123.catalogue import Subject
from h123.documents import Reason, read_document
from h123.documents.lab_report import Report
from h123.execution import Certificate, Engine, trial_certificate, write_trial_files
from h123.measures import ruined
from h123.packets import tabulate_evidence
from h123.study import Network, Parameters, PlannedTrial
from h123.verification.result import DISTURBED
from h123.virtual import installed_kernel

Clock = Literal["wall", "virtual"]
Window = tuple[int, int]
"""The monotonic clock before and after a trial."""
_MOST_ATTEMPTS = 3
SEED = 1
_LATE_NS = 1_000_000
"""99th percentile of the link's lateness above which what a subject did in time is not its own doing."""


def calm_clock(subject: Subject) -> Clock:
    """The virtual one, under which nothing disturbs a trial, where the subject runs under it and it is there."""
    return "virtual" if "virtual" in subject.features.clocks and installed_kernel() is not None else "wall"


@dataclass(frozen=True)
class Trial:
    """One that has ended. Its files are in its folder."""

    folder: Path
    report: Report
    window: Window

    @property
    def reasons(self) -> list[Reason]:
        """Why the lab calls it invalid; none: it is valid."""
        return self.report.reasons

    @property
    def disturbed(self) -> str:
        """How the machine kept the trial from saying anything about the subject; empty: it did not."""
        if ruined(self.report):
            return f"{DISTURBED}stalled: {'; '.join(reason['detail'] for reason in self.reasons)}"
        latest = max((way.lateness_ns.p99 for link in self.report.links for way in link.ways()), default=0)
        if self.reasons or latest <= _LATE_NS:
            return ""
        return f"{DISTURBED}was too busy: one packet in a hundred left the link {latest / 1e6:.1f} ms late or more"

    def logs(self, lines: int) -> dict[str, list[str]]:
        """The end of what each role printed, by its name; without those that were silent."""
        found = {}
        for path in sorted((self.folder / "logs").glob("*.log")):
            if end := path.read_text("utf-8", errors="replace").splitlines()[-lines:]:
                found[path.stem] = end
        return found


@dataclass(frozen=True)
class Trials:
    """What all trials of a verification have in common."""

    subjects: Mapping[str, Subject]
    """Those that take part, by name; they are installed."""
    certificate: Certificate
    engine: Engine

    def carry_out(
        self,
        folder: Path,
        parameters: Parameters,
        network: Network,
        change: Callable[[Path], None] = lambda _: None,
    ) -> Trial:
        """One trial in this folder, emptied before. `change` may edit trial.json and workload.json before it runs."""
        for _ in range(_MOST_ATTEMPTS):
            shutil.rmtree(folder, ignore_errors=True)
            trial = self._once(folder, parameters, network, change)
            if not trial.disturbed:
                break
        return trial

    def carry_out_each(self, folders: Iterable[Path], at_once: int) -> Iterator[Trial]:
        """Prepared trials as they end, several at once: for those under the virtual clock, which nothing disturbs.
        The next folder is asked for when there is room for its trial."""
        waiting, running = iter(folders), 0
        while True:
            for folder in islice(waiting, at_once - running):
                self._start(folder)
                running += 1
            if not running:
                return
            folder = self.engine.wait()
            running -= 1
            yield _ended(folder, (0, 2**63))

    def prepare(self, folder: Path, parameters: Parameters, network: Network, change: Callable[[Path], None]) -> None:
        """Writes a trial's files into a new folder, whose name is the trial's."""
        folder.mkdir(parents=True)
        planned = PlannedTrial(folder.name, 1, 1, {}, False, parameters, SEED)
        certificate = trial_certificate(self.certificate.folder, parameters)
        write_trial_files(folder, planned, {parameters.network: network}, self.subjects, certificate, check=False)
        change(folder)

    def _start(self, folder: Path) -> None:
        self.engine.start(folder, {"tls": self.certificate.folder})

    def _once(self, folder: Path, parameters: Parameters, network: Network, change: Callable[[Path], None]) -> Trial:
        self.prepare(folder, parameters, network, change)
        before = time.monotonic_ns()
        self._start(folder)
        self.engine.wait()
        # Virtual time is of a kernel of its own, whose clocks begin at its boot.
        return _ended(folder, (before, time.monotonic_ns()) if parameters.clock == "wall" else (0, 2**63))


def _ended(folder: Path, window: Window) -> Trial:
    tabulate_evidence(folder)
    return Trial(folder, read_document(folder / "report.json", Report), window)
