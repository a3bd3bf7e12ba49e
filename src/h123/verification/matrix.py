"""Tries every client with every server over each protocol, with a real trial for each method.

Results are stored in the matrix's folder, so a stopped run can continue, and a run after changes repeats only what has
changed. The folder contains `journal.jsonl`, `tls/`, `matrix.html`, and the trials that failed in
`trials/<server>-<client>-<protocol>-<method>/`. The journal's first event is {"event": "matrix", "h123": "matrix/1"}.
{"event": "run", "version", "machine"} starts a run, and each pairing that both subjects declare adds an event `cell`. A
pairing's last event is valid as long as both fingerprints match the subjects' present files.

A trial is a GET or POST of 100 kB by 3 users, 2 requests each, over a plain veth pair. `pass`: the trial is valid, and
every request was answered completely over the requested protocol. `unsupported`: one of the two subjects does not
declare the method. `fail`: everything else, including a subject that exits with 127. A pairing fails if one of its
methods fails, and the next run tries it again.
"""

import shutil
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Literal

from h123 import __version__
from h123.base.errors import UserError
from h123.base.files.journal import Line, append_event, read_events
from h123.base.files.lock import sole_user
from h123.base.files.output import check_place
from h123.base.files.tree import check_tree
from h123.base.paths import real
from h123.catalogue import Subject, fingerprint, make_bodies
from h123.documents import Reason
from h123.execution import SERVER_ADDRESS, Pool, campaign_certificate, machine_facts
from h123.progress import AttemptOutcome, Display, Standing
from h123.store import check_name
from h123.study import Parameters
from h123.verification.client_cases import CONNECTIONS, METHODS, ClientCase
from h123.verification.client_networks import PLAIN
from h123.verification.clients.client import carry_out
from h123.verification.clients.client_checks import unanswered
from h123.verification.trial import Trials

FORMAT = "matrix/1"
SIZE = 100_000
USUAL_SECONDS = 2.0
"""The assumed duration of a pairing in seconds, before one has been measured."""
_LOG_LINES = 40

Outcome = Literal["pass", "fail", "unsupported"]


@dataclass(frozen=True, order=True)
class Pairing:
    """A client and a server over a protocol."""

    server: str
    client: str
    protocol: str

    @property
    def name(self) -> str:
        """A name for the pairing that is valid as a file name."""
        return f"{self.server}-{self.client}-{self.protocol}"


@dataclass(frozen=True)
class MethodResult:
    """The result of a pairing's trial with one method."""

    outcome: Outcome
    reason: str = ""
    logs: dict[str, str] = field(default_factory=dict)
    """The end of each role's log, keyed by role, if the method failed."""


@dataclass(frozen=True)
class Cell:
    """A pairing with its results, keyed by method."""

    pairing: Pairing
    results: dict[str, MethodResult]

    @property
    def outcome(self) -> Outcome:
        """The outcome of the pairing: `fail` if any method fails, `pass` if one passes, and otherwise `unsupported`."""
        outcomes = {result.outcome for result in self.results.values()}
        return "fail" if "fail" in outcomes else "pass" if "pass" in outcomes else "unsupported"


class MatrixFolder:
    """A matrix on disk: its journal, its certificate, and the trials that failed."""

    def __init__(self, path: Path, subjects: Mapping[str, Subject]) -> None:
        check_name(path)
        check_place(path)
        check_tree(path)
        self.path = path
        self._journal = path / "journal.jsonl"
        self._prints = {name: fingerprint(subject) for name, subject in subjects.items()}
        if path.is_dir() and not self._journal.exists() and any(path.iterdir()):
            raise UserError(
                f"{path} is not empty and does not contain a matrix", remedy="name another folder with --out"
            )
        path.mkdir(parents=True, exist_ok=True)
        if not self.events():
            append_event(self._journal, {"event": "matrix", "h123": FORMAT})

    def events(self) -> list[Line]:
        """Return all events, oldest first."""
        events = read_events(self._journal)
        if events and events[0].get("h123") != FORMAT:
            raise UserError(f"{self._journal} is not of the format {FORMAT}", remedy="name another folder with --out")
        return events

    def cells(self) -> dict[Pairing, Cell]:
        """Return the results that are valid for the subjects' present files."""
        cells = {}
        for event in self.events():
            if event["event"] == "cell":
                pairing = Pairing(**event["pairing"])
                if event["fingerprints"] == self._fingerprints(pairing):
                    cells[pairing] = Cell(pairing, {m: MethodResult(**r) for m, r in event["results"].items()})
        return cells

    def add(self, cell: Cell, seconds: float) -> None:
        """Store a cell."""
        event = {
            "event": "cell",
            "pairing": asdict(cell.pairing),
            "fingerprints": self._fingerprints(cell.pairing),
            "results": {method: asdict(result) for method, result in cell.results.items()},
            "seconds": round(seconds, 2),
        }
        append_event(self._journal, event)

    def alone(self) -> AbstractContextManager[None]:
        """Lock the folder for adding results. Raises UserError if another process holds the lock."""
        return sole_user(self.path, f"the matrix in {self.path}")

    def begin(self) -> None:
        """Record that a run starts on this machine."""
        append_event(self._journal, {"event": "run", "version": __version__, "machine": machine_facts()})

    def trial(self, pairing: Pairing, method: str) -> Path:
        """Return the folder of a trial."""
        return real(self.path) / "trials" / f"{pairing.name}-{method.lower()}"

    def _fingerprints(self, pairing: Pairing) -> list[str | None]:
        return [self._prints.get(pairing.server), self._prints.get(pairing.client)]


def pairings(servers: Sequence[str], clients: Sequence[str], protocols: Sequence[str]) -> list[Pairing]:
    """Return all pairings, server by server."""
    return [Pairing(server, client, p) for server in servers for client in clients for p in protocols]


def run_matrix(
    asked: Sequence[Pairing], subjects: Mapping[str, Subject], folder: MatrixFolder, pool: Pool, display: Display
) -> None:
    """Run all pairings that both subjects declare and that have no result yet, and repeat the pairings that failed.

    KeyboardInterrupt is raised again after the running trial has ended; finished pairings are kept. The subjects must
    be installed, and so must the origin for proxies.
    """
    possible = [pairing for pairing in asked if any(not _missing(pairing, subjects, m) for m in METHODS)]
    with folder.alone():
        known_cells_by_pairing = folder.cells()
        waiting = [
            pairing
            for pairing in possible
            if pairing not in known_cells_by_pairing or known_cells_by_pairing[pairing].outcome == "fail"
        ]
        if not waiting:
            return
        folder.begin()
        make_bodies({SIZE})
        with display:
            trials = Trials(subjects, campaign_certificate(folder.path / "tls", [SERVER_ADDRESS]), pool)
            _run(waiting, len(possible), folder, trials, display)


def _run(waiting: Sequence[Pairing], total: int, folder: MatrixFolder, trials: Trials, display: Display) -> None:
    forecast = _Forecast()
    for number, pairing in enumerate(waiting):
        done_count = total - len(waiting) + number
        display.show(Standing([pairing.name], done_count, total, forecast.seconds(waiting[number:])))
        start = time.monotonic()
        cell = _pair(pairing, folder, trials)
        seconds = time.monotonic() - start
        folder.add(cell, seconds)
        forecast.learn(pairing, seconds)
        remaining_s = forecast.seconds(waiting[number + 1 :])
        display.end(_event(cell, seconds), Standing([], done_count + 1, total, remaining_s))


def known_cells(
    pairings: Sequence[Pairing], subjects: Mapping[str, Subject], folder: MatrixFolder
) -> dict[Pairing, Cell | None]:
    """Return the result of each pairing, or None if it has not been tried yet."""
    recorded, cells = folder.cells(), dict[Pairing, Cell | None]()
    for pairing in pairings:
        missing = {method: _missing(pairing, subjects, method) for method in METHODS}
        if all(missing.values()):
            impossible = {method: MethodResult("unsupported", reason) for method, reason in missing.items()}
            cells[pairing] = Cell(pairing, impossible)
        else:
            cells[pairing] = recorded.get(pairing)
    return cells


def _pair(pairing: Pairing, folder: MatrixFolder, trials: Trials) -> Cell:
    results = {}
    for method in METHODS:
        missing = _missing(pairing, trials.subjects, method)
        place = folder.trial(pairing, method)
        results[method] = MethodResult("unsupported", missing) if missing else _try(pairing, method, trials, place)
        if results[method].outcome != "fail":
            shutil.rmtree(place, ignore_errors=True)
    return Cell(pairing, results)


def _missing(pairing: Pairing, subjects: Mapping[str, Subject], method: str) -> str:
    """Return which side lacks a declaration that the method needs, or an empty string if neither does."""
    server, client = subjects[pairing.server].server, subjects[pairing.client].client
    assert server is not None
    assert client is not None
    for name, side in ((pairing.server, server), (pairing.client, client)):
        for offered, needed in ((side.protocols, pairing.protocol), (side.methods, method)):
            if needed not in offered:
                return f"{name} does not support {needed}"
    return ""


def _try(pairing: Pairing, method: str, trials: Trials, place: Path) -> MethodResult:
    client_case = ClientCase(pairing.name, _parameters(pairing, method, trials.subjects))
    client_trial = carry_out(client_case, trials, place)
    faults = [f"{reason['code']}: {reason['detail']}" for reason in client_trial.reasons]
    faults = faults or unanswered(client_case, client_trial.rows)
    if not faults:
        return MethodResult("pass")
    return MethodResult(
        "fail", faults[0], {role: "\n".join(end) for role, end in client_trial.trial.logs(_LOG_LINES).items()}
    )


def _parameters(pairing: Pairing, method: str, subjects: Mapping[str, Subject]) -> Parameters:
    client = subjects[pairing.client].client
    assert client is not None
    return Parameters.model_validate(
        {
            "protocol": pairing.protocol,
            "server": pairing.server,
            "client": pairing.client,
            "network": PLAIN.name,
            "congestion": "default",
            "method": method,
            "size": SIZE,
            "users": 3,
            "requests": 2,
            "cold": client.cold,
            "connections": CONNECTIONS[client.connections[0]],
            "timeout": "10s",
            "trial_timeout": "60s",
        }
    )


def failures(cells: Mapping[Pairing, Cell | None]) -> Iterator[tuple[Pairing, str, MethodResult]]:
    """Yield every failed method, with its pairing and result."""
    for pairing, cell in cells.items():
        for method, result in cell.results.items() if cell else ():
            if result.outcome == "fail":
                yield pairing, method, result


def _event(cell: Cell, seconds: float) -> AttemptOutcome:
    """Return the cell's result as an attempt at a trial, because the display expects one."""
    reasons: list[Reason] = [
        {"code": method, "detail": result.reason} for method, result in cell.results.items() if result.outcome == "fail"
    ]
    return {"trial": cell.pairing.name, "attempt": 1, "reasons": reasons, "seconds": seconds}


class _Forecast:
    """A forecast of durations: a pairing is expected to take the mean time of earlier pairings of its client or, if
    there are none, of all earlier pairings."""

    def __init__(self) -> None:
        self._seconds: dict[str, list[float]] = defaultdict(list)

    def learn(self, pairing: Pairing, seconds: float) -> None:
        self._seconds[pairing.client].append(seconds)

    def seconds(self, waiting: Sequence[Pairing]) -> float:
        everything = [s for each in self._seconds.values() for s in each] or [USUAL_SECONDS]
        total = 0.0
        for pairing in waiting:
            durations = self._seconds.get(pairing.client) or everything
            total += sum(durations) / len(durations)
        return total
