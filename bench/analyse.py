"""Measures the time and the peak memory of `h123 analyse`.

    PYTHONPATH=src .venv/bin/python bench/analyse.py [--blocks 90]

The bars are 6 s for 5 million samples, 20 s for 20 million samples, and 1 GiB for both. Writes synthetic campaigns
(tests/synthetic.py) into a temporary folder and analyses each in a separate process.
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

MAX_SECONDS, MAX_BYTES = {5_000_000: 6.0, 20_000_000: 20.0}, 2**30
TRIALS_A_BLOCK = 12
USERS = 10

ANALYSE = """
import sys
from pathlib import Path
from h123.analysis import analyse
from h123.store import CampaignFolder
analyse(CampaignFolder.open(Path(sys.argv[1])))
"""


def main() -> int:
    """Make the campaigns, measure and print. Return exit status 1 if a bar is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--blocks", type=int, default=90, help="12 trials each")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    met = [_analysed(wanted, arguments.blocks, arguments.seed) for wanted in MAX_SECONDS]
    return 0 if all(met) else 1


def _analysed(wanted: int, blocks: int, seed: int) -> bool:
    """Return whether a campaign of about `wanted` samples met its bars."""
    trials = blocks * TRIALS_A_BLOCK
    requests = math.ceil(wanted / (trials * USERS))
    scenario = Scenario(seed=seed, blocks=blocks, settings={"users": USERS, "requests": requests, "size": 10_000})
    with tempfile.TemporaryDirectory(prefix="h123-bench-") as scratch:
        began = time.monotonic()
        folder = make_campaign(Path(scratch) / "campaign", scenario)
        made = time.monotonic() - began
        print(f"made {trials * USERS * requests} warm samples in {trials} trials in {made:.1f} s (seed {seed})")
        seconds, busy, peak = _measure(folder.path)
    bar = MAX_SECONDS[wanted]
    print(
        f"analyse: {seconds:.2f} s (bar {bar:g} s), {busy:.2f} s of processor time,"
        f" peak memory {peak / 2**20:.0f} MiB (bar {MAX_BYTES / 2**20:.0f} MiB)"
    )
    return seconds <= bar and peak <= MAX_BYTES


def _measure(campaign: Path) -> tuple[float, float, int]:
    """Analyse a campaign in a new process. Return wall time and processor time in seconds, and peak resident bytes."""
    # Compiled modules are kept, as `make bench` and h123 itself have it.
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYTHONDONTWRITEBYTECODE": ""}
    began = time.monotonic()
    process = os.spawnve(os.P_NOWAIT, sys.executable, [sys.executable, "-c", ANALYSE, str(campaign)], environment)
    _, status, usage = os.wait4(process, 0)
    seconds = time.monotonic() - began
    if status != 0:
        raise SystemExit(f"analyse failed with status {os.waitstatus_to_exitcode(status)}")
    return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


if __name__ == "__main__":
    sys.exit(main())
