"""Measures how much time lanes save, and whether they change results. Takes about 7 minutes.

    PYTHONPATH=src .venv/bin/python bench/lanes.py [N] [FOLDER]

Runs each block of bench/lanes.yaml twice with the same link seeds: with one trial at a time, and with N trials (by
default 10) at the same time. Prints the time of both, and the ratio of the latencies with and without lanes for each
network and for both networks together. The ratios are paired by block. They are equivalent if the exact interval is
within the margin of 5 %. The exit status is 1 if the ratio for both networks is not equivalent.

The campaigns stay in FOLDER (by default a temporary one). If you name the folder again, only what is missing runs.
"""

import datetime as dt
import json
import math
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from h123.analysis.statistics.signedrank import SignedRank

ROOT = Path(__file__).resolve().parents[1]
BLOCKS, MARGIN = 10, 0.05


def main(arguments: list[str]) -> int:
    lanes = int(arguments[0]) if arguments else 10
    folder = Path(arguments[1] if arguments[1:] else tempfile.mkdtemp(prefix="h123-lanes-"))
    print(f"campaigns in {folder}", flush=True)
    alone, together = folder / "alone", folder / "together"
    for block in range(1, BLOCKS + 1):
        # In turn, so that a machine that slows down favours neither.
        pair = [(alone, 1), (together, lanes)]
        for out, width in pair if block % 2 else reversed(pair):
            _run(out, block, width)
    before, after = _seconds(alone), _seconds(together)
    print(f"{BLOCKS} blocks: {before:.0f} s one after the other, {after:.0f} s with {lanes} lanes ", end="")
    print(f"({after / before:.2f} of the time)")
    _print_attempts(together)
    return _compare(_latencies(alone), _latencies(together))


def _run(out: Path, blocks: int, lanes: int) -> None:
    study = [] if out.exists() else [str(ROOT / "bench/lanes.yaml")]
    options = ["--out", str(out), "--blocks", str(blocks), "--jobs", str(lanes)]
    done = subprocess.run([sys.executable, "-m", "h123", "run", *study, *options], stdout=subprocess.DEVNULL)
    if done.returncode not in (0, 1):  # 1: a trial failed, whose block is compared without it
        done.check_returncode()


def _events(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (out / "journal.jsonl").read_text().splitlines()]


def _seconds(out: Path) -> float:
    """Return the seconds from the start to the end of all runs, without analysis and report."""
    total, began = 0.0, dt.datetime.min
    for event in _events(out):
        now = dt.datetime.fromisoformat(event["time"])
        if event["event"] in ("campaign", "resume"):
            began = now
        elif event["event"] == "finished":
            total += (now - began).total_seconds()
    return total


def _print_attempts(out: Path) -> None:
    trials = [event for event in _events(out) if event["event"] == "trial"]
    codes = Counter(reason["code"] for trial in trials for reason in trial["reasons"])
    beside = sum(not trial["alone"] for trial in trials)
    print(f"with lanes: {len(trials)} attempts, {beside} of them beside others; invalid: {dict(codes) or 'none'}")


def _latencies(out: Path) -> dict[tuple[int, str, str], float]:
    """Return the median latency by block, network and treatment. Trials without a value are left out."""
    values = json.loads((out / "verdicts.json").read_text())["values"]
    named = [((v["block"], v["cell"]["network"], f"{v['cell']}{v['twin']}"), v["metrics"]["latency"]) for v in values]
    return {name: latency for name, latency in named if latency is not None}


def _compare(alone: dict[tuple[int, str, str], float], together: dict[tuple[int, str, str], float]) -> int:
    logs = {key: math.log(together[key] / alone[key]) for key in alone.keys() & together.keys()}
    networks = sorted({network for _, network, _ in logs})
    verdicts = [_print_ratio(network, {k: v for k, v in logs.items() if k[1] == network}) for network in networks]
    verdicts.append(_print_ratio("both", logs))
    return 0 if verdicts[-1] else 1


def _print_ratio(name: str, logs: dict[tuple[int, str, str], float]) -> bool:
    blocks = [[value for (block, _, _), value in logs.items() if block == number] for number in range(1, BLOCKS + 1)]
    found = SignedRank([statistics.fmean(block) for block in blocks if block]).estimate()
    centre, low, high = (math.exp(value) for value in (found.centre, found.low, found.high))
    within = low > 1 / (1 + MARGIN) and high < 1 + MARGIN
    verdict = "equivalent within 5 %" if within else "not shown to be within 5 %"
    print(f"{name}: latency with lanes / without {centre:.3f}, ", end="")
    print(f"{found.confidence:.0%} interval {low:.3f} to {high:.3f}: {verdict}")
    return within


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
