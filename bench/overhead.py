"""Measures what a campaign costs beyond what its clients measure: `make bench`.

Runs a study whose trials take 2 s or more. Prints the wall time divided by the sum of the clients' run times (bar: at
most 1.15), and the time to set up and tear down a trial (bar: at most 0.5 s).
"""

import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "campaign"
        began = time.monotonic()
        command = [str(ROOT / "h123"), "run", str(ROOT / "bench/overhead.yaml"), "--out", str(out)]
        done = subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
        wall = time.monotonic() - began
        if done.returncode:
            return done.returncode
        phases = [json.loads(path.read_text())["phases_ns"] for path in sorted(out.glob("trials/*/report.json"))]
    clients = [phase["main"] / 1e9 for phase in phases]
    around = [(phase["setup"] + phase["ready"] + phase["teardown"]) / 1e9 for phase in phases]
    print(f"campaign: {len(phases)} trials, client run time min {min(clients):.2f} s, sum {sum(clients):.1f} s")
    print(f"  wall / sum of client run times   {wall / sum(clients):.3f}   (bar 1.15)")
    middle, most = statistics.median(around), max(around)
    print(f"  set-up + tear-down of a trial    median {middle:.3f} s, max {most:.3f} s   (bar 0.5 s)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
