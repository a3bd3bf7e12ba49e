"""Measures how often a gate gives the right result, for pairs of builds with known differences and many seeds.

    PYTHONPATH=src .venv/bin/python bench/gate.py [--runs 20] [--cases window,same,...] [--keep DIR [--slice 5]]

Under the virtual clock, one new build begins with 10 packets instead of 32 (bar: failed, status 99, in all runs), and
one is the same as the old build (bar: passed, status 0, in 19 of 20). Under the wall clock, one new build takes 5 %
more processor time per request (bar: failed in 19 of 20), and one is the same as the old build (bar: passed in 19 of
20). The output includes the machine's load, because a busy machine affects the results.

With --keep, runs that are already in DIR count and are not repeated, so you can continue an interrupted bench. With
--slice N, the bench ends after N new runs.
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
    """Two builds, the options of `h123 compare`, and the status that it should end with."""

    base: str
    new: str
    options: tuple[str, ...]
    condition: str
    status: int
    bar: float = BAR


@dataclass(frozen=True)
class Outcome:
    """The result of one run."""

    status: int
    seconds: float
    load: float
    ratios: list[float]
    said: str


def cases(folder: Path) -> dict[str, Case]:
    """Return the cases by name. Their programs use the certificate in `folder`."""
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
    """Run `h123 compare` as a user would."""
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
    """Return the result of a run, and make the run if it does not exist or was interrupted. End the program if the run
    ends with an error."""
    file = out.with_suffix(".json")
    if not file.exists():
        shutil.rmtree(out, ignore_errors=True)
        made = run(case, out, seed)
        if made.status not in STATUS.values():
            raise SystemExit(made.said)
        file.write_text(json.dumps(asdict(made)) + "\n")
    return Outcome(**json.loads(file.read_text()))


def told(name: str, case: Case, outcomes: list[Outcome]) -> bool:
    """Print the results of a case, and return whether its bar is met."""
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
