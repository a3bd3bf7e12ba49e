"""An engine without namespaces or time: each trial ends as the script says, with plausible files."""

import itertools
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from documents import put
from h123.campaign import Campaign, Outcome, run_campaign
from h123.documents.lab_report import Report
from h123.documents.trial_files import ClientFile
from h123.execution import LocalPool, Machine
from h123.execution.engine import Engine
from h123.progress import Display

HERE = Machine(name="here", facts={"virtual_kernel": True}, cpus=2, memory_bytes=2**33)


def run_scripted(
    campaign: Campaign, engine: Engine, display: Display, jobs: int | None = None, *, retry: bool = False
) -> Outcome:
    """Run the campaign on a pool of one machine that has this engine."""
    pool = LocalPool(campaign.folder.arrivals, campaign.folder.tls, engine=engine, machine=HERE)
    return run_campaign(campaign, pool, display, jobs, retry=retry)


Script = Callable[[dict[str, Any], int], list[dict[str, str]]]
HEADER = (
    "phase,user,start_ns,connected_ns,sent_ns,first_byte_ns,end_ns,status,bytes_up,bytes_down,protocol,connection,"
    "reused,error,group,resource"
)


def interrupting(after: int) -> Script:
    """Ctrl-C once so many trials have ended."""
    ended = itertools.count()

    def interrupt(_trial: dict[str, Any], _attempt: int) -> list[dict[str, str]]:
        if next(ended) == after:
            raise KeyboardInterrupt
        return []

    return interrupt


class ScriptedEngine:
    """`script(trial.json, attempt)` returns the reasons why the attempt is invalid; none: it is valid.

    Trials end in the order in which they started, or with `newest_first` in the contrary one. `machine` and `links` are
    what every report says of these. `late_ns(trial.json, attempt)`: for how long from its beginning a trial's link
    stalled; `waiting_ns`: how long the server of a trial that ran beside others waited for a processor; `noises`: what
    the machine does whenever it is asked, the last for good.
    """

    def __init__(
        self,
        script: Script = lambda _trial, _attempt: [],
        machine: dict[str, int] | None = None,
        links: list[dict[str, Any]] | None = None,
        newest_first: bool = False,
        late_ns: Callable[[dict[str, Any], int], int] = lambda _trial, _attempt: 0,
        waiting_ns: int = 0,
        noises: Sequence[float] = (0.0,),
    ) -> None:
        self._next = -1 if newest_first else 0
        self._script, self._late_ns, self._waiting_ns = script, late_ns, waiting_ns
        self._links, self._noises = links, list(noises)
        self._crowded: set[Path] = set()
        self._machine = machine or {}
        self._running: list[Path] = []
        self.abreast: list[list[str]] = []
        """What ran at once, noted at each start."""
        self.ran: list[tuple[str, int]] = []
        self.checked: list[str] = []

    def start(self, folder: Path, roots: Mapping[str, Path]) -> None:
        trial = json.loads((folder / "trial.json").read_text())
        attempt = sum(name == trial["id"] for name, _ in self.ran) + 1
        self.ran.append((trial["id"], attempt))
        if trial["check"]:
            self.checked.append(trial["id"])
        assert (roots["tls"] / "ca.pem").is_file()
        self._running.append(folder)
        if len(self._running) > 1:
            self._crowded.update(self._running)
        self.abreast.append([running.name.split("~")[0] for running in self._running])

    def noise(self) -> float:
        return self._noises.pop(0) if len(self._noises) > 1 else self._noises[0]

    def stop(self) -> None:
        self._running.clear()

    def wait(self) -> Path:
        folder = self._running.pop(self._next)
        trial = json.loads((folder / "trial.json").read_text())
        attempt = sum(name == trial["id"] for name, _ in self.ran)
        reasons = self._script(trial, attempt)
        workload = json.loads((folder / "workload.json").read_text())
        (folder / "samples.csv").write_text(_samples(workload))
        put(folder / "client.json", ClientFile, {"h123": "client/1", "tls": [], "congestion": "cubic"})
        report = _report(trial, reasons, self._machine, self._late_ns(trial, attempt))
        waited = self._waiting_ns if folder in self._crowded else 0
        cpu = {"main_ns": 0, "main_wait_ns": waited, "main_turns": 10}
        report["links"] = self._links or report["links"]
        report["roles"] = [{"name": "server", "cpu": cpu, "max_rss_bytes": 0}]
        put(folder / "report.json", Report, report)
        return folder


def _samples(workload: dict[str, Any]) -> str:
    rows = [HEADER]
    for user in range(workload["users"]):
        for request in range(workload["requests"]):
            start = request * 100_000_000
            size = int(workload["path"].rpartition("/")[2])
            times = f"{start},,{start + 1000},{start + 20_000_000},{start + 40_000_000}"
            rows.append(f"warm,{user},{times},200,0,{size},{workload['protocol']},0,1,,,")
    return "\n".join(rows) + "\n"


def _report(
    trial: dict[str, Any], reasons: list[dict[str, str]], machine: dict[str, int], late_ns: int
) -> dict[str, Any]:
    phases = {"setup": 1, "check": 1, "ready": 1, "main": 500_000_000, "teardown": 1}
    return {
        "h123": "report/1",
        "id": trial["id"],
        "valid": not reasons,
        "reasons": reasons,
        "warnings": [],
        "started_unix_ns": 1,
        "phases_ns": phases,
        "main_began_ns": 0,
        "links": [{"name": "access", "directions": None, "stalls": [[0, late_ns]] if late_ns else []}],
        "hosts": [],
        "machine": {"cpus": 2, "wall_ns": 0, "busy_ns": 0, "lab_ns": 0, "steal_ns": 0, "stalls": [[], []], **machine},
    }
