"""Measures what a campaign's controller spends on a block, and computes how many machines it can keep busy.

    PYTHONPATH=src:tests .venv/bin/python bench/scale.py [--workers 1 4 16]    # needs root
    PYTHONPATH=src:tests .venv/bin/python bench/scale.py --model 0.4 0.001 300000

The first command runs virtual campaigns through Ray on nodes of this machine that share nothing but a network. It
measures the processor time of the controller (h123 and Ray's head) and the bytes on that network, from the end of a
campaign's first trial to the end of its last. What Ray's head spends while nothing runs is subtracted.

The second command takes measured figures: processor seconds per trial, further seconds per trial for each machine, and
bytes per trial. Both commands end with a discrete-event model of up to 1000 machines.
"""

import argparse
import datetime as dt
import heapq
import json
import random
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from campaign.ray_nodes import ADDRESS, Cluster, ray_library

STUDY = """\
h123: study/1
name: scale
question: What does a block cost the controller?
factors: {{protocol: [h2, h3]}}
settings:
  {{server: go, client: go, network: home, congestion: cubic, method: GET, size: 10kB, requests: 5, clock: virtual}}
compare: {{factor: protocol, pairs: [h3/h2], twin: h2, margin: 5%}}
blocks: {blocks}
seed: 7
"""
IDLE_S = 10.0
"""The seconds for which the head is watched before the campaign."""
MACHINES = (1, 10, 30, 100, 300, 1000)
BLOCKS_EACH = 10
LINK_BYTES_S = 125e6
"""The bytes per second of the controller's network (1 Gbit/s)."""
KINDS = {
    "A block of `quick` under the virtual clock: 12 trials, 10 s": (12, 10.0),
    "A block of `rest-api`, `medium`, 2 MB, under the virtual clock: 12 trials, 59 min": (12, 3525.0),
}
"""The trials of a block, and the seconds that a machine takes for it."""
SPREAD = 0.1
"""The standard deviation of the machines' times, as a share of the mean."""


@dataclass(frozen=True)
class Cost:
    """What the controller spends on a trial that a machine has run."""

    seconds: float
    a_machine: float
    """Further seconds for each machine of the pool."""
    size: float
    """The bytes over the network in both directions."""

    def busy_s(self, trials: int, machines: int) -> float:
        """Return how long a block occupies the controller, in seconds."""
        return trials * max(self.seconds + machines * self.a_machine, self.size / LINK_BYTES_S)


def main() -> int:
    """Measure the figures or take them from the command line, print tables and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 4, 16])
    parser.add_argument("--model", type=float, nargs=3, metavar=("SECONDS", "A_MACHINE", "BYTES"))
    given = parser.parse_args()
    if given.model:
        print_model(Cost(*given.model))
        return 0
    print("| workers | processor time a trial | bytes a trial |\n|---|---|---|", flush=True)
    found = []
    for workers in given.workers:
        seconds, size = measure(workers)
        found.append((workers, seconds, size))
        print(f"| {workers} | {seconds * 1e3:.0f} ms | {size / 1e3:.0f} kB |", flush=True)
    print_model(fit(found))
    return 0


def measure(workers: int) -> tuple[float, float]:
    """Return the processor seconds and the bytes that a trial costs the controller."""
    library = ray_library()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        blocks = max(4 * workers, 20)
        (folder / "scale.yaml").write_text(STUDY.format(blocks=blocks))
        with Cluster(library, folder, workers) as cluster:
            time.sleep(IDLE_S)
            before = cluster.head_seconds(), cluster.carried()
            time.sleep(IDLE_S)
            idle, quiet = cluster.head_seconds() - before[0], cluster.carried() - before[1]
            samples = _campaign(cluster, folder)
        events = [json.loads(line) for line in (folder / "out/journal.jsonl").read_text().splitlines()]
    trials = sorted(
        dt.datetime.fromisoformat(event["time"]).timestamp() for event in events if event["event"] == "trial"
    )
    first, last = (min(samples, key=lambda sample: abs(sample[0] - at)) for at in (trials[0], trials[-1]))
    share = (last[0] - first[0]) / IDLE_S
    count = len(trials) - 1
    return (last[1] - first[1] - share * idle) / count, (last[2] - first[2] - share * quiet) / count


def _campaign(cluster: Cluster, folder: Path) -> list[tuple[float, float, int]]:
    """Run a campaign. Return samples of the time, the head's processor seconds so far, and the bytes on the network so
    far."""
    command = ["run", folder / "scale.yaml", "--engine", "ray", "--address", ADDRESS, "--out", folder / "out"]
    run = cluster.h123(command)
    lines = list[str]()
    reader = threading.Thread(target=lambda: lines.extend(run.stdout or ()))
    reader.start()
    samples = list[tuple[float, float, int]]()
    while run.poll() is None:
        samples.append((time.time(), cluster.head_seconds(), cluster.carried()))
        time.sleep(0.5)
    reader.join()
    if run.returncode:
        sys.exit("".join(lines))
    return samples


def fit(found: Sequence[tuple[int, float, float]]) -> Cost:
    """Fit a line through processor seconds by workers, with least squares and a slope of at least zero."""
    n = len(found)
    mean_x = sum(x for x, _, _ in found) / n
    mean_y = sum(y for _, y, _ in found) / n
    squares = sum((x - mean_x) ** 2 for x, _, _ in found)
    slope = max(0.0, sum((x - mean_x) * (y - mean_y) for x, y, _ in found) / squares) if squares else 0.0
    return Cost(mean_y - slope * mean_x, slope, max(size for _, _, size in found))


def print_model(cost: Cost) -> None:
    """Print a table for each kind of block: what different numbers of machines achieve."""
    print(
        f"\nController: {cost.seconds * 1e3:.0f} ms a trial, {cost.a_machine * 1e6:.0f} µs more for each machine, "
        f"{cost.size / 1e3:.0f} kB a trial"
    )
    for kind, (trials, block_s) in KINDS.items():
        print(f"\n{kind}\n\n| machines | speed-up | machines' time in use | controller busy |\n|---|---|---|---|")
        for machines in MACHINES:
            took, work, busy = simulate(machines, BLOCKS_EACH * machines, block_s, cost.busy_s(trials, machines))
            print(f"| {machines} | {work / took:.0f} | {work / took / machines:.0%} | {busy / took:.0%} |")


def simulate(machines: int, blocks: int, block_s: float, busy_s: float) -> tuple[float, float, float]:
    """Return three times in seconds: how long a campaign takes, how long its machines work in total, and how long the
    controller works.

    The controller handles one block at a time, in the order of arrival, and then gives the machine its next block.
    """
    times = _times(block_s, seed=1)
    drawn = [next(times) for _ in range(blocks)]
    given = min(machines, blocks)
    ends = drawn[:given]
    heapq.heapify(ends)
    free = 0.0
    while ends:
        free = max(heapq.heappop(ends), free) + busy_s
        if given < blocks:
            heapq.heappush(ends, free + drawn[given])
            given += 1
    return free, sum(drawn), blocks * busy_s


def _times(mean: float, seed: int) -> Iterator[float]:
    draw = random.Random(seed)
    while True:
        yield max(mean / 10, draw.gauss(mean, SPREAD * mean))


if __name__ == "__main__":
    sys.exit(main())
