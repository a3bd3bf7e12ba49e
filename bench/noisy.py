"""Measures what a noisy machine does to a short campaign (bench/noisy.yaml): `make bench`.

    PYTHONPATH=src .venv/bin/python bench/noisy.py [--campaigns 10] [--study studies/quick.yaml] [--keep DIR]

Runs the study in turn on a quiet machine and under artificial noise (bench/noise.py) of 2 % (bursts of 1 to 8 ms), 5 %
and 20 % (bursts of 2 to 20 ms) on each processor. Each campaign has a different seed. For each level it prints:

- the time compared with the quiet campaigns (bar: at most twice as long);
- how many trials counted (bar: all);
- how many verdicts contradict those of quiet campaigns (bar: none);
- how many A/A comparisons differ (bar: within the 99 % binomial interval of what chance allows).

At 20 %, the only bar is that campaigns end with status 0.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from noise import noise
from scipy.stats import binom

ROOT = Path(__file__).resolve().parents[1]
LEVELS = {
    "quiet": (0.0, 0.001, 0.008),
    "2 %": (0.02, 0.001, 0.008),
    "5 %": (0.05, 0.002, 0.020),
    "20 %": (0.20, 0.002, 0.020),
}
ONLY_ENDS = {"20 %"}
BAND = 0.99


@dataclass(frozen=True)
class Outcome:
    """The result of one campaign."""

    seconds: float
    status: int
    verdicts: dict[str, Any]

    @property
    def decided(self) -> dict[str, str]:
        """The verdicts by comparison, without inconclusive ones."""
        rows = [c for c in self.verdicts["comparisons"] if not c["twin"] and c["verdict"] != "inconclusive"]
        return {json.dumps([c[key] for key in ("cell", "metric", "a", "b")]): c["verdict"] for c in rows}


def run(study: Path, out: Path, seed: int, level: str) -> Outcome:
    """Run one campaign under the noise of a level."""
    with noise(*LEVELS[level], seed=1000 * seed):
        began = time.monotonic()
        command = [str(ROOT / "h123"), "run", str(study), "--seed", str(seed), "--out", str(out)]
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        seconds = time.monotonic() - began
    file = out / "verdicts.json"
    return Outcome(seconds, done.returncode, json.loads(file.read_text()) if file.exists() else {})


def tell(level: str, outcomes: list[Outcome], quiet: list[Outcome]) -> bool:
    """Print a level's figures, and return whether all its bars are met."""
    whole = [o for o in outcomes if o.verdicts and o.status == 0]
    ratio = sum(o.seconds for o in outcomes) / sum(o.seconds for o in quiet)
    counted, planned = (sum(o.verdicts["trials"][name] for o in whole) for name in ("valid", "planned"))
    disturbed = sum(o.verdicts["disturbances"]["trials"] for o in whole)
    against = [
        key
        for one in whole
        for other in quiet
        for key, verdict in one.decided.items()
        if other.decided.get(key, verdict) != verdict
    ]
    twins, rejected = (sum(o.verdicts["twins"][name] for o in whole) for name in ("comparisons", "rejected"))
    expected = whole[0].verdicts["twins"]["expected"] if whole else 0.05
    most = int(binom.ppf((1 + BAND) / 2, twins, expected))
    decided = sum(len(o.decided) for o in whole)
    asked = sum(not c["twin"] for o in whole for c in o.verdicts["comparisons"])
    ended = len(whole) == len(outcomes)
    met = ended and counted == planned and ratio <= 2 and not against and rejected <= most
    print(
        f"{level:>5}: {len(whole)} of {len(outcomes)} campaigns ended well, time {ratio:.2f} of the quiet ones', "
        f"{counted} of {planned} trials counted, {disturbed} disturbed, {decided} of {asked} comparisons decided, "
        f"{len(set(against))} contradictory; A/A {rejected} of {twins} differ (at most {most})",
        flush=True,
    )
    return met if level not in ONLY_ENDS else ended


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--campaigns", type=int, default=1, help="of each level")
    parser.add_argument("--study", type=Path, default=ROOT / "bench/noisy.yaml")
    parser.add_argument("--keep", type=Path, help="folder for the campaigns; else they are deleted")
    asked = parser.parse_args()
    outcomes: dict[str, list[Outcome]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as temporary:
        for seed in range(1, asked.campaigns + 1):
            for number, level in enumerate(LEVELS):
                out = (asked.keep or Path(temporary)) / f"{seed}-{number}"
                outcomes[level].append(run(asked.study, out, seed, level))
    met = {level: tell(level, found, outcomes["quiet"]) for level, found in outcomes.items()}
    for level in (level for level, all_met in met.items() if not all_met):
        print(f"{level}: a bar is missed", flush=True)
    return 0 if all(met.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
