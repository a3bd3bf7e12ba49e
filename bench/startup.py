"""Measures the processor time of commands that a user waits for: `--version`, `--help`, `list studies` and `claims`.

    PYTHONPATH=src .venv/bin/python bench/startup.py [--runs 7]

The bars are 0.25 s for `--version` and `--help`, 0.5 s for `list studies`, and 1 s for `claims`. Each run is a separate
process. A first run, in which Python compiles its modules, does not count; the result is the median of the others.
"""

import argparse
import os
import statistics
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BARS = {("--version",): 0.25, ("--help",): 0.25, ("list", "studies"): 0.5, ("claims",): 1.0}
"""The bars in seconds, by the command's words."""


def main() -> int:
    """Measure and print the times. Return exit status 1 if a bar is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition(":")[0])
    parser.add_argument("--runs", type=int, default=7)
    runs = parser.parse_args().runs
    print(f"processor time of a command, median of {runs} runs (least to most)")
    met = [_within(words, bar, runs) for words, bar in BARS.items()]
    return 0 if all(met) else 1


def _within(words: Sequence[str], bar: float, runs: int) -> bool:
    """Measure a command, and return whether it met its bar."""
    _seconds(words)
    taken = sorted(_seconds(words) for _ in range(runs))
    median = statistics.median(taken)
    print(f"h123 {' '.join(words):13} {median:.3f} s (bar {bar:g} s), {taken[0]:.3f} to {taken[-1]:.3f} s")
    return median <= bar


def _seconds(words: Sequence[str]) -> float:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    process = subprocess.Popen([sys.executable, "-m", "h123", *words], env=environment, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"h123 {' '.join(words)} ended with exit status {process.returncode}")
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    sys.exit(main())
