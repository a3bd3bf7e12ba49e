"""Measures what it costs to keep the evidence of every trial: `make bench`.

    PYTHONPATH=src python bench/evidence.py [MOST [SEED]]

Downloads with the embedded client and server over 100 Mbit/s, in rounds. A round has three trials of a protocol in
random order: one with all evidence, and two without any. Each value of the first trial is divided by the mean of the
other two. The bars are 3 % more for the lab's processor time per packet, and 1 % either way for latency and goodput.
The ratio of the two trials without evidence shows what the machine adds (A/A). Each ratio has the interval of the
signed rank. A bar is met if the whole interval is within it, missed if the whole interval is beyond it, and otherwise
open.

Meanwhile, programs that run only on idle processors (SCHED_IDLE) keep the processors awake, because the time to wake
them up varies from trial to trial.

The program looks at the results of a protocol after 8, 16, 32 and 64 rounds, but at most MOST. It stops once no bar is
open. The intervals are wide enough that all looks together are wrong in at most 5 of 100 runs. Finally, it prints the
bytes that a packet takes on the disk (bar: 20).

The exit status is 0 if all bars are met, 1 if one is missed, and 2 if one is open.
"""

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import exp, log
from pathlib import Path
from statistics import mean, median
from typing import Literal

from h123.analysis.statistics.signedrank import IntervalEstimate, SignedRank
from h123.catalogue import Subject, catalogue, install
from h123.documents import read_document, write_document
from h123.documents.lab_report import Report
from h123.documents.trial_files import TrialFile
from h123.execution import SERVER_ADDRESS, Certificate, campaign_certificate, write_trial_files
from h123.execution.engine import Engine, LocalEngine
from h123.measures import trial_metrics
from h123.packets import tabulate_evidence
from h123.packets.capture import read_packets
from h123.store import ingest
from h123.study import Network, Parameters, PlannedTrial
from h123.study.networks.network import Bottleneck, Direction, Queue

WAY = Direction(delay_ns=10_000_000, rate=Bottleneck(bps=100_000_000), queue=Queue(bytes=250_000))
NETWORK = Network(name="evidence", title="100 Mbit/s", up=WAY, down=WAY)
METRICS = ("latency", "goodput")
BARS = {"lab": (0.0, 1.03), "latency": (0.99, 1.01), "goodput": (0.99, 1.01)}
DISK_BAR_BYTES = 20
KEPT, BROKEN, OPEN = 0, 1, 2

LOOKS = (8, 16, 32, 64)
"""Rounds after which a bar may be decided."""
CONFIDENCE = 1 - 0.05 / len(LOOKS)
"""The confidence of each interval. With it, all looks together are wrong no more often than one look at 95 %
(Bonferroni)."""

Arm = Literal["all", "none", "none again"]
ARMS: tuple[Arm, ...] = ("all", "none", "none again")


@dataclass(frozen=True)
class Outcome:
    """The results of a trial."""

    values: dict[str, float]
    """The lab's processor time per packet, in seconds, and the metrics."""
    packets: int
    """The number of recorded packets."""
    disk_bytes: int
    tabulate_s: float
    """The processor time to convert the evidence to tables."""


@dataclass(frozen=True)
class Bench:
    """The folder, subjects, certificate and engine of all trials."""

    folder: Path
    subjects: Mapping[str, Subject]
    certificate: Certificate
    engine: Engine

    def carry_out(self, protocol: str, number: int, arm: Arm) -> Outcome:
        settings = {"server": "go", "client": "go", "congestion": "cubic", "method": "GET", "network": NETWORK.name}
        load = {"protocol": protocol, "size": "2MB", "users": 4, "requests": 2, "cold": False}
        parameters = Parameters.model_validate({**settings, **load})
        folder = self.folder / f"{protocol}-{number}-{arm.replace(' ', '-')}"
        folder.mkdir()
        planned = PlannedTrial(folder.name, 1, 1, {}, False, parameters, number)
        networks = {NETWORK.name: NETWORK}
        write_trial_files(folder, planned, networks, self.subjects, self.certificate, check=False)
        trial = read_document(folder / "trial.json", TrialFile)
        trial.tcp_account = arm == "all"
        if arm.startswith("none"):
            trial.links[0].packets, trial.links[0].frames = 0, False
        write_document(folder / "trial.json", trial)
        self.engine.start(folder, {"tls": self.certificate.folder})
        return _outcome(self.engine.wait(), parameters.model_dump(mode="json"))


def _outcome(folder: Path, parameters: dict[str, object]) -> Outcome:
    report = read_document(folder / "report.json", Report)
    if reasons := report.reasons or ingest(folder, parameters):
        raise SystemExit(json.dumps(reasons))
    began = time.process_time()
    tabulate_evidence(folder)
    tabulate_s = time.process_time() - began
    metrics = trial_metrics(folder, report, parameters)
    values = {name: metrics[name] or 0.0 for name in METRICS}
    packets = folder / "packets-access.parquet"
    kept = (len(read_packets(folder)), packets.stat().st_size) if packets.is_file() else (0, 0)
    passed = sum(way.packets_in or 0 for link in report.links for way in link.ways())
    return Outcome({"lab": (report.machine.lab_ns or 0) / 1e9 / passed, **values}, *kept, tabulate_s)


Round = Mapping[Arm, Outcome]


def compare(rounds: Sequence[Round], protocol: str) -> Iterator[tuple[str, int]]:
    """Yield lines about a protocol, each with whether its bar is met, missed or open."""
    for name, bar in BARS.items():
        of = [{arm: outcome.values[name] for arm, outcome in one.items()} for one in rounds]
        without = [mean([one["none"], one["none again"]]) for one in of]
        told = f"{protocol} {name:8}"
        told += f" all / none {_ratio([one['all'] for one in of], without)}"
        told += f"   A/A {_ratio([one['none again'] for one in of], [one['none'] for one in of])}"
        yield f"{told}   (none: {median(without):.4g})", _verdict([one["all"] for one in of], without, bar)
    recorded = [one["all"] for one in rounds]
    packets = sum(one.packets for one in recorded)
    size = sum(one.disk_bytes for one in recorded) / packets
    seconds = sum(one.tabulate_s for one in recorded) / packets
    told = f"{size:.1f} bytes a packet, {packets // len(recorded)} packets a trial, made in {seconds * 1e6:.2f} us each"
    yield f"{protocol} disk: {told}", KEPT if size <= DISK_BAR_BYTES else BROKEN


def _between(these: Sequence[float], others: Sequence[float]) -> IntervalEstimate:
    """Return the estimate of the logarithm of the ratio, with its interval."""
    return SignedRank([log(a / b) for a, b in zip(these, others, strict=True)]).estimate(CONFIDENCE)


def _ratio(these: Sequence[float], others: Sequence[float]) -> str:
    found = _between(these, others)
    return f"{exp(found.centre):.4f}, {exp(found.low):.4f} to {exp(found.high):.4f}"


def _verdict(these: Sequence[float], others: Sequence[float], bar: tuple[float, float]) -> int:
    """Return whether a bar is met, missed or open. It stays open if there are too few rounds for the confidence."""
    found = _between(these, others)
    low, high = exp(found.low), exp(found.high)
    if found.confidence < CONFIDENCE:
        return OPEN
    if bar[0] <= low and high <= bar[1]:
        return KEPT
    return BROKEN if high < bar[0] or bar[1] < low else OPEN


_SPIN = "import os; mine = os.getppid()\nwhile os.getppid() == mine: sum(range(10_000))"
"""Runs until the program that started it has ended."""


@contextmanager
def awake() -> Iterator[None]:
    """Keep all processors awake while the context is open, without taking time from other programs."""
    spinning = []
    for cpu in os.sched_getaffinity(0):
        one = subprocess.Popen([sys.executable, "-c", _SPIN])
        spinning.append(one)
        os.sched_setaffinity(one.pid, {cpu})
        os.sched_setscheduler(one.pid, os.SCHED_IDLE, os.sched_param(0))
    try:
        yield
    finally:
        for one in spinning:
            one.kill()
            one.wait()


def decide(bench: Bench, protocol: str, most: int, draws: random.Random) -> list[tuple[str, int]]:
    """Run rounds of a protocol until its bars are decided, or until there are `most`, and return the lines about it."""
    rounds: list[Round] = []
    for look in (*(look for look in LOOKS if look < most), most):
        while len(rounds) < look:
            arms = draws.sample(ARMS, len(ARMS))
            rounds.append({arm: bench.carry_out(protocol, len(rounds), arm) for arm in arms})
        told = list(compare(rounds, protocol))
        print(f"{protocol}: {len(rounds)} rounds", flush=True)
        if all(verdict != OPEN for _, verdict in told):
            break
    return told


def main() -> int:
    most = int(sys.argv[1]) if len(sys.argv) > 1 else LOOKS[-1]
    if not 0 < most <= LOOKS[-1]:
        raise SystemExit(f"MOST is from 1 to {LOOKS[-1]} rounds.")
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.SystemRandom().randrange(2**32)
    print(f"at most {most} rounds, seed {seed}", flush=True)
    draws, subjects = random.Random(seed), catalogue()
    install(subjects["go"], print)
    found = set[int]()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place).resolve()
        bench = Bench(folder, subjects, campaign_certificate(folder / "tls", [SERVER_ADDRESS]), LocalEngine())
        with awake():
            for line, verdict in (told for protocol in ("h2", "h3") for told in decide(bench, protocol, most, draws)):
                print(line + {KEPT: "", BROKEN: "   BEYOND ITS BAR", OPEN: "   open: more rounds"}[verdict], flush=True)
                found.add(verdict)
    return BROKEN if BROKEN in found else max(found)


if __name__ == "__main__":
    sys.exit(main())
