"""Time and peak memory of `h123 analyse` on 5 million samples. The bars: at most 10 s and 2 GiB.

    PYTHONPATH=src .venv/bin/python bench/analyse.py [--samples 5000000] [--blocks 90]

Writes a synthetic campaign (tests/synthetic.py) into a temporary folder, then analyses it in a process of its own.
"""

import argparse
import math
import os
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]

from synthetic import Scenario, make_campaign  # noqa: E402

MAX_SECONDS, MAX_BYTES = 10.0, 2 * 2**30
TRIALS_A_BLOCK = 12
USERS = 10

ANALYSE = """
import sys
from pathlib import Path
from h123.analysis import analyse
from h123.results import CampaignFolder
analyse(CampaignFolder.open(Path(sys.argv[1])))
"""


def main() -> int:
    """Make, measure, print; exit status 1 if a bar is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--samples", type=int, default=5_000_000)
    parser.add_argument("--blocks", type=int, default=90, help="12 trials each")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    requests = math.ceil(arguments.samples / (arguments.blocks * TRIALS_A_BLOCK * USERS))
    scenario = Scenario(
        seed=arguments.seed, blocks=arguments.blocks, settings={"users": USERS, "requests": requests, "size": 10_000}
    )
    with tempfile.TemporaryDirectory(prefix="h123-bench-") as scratch:
        began = time.monotonic()
        folder = make_campaign(Path(scratch) / "campaign", scenario)
        trials = arguments.blocks * TRIALS_A_BLOCK
        samples = trials * USERS * requests
        print(
            f"made {samples} warm samples in {trials} trials in {time.monotonic() - began:.1f} s (seed {scenario.seed})"
        )
        seconds, busy, peak = _measure(folder.path)
    print(
        f"analyse: {seconds:.2f} s (bar {MAX_SECONDS:g} s), {busy:.2f} s of processor time,"
        f" peak memory {peak / 2**20:.0f} MiB (bar {MAX_BYTES / 2**20:.0f} MiB)"
    )
    return 0 if seconds <= MAX_SECONDS and peak <= MAX_BYTES else 1


def _measure(campaign: Path) -> tuple[float, float, int]:
    """Wall and processor time in seconds and peak resident bytes of the analysis in a new process."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    began = time.monotonic()
    process = os.spawnve(os.P_NOWAIT, sys.executable, [sys.executable, "-c", ANALYSE, str(campaign)], environment)
    _, status, usage = os.wait4(process, 0)
    seconds = time.monotonic() - began
    if status != 0:
        raise SystemExit(f"analyse failed with status {os.waitstatus_to_exitcode(status)}")
    return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


if __name__ == "__main__":
    sys.exit(main())
