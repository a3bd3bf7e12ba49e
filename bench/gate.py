"""How often a gate says what is so: two builds, held against a condition again and again, each time with another seed.

    PYTHONPATH=src .venv/bin/python bench/gate.py [--runs 20] [--cases window,same,...] [--keep DIR [--slice 5]]

Under the virtual clock: a build that begins with 10 packets where the old one begins with 32 (bar: failed, 99, in all
runs), and the same build twice (bar: passed, 0, in 19 of 20). Under the wall clock: a build whose requests take 5 %
more processor time (bar: failed in 19 of 20), and the same build twice (bar: passed in 19 of 20). What else the machine
did meanwhile is told as its load: figures of a busy machine are those of a busy machine. Runs that DIR has count and
are not made again, so that a bench can be gone on with; --slice ends it when so many more are there.
"""

import argparse
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

from h123.catalogue import catalogue, install, prefix
from h123.execution import campaign_certificate
from h123.gate import STATUS

ROOT = Path(__file__).resolve().parents[1]
BAR = 0.95
WORK = 20_000
"""Kilobytes that the old build hashes for a request: some 20 ms."""
URL = "https://localhost:8443"


@dataclass(frozen=True)
class Case:
    """Two builds, what they are asked, and what the gate is to say."""

    base: str
    new: str
    options: tuple[str, ...]
    condition: str
    status: int
    bar: float = BAR


@dataclass(frozen=True)
class Outcome:
    """One run."""

    status: int
    seconds: float
    load: float
    ratios: list[float]
    said: str


def cases(folder: Path) -> dict[str, Case]:
    """By name; their programs need the certificate in the folder."""
    tls = campaign_certificate(folder, ["127.0.0.1"])
    go = catalogue()["go"]
    install(go, print)
    options = "--tls=1.3 --qlog= --alt-svc= --documents= --pacing= --max-datagram= --initial-window="
    program = f"{shlex.quote(str(prefix(go) / 'h123-go'))} serve --address 0.0.0.0 --port 8443 --protocol h3"
    serve = f"{program} --cert {tls.cert} --key {tls.key} {options}"
    hashing = shlex.join([sys.executable, str(ROOT / "bench/gate_server.py"), str(tls.cert), str(tls.key)])
    sent = ("--url", f"{URL}/bytes/60000", "--protocols", "h3", "--networks", "home", "--load", "1x2")
    virtual = (*sent, "--clock", "virtual", "--max-blocks", "8")
    worked = ("--url", f"{URL}/", "--protocols", "h1", "--networks", "lan", "--load", "1x40", "--max-blocks", "30")
    slower = round(WORK * 1.05)
    window, cost = "cold_latency new/base > 1.05", "cpu_server new/base > 1.02"
    return {
        "window": Case(serve, f"{serve}10", virtual, window, 99, bar=1.0),
        "same": Case(serve, serve, virtual, window, 0),
        "slower-wall": Case(f"{hashing} {WORK}", f"{hashing} {slower}", worked, cost, 99),
        "same-wall": Case(f"{hashing} {WORK}", f"{hashing} {WORK}", worked, cost, 0),
    }


def run(case: Case, out: Path, seed: int) -> Outcome:
    """As a person would."""
    servers = ("--server", f"base={case.base}", "--server", f"new={case.new}")
    command = [sys.executable, "-m", "h123", "compare", *servers, *case.options, "--fail-if", case.condition]
    began = time.monotonic()
    done = subprocess.run(
        [*command, "--seed", str(seed), "--out", str(out)], capture_output=True, text=True, check=False
    )
    seconds, gate = time.monotonic() - began, out / "gate.json"
    cells = json.loads(gate.read_text())["conditions"][0]["cells"] if gate.exists() else []
    ratios = [cell["ratio"] for cell in cells if cell["ratio"]]
    return Outcome(done.returncode, seconds, os.getloadavg()[1], ratios, done.stderr)


def kept(case: Case, out: Path, seed: int) -> Outcome:
    """The run, made where it is not there yet. One that was broken off is made again; an error ends the bench."""
    file = out.with_suffix(".json")
    if not file.exists():
        shutil.rmtree(out, ignore_errors=True)
        made = run(case, out, seed)
        if made.status not in STATUS.values():
            raise SystemExit(made.said)
        file.write_text(json.dumps(asdict(made)) + "\n")
    return Outcome(**json.loads(file.read_text()))


def told(name: str, case: Case, outcomes: list[Outcome]) -> bool:
    """Prints what came of a case; whether the bar is met."""
    right = sum(one.status == case.status for one in outcomes)
    statuses = Counter(one.status for one in outcomes)
    ratios = sorted(ratio for one in outcomes for ratio in one.ratios)
    between = f"{ratios[0]:.4f} to {ratios[-1]:.4f}" if ratios else "none"
    seconds, load = (median(values) for values in zip(*((one.seconds, one.load) for one in outcomes), strict=True))
    print(f"{name}: {case.condition}: status {case.status} in {right} of {len(outcomes)} runs (bar: {case.bar:.0%})")
    times = f"{seconds:.0f} s a run, load {load:.1f} (medians)"
    print(f"  statuses {dict(sorted(statuses.items()))}; ratios {between}; {times}")
    return right >= case.bar * len(outcomes)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--cases", type=lambda text: text.split(","))
    parser.add_argument("--keep", type=Path, metavar="DIR", help="where the runs go, and may be already")
    parser.add_argument("--slice", type=int, metavar="N", help="make no more than N runs now, for --keep")
    asked = parser.parse_args()
    met, left = True, asked.slice
    with tempfile.TemporaryDirectory() as scratch:
        folder = asked.keep or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        known = cases(folder / "tls")
        for name in asked.cases or known:
            outcomes = []
            for seed in range(1, asked.runs + 1):
                out = folder / f"{name}-{seed}"
                if left is not None and not out.with_suffix(".json").exists():
                    if left == 0:
                        break
                    left -= 1
                outcomes.append(kept(known[name], out, seed))
            met &= not outcomes or told(name, known[name], outcomes)
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
