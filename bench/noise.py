"""Makes this machine noisy while a command runs: a real-time thread takes each processor away in bursts.

    PYTHONPATH=src .venv/bin/python bench/noise.py --share 0.02 --bursts 1-8 -- ./h123 run quick

The length of a burst is drawn uniformly from the given range in milliseconds. The pause after it is drawn from an
exponential distribution, so that bursts take the given share of the time. Processors are independent of each other. The
same seed gives the same bursts.
"""

import argparse
import multiprocessing
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.synchronize import Event

PRIORITY = 99
"""The priority is above that of the link's thread, as a host that takes the processor away is above everything."""
LONGEST_S = 3600.0
"""The time after which the noise stops by itself, whatever happens to the command."""


@contextmanager
def noise(share: float, shortest_s: float, longest_s: float, seed: int = 1) -> Iterator[None]:
    """Make noise on every processor while the context is open. `share` is the share of each processor's time, from 0
    (no noise) to 0.9.

    Raises PermissionError if the machine refuses real-time priority.
    """
    if share == 0:
        yield
        return
    if not 0 < share <= 0.9:
        raise ValueError(
            f"a share of {share:g}: beyond 0.9 the kernel throttles real-time threads with pauses of its own"
        )
    over = multiprocessing.Event()
    makers = [
        multiprocessing.Process(target=_burst, args=(cpu, share, shortest_s, longest_s, seed + cpu, over), daemon=True)
        for cpu in sorted(os.sched_getaffinity(0))
    ]
    for maker in makers:
        maker.start()
    try:
        yield
    finally:
        over.set()
        for maker in makers:
            maker.join()


def _burst(cpu: int, share: float, shortest_s: float, longest_s: float, seed: int, over: Event) -> None:
    os.sched_setaffinity(0, [cpu])
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(PRIORITY))
    parent, draws = os.getppid(), random.Random(seed)
    pause_s = (shortest_s + longest_s) / 2 * (1 - share) / share
    until = time.monotonic() + LONGEST_S
    while not over.is_set() and time.monotonic() < until and os.getppid() == parent:
        time.sleep(draws.expovariate(1 / pause_s))
        end = time.monotonic() + draws.uniform(shortest_s, longest_s)
        while time.monotonic() < end:
            pass


def _range_s(text: str) -> tuple[float, float]:
    shortest, longest = (float(part) / 1000 for part in text.split("-"))
    return shortest, longest


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--share", type=float, required=True, help="of each processor's time: 0.02 for 2 %%")
    parser.add_argument("--bursts", type=_range_s, default="1-8", metavar="MS-MS", help="how long a burst takes (1-8)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="-- COMMAND ...")
    asked = parser.parse_args()
    command = asked.command[1:] if asked.command[:1] == ["--"] else asked.command
    if not command:
        parser.error("name the command to run meanwhile, after --")
    with noise(asked.share, *asked.bursts, seed=asked.seed):
        return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
