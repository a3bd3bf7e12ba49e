"""What it costs to keep the evidence of every trial: `make bench`.

    PYTHONPATH=src python bench/evidence.py [PAIRS]

Downloads by the embedded pair over 100 Mbit/s, with evidence and without, one after the other, in alternating order.
Ratios are taken within each pair: of the lab's processor time (bar: at most 3 % more) and of the study's metrics (bar:
1 % either way); their medians stand with the 95 % interval of the sign test. Then what a packet takes on the disk
(bar: 20 bytes).
"""

import json
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import NormalDist, median

from h123.catalogue import Subject, catalogue, install
from h123.results import ingest, read_document, tabulate_evidence, trial_metrics, write_document
from h123.results.lab_report import Report
from h123.results.packets import read_packets
from h123.results.trial_files import Trial
from h123.study import Network, Parameters, PlannedTrial
from h123.study.network import Bottleneck, Direction, Queue
from h123.trial import SERVER_ADDRESS, Certificate, LocalEngine, campaign_certificate, write_trial_files

WAY = Direction(delay_ns=10_000_000, rate=Bottleneck(bps=100_000_000), queue=Queue(bytes=250_000))
NETWORK = Network(name="evidence", title="100 Mbit/s", up=WAY, down=WAY)
METRICS = ("latency", "goodput")
BARS = {"lab": (0.0, 1.03), "latency": (0.99, 1.01), "goodput": (0.99, 1.01)}
DISK_BAR_BYTES = 20


@dataclass(frozen=True)
class Outcome:
    """Of a trial."""

    values: dict[str, float]
    """The lab's processor time, s, and the metrics."""
    packets: int
    disk_bytes: int
    tabulate_s: float
    """Of the processor, to turn the evidence into tables."""


@dataclass(frozen=True)
class Bench:
    """Where the trials are."""

    folder: Path
    subjects: dict[str, Subject]
    certificate: Certificate
    engine: LocalEngine

    def carry_out(self, protocol: str, number: int, *, evidence: bool) -> Outcome:
        settings = {"server": "go", "client": "go", "congestion": "cubic", "method": "GET", "network": NETWORK.name}
        load = {"protocol": protocol, "size": "2MB", "users": 4, "requests": 4, "cold": False}
        parameters = Parameters.model_validate({**settings, **load})
        folder = self.folder / f"{protocol}-{number}-{evidence}"
        folder.mkdir()
        planned = PlannedTrial(folder.name, 1, 1, {}, False, parameters, number)
        networks = {NETWORK.name: NETWORK}
        write_trial_files(folder, planned, networks, self.subjects, self.certificate, check=False)
        if not evidence:
            trial = read_document(folder / "trial.json", Trial)
            trial.tcp_account, trial.links[0].packets = False, 0
            write_document(folder / "trial.json", trial)
        self.engine.start(folder, {"tls": self.certificate.folder}, self.engine.places[0])
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
    return Outcome({"lab": (report.machine.lab_ns or 0) / 1e9, **values}, *kept, tabulate_s)


def interval(values: list[float]) -> tuple[float, float]:
    """Of the median, by the ranks of the sign test, 95 %."""
    count = len(values)
    rank = max(0, int((count - NormalDist().inv_cdf(0.975) * count**0.5) / 2))
    return sorted(values)[rank], sorted(values)[count - 1 - rank]


def compare(bench: Bench, protocol: str, pairs: int) -> Iterator[tuple[str, bool]]:
    """Lines about a protocol, each with whether it keeps its bar."""
    pairs_of = list[dict[bool, Outcome]]()
    for number in range(pairs):
        order = (True, False) if number % 2 else (False, True)
        pairs_of.append({evidence: bench.carry_out(protocol, number, evidence=evidence) for evidence in order})
    for name, (low_bar, high_bar) in BARS.items():
        ratios = [pair[True].values[name] / pair[False].values[name] for pair in pairs_of]
        low, high = interval(ratios)
        without = median(pair[False].values[name] for pair in pairs_of)
        told = f"with / without {median(ratios):.4f}, {low:.4f} to {high:.4f}   (without: {without:.4g})"
        yield f"{protocol} {name:8} {told}", low_bar <= median(ratios) <= high_bar
    packets = sum(pair[True].packets for pair in pairs_of)
    size = sum(pair[True].disk_bytes for pair in pairs_of) / packets
    seconds = sum(pair[True].tabulate_s for pair in pairs_of) / packets
    told = f"{size:.1f} bytes a packet, {packets // pairs} packets a trial, made in {seconds * 1e6:.2f} us each"
    yield f"{protocol} disk: {told}", size <= DISK_BAR_BYTES


def main() -> int:
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    subjects = catalogue()
    install(subjects["go"], print)
    kept = True
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place).resolve()
        certificate = campaign_certificate(folder / "tls", [SERVER_ADDRESS])
        bench = Bench(folder, subjects, certificate, LocalEngine())
        for protocol in ("h2", "h3"):
            for line, within in compare(bench, protocol, pairs):
                print(line + ("" if within else "   BEYOND ITS BAR"), flush=True)
                kept = kept and within
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
