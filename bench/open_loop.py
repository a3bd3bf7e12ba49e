"""Measures how punctual the client `load` is in an open loop, and whether its times include a pause of the server.

    PYTHONPATH=src .venv/bin/python bench/open_loop.py [--rate 20000] [--seconds 5] [--stall 0.2] [--protocol h2]
                                                       [--server go] [--seed N]

Requests for 1 kB go over loopback. The client has the last processor to itself, and the server has the others. The
first row shows how much later than intended the client started requests (bar: 0.2 ms at the 99th percentile).

In the second row, over HTTP/1.1, SIGSTOP stops the server for a while. Requests that are due meanwhile wait in one
queue for the next free connection. (HTTP/2 and HTTP/3 would leave the order to the server.) Afterwards the server
answers them at a constant rate. So the k-th request takes the rest of the stall after it was due, plus k times the
server's time for one request. This time per request is the only value taken from the run: it follows from when the last
of them was answered. The bar: no decile of the latencies differs from this by more than a tenth of the stall, and no
request took less than the rest of the stall.
"""

import argparse
import csv
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import quantiles

from load import Place

from h123.catalogue import catalogue, install, prefix

BAR_NS = 200_000
PROCESSORS = os.sched_getaffinity(0)
CONNECTIONS = 8


def run(folder: Path, asked: argparse.Namespace, protocol: str, stall: float) -> bool:
    """Print a row, and return whether its bar is met."""
    with Place(protocol, catalogue()[asked.server]) as place:
        place.leave({max(PROCESSORS)})
        print(end=f"{protocol}: ", flush=True)
        return _row(place, folder, asked, stall)


def _row(place: Place, folder: Path, asked: argparse.Namespace, stall: float) -> bool:
    requests = int(asked.rate * asked.seconds / CONNECTIONS)
    workload = place.workload(CONNECTIONS, requests, 1000) | {"rate": asked.rate, "warmup": 0, "seed": asked.seed}
    (folder / "workload.json").write_text(json.dumps(workload))
    load = str(prefix(catalogue()["load"]) / "h123-load")
    files = ["--workload", "workload.json", "--samples", "samples.csv", "--facts", "facts.json"]
    command = [load, *files, "--congestion", "cubic", "--max-datagram", ""]
    os.sched_setaffinity(0, {max(PROCESSORS)})  # for the client, which inherits it
    client = subprocess.Popen(command, cwd=folder, stderr=subprocess.DEVNULL)
    os.sched_setaffinity(0, PROCESSORS)
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
    times = [(int(row["start_ns"]), int(row["end_ns"])) for row in rows]
    return _queued(sorted(time for time in times if stopped < time[0] < resumed), stopped, resumed)


def _queued(waited: list[tuple[int, int]], stopped: int, resumed: int) -> bool:
    """Print how long the requests that were due in a stall took, and return whether that is as it must be. `waited` has
    their starts and ends."""
    each = (max(end for _, end in waited) - resumed) / len(waited)
    found = quantiles(((end - start) / 1e6 for start, end in waited), n=10)
    told = quantiles(((resumed - start + k * each) / 1e6 for k, (start, _) in enumerate(waited, 1)), n=10)
    off = max(abs(one - other) for one, other in zip(found, told, strict=True))
    early = sum(end < resumed for _, end in waited)
    print(f"{len(waited)} requests were due in {(resumed - stopped) / 1e6:.0f} ms of stall, and took", end=" ")
    print(f"{found[0]:.0f}, {found[4]:.0f}, {found[8]:.0f} ms (10, 50, 90 %); by the queue's arithmetic", end=" ")
    print(f"{told[0]:.0f}, {told[4]:.0f}, {told[8]:.0f}; furthest apart {off:.0f} ms; {early} answered in the stall")
    return off <= (resumed - stopped) / 1e7 and not early


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rate", type=float, default=20_000)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--stall", type=float, default=0.2)
    parser.add_argument("--protocol", choices=["h1", "h2", "h3"], default="h2")
    parser.add_argument("--server", choices=["go", "quinn"], default="go")
    parser.add_argument("--seed", type=int, default=random.randrange(2**32))
    asked = parser.parse_args()
    for name in (asked.server, "load"):
        install(catalogue()[name], print)
    what = f"{asked.rate:g} requests a second of {asked.server} for {asked.seconds:g} s"
    print(f"{what}, seed {asked.seed}", flush=True)
    with tempfile.TemporaryDirectory() as scratch:
        rows = [(asked.protocol, 0.0), ("h1", asked.stall)]
        met = [run(Path(scratch), asked, protocol, stall) for protocol, stall in rows]
    print("all bars are met" if all(met) else "a bar is missed")
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
