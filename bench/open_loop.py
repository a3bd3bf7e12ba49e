"""How punctual the client load is in an open loop, and whether it counts what a server that stands still does to it.

    PYTHONPATH=src .venv/bin/python bench/open_loop.py [--rate 20000] [--seconds 5] [--stall 0.2] [--protocol h2]
                                                       [--seed N]

Over loopback, 1 kB from the server go. First row: how late load took requests up, by their intended start. Bar: 0.2 ms
at the 99th percentile. Second row: the server is stopped for a while (SIGSTOP). A request that is due t before it goes
on takes t, and as long as the server needs then for those that wait. Bar: that is at most a tenth of the stall at the
median, and no request takes less than t.
"""

import argparse
import csv
import json
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from load import Place

from h123.catalogue import catalogue, install, prefix

BAR_NS = 200_000
CONNECTIONS = 8


def run(place: Place, folder: Path, asked: argparse.Namespace, stall: float) -> bool:
    """Prints a row; whether its bar is met."""
    requests = int(asked.rate * asked.seconds / CONNECTIONS)
    workload = place.workload(CONNECTIONS, requests, 1000) | {"rate": asked.rate, "warmup": 0, "seed": asked.seed}
    (folder / "workload.json").write_text(json.dumps(workload))
    load = str(prefix(catalogue()["load"]) / "h123-load")
    files = ["--workload", "workload.json", "--samples", "samples.csv", "--facts", "facts.json"]
    client = subprocess.Popen([load, *files, "--congestion", "cubic", "--max-datagram", ""], cwd=folder)
    stopped = resumed = 0
    if stall:
        time.sleep(asked.seconds / 2)
        place.signal(signal.SIGSTOP)
        stopped = time.monotonic_ns()
        time.sleep(stall)
        resumed = time.monotonic_ns()
        place.signal(signal.SIGCONT)
    if client.wait():
        raise SystemExit("load failed")
    with (folder / "samples.csv").open() as text:
        rows = list(csv.DictReader(text))
    if failed := [row for row in rows if row["error"]]:
        raise SystemExit(f"{len(failed)} requests failed, the first: {failed[0]['error']}")
    if not stall:
        late = json.loads((folder / "facts.json").read_text())["delay"]["late_ns"]
        middle, most = late["p50"] / 1e3, late["p99"] / 1e3
        print(f"{len(rows)} requests, late by {middle:.0f} µs at the median, {most:.0f} µs at the 99th percentile")
        return bool(late["p99"] <= BAR_NS)
    waited = [(int(row["start_ns"]), int(row["end_ns"])) for row in rows if stopped < int(row["start_ns"]) < resumed]
    beyond = [(end - resumed) / 1e6 for _, end in waited]
    length = median((end - start) / 1e6 for start, end in waited)
    print(f"{len(waited)} of {len(rows)} requests were due in {(resumed - stopped) / 1e6:.0f} ms of stall:", end=" ")
    print(f"{length:.0f} ms at the median, {median(beyond):.1f} ms of it after it went on (least: {min(beyond):.1f})")
    return median(beyond) <= stall * 1e3 / 10 and min(beyond) >= 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rate", type=float, default=20_000)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--stall", type=float, default=0.2)
    parser.add_argument("--protocol", choices=["h1", "h2", "h3"], default="h2")
    parser.add_argument("--seed", type=int, default=random.randrange(2**32))
    asked = parser.parse_args()
    for name in ("go", "load"):
        install(catalogue()[name], print)
    print(f"{asked.protocol}, {asked.rate:g} requests a second for {asked.seconds:g} s, seed {asked.seed}", flush=True)
    with tempfile.TemporaryDirectory() as scratch, Place(asked.protocol) as place:
        met = [run(place, Path(scratch), asked, stall) for stall in (0, asked.stall)]
    print("all bars are met" if all(met) else "a bar is missed")
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
