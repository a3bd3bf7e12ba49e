"""What the client load costs beside others, for the same requests of the same server: `bench/load.yaml`.

    PYTHONPATH=src .venv/bin/python bench/load.py [--blocks N] [--only FACTOR=LEVEL,...]... [--keep DIR]

Processor time a request and memory, as ratios over the blocks with the intervals that every study has; the clients run
in random order within a block, and processor time counts instead of wall time, so that a busy machine matters little.
Bars: as much as h2load at most, 0.4 of go's processor time. A bar is missed where the whole interval is beyond it.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
STUDY = ROOT / "bench/load.yaml"
BARS = {("cpu_client", "h2load"): 1.0, ("memory_client", "h2load"): 1.0, ("cpu_client", "go"): 0.4}
"""By metric and the other client's subject."""
TITLES = {"cpu_client": "processor time a request", "memory_client": "memory"}


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--blocks", type=int, help="how many [default: as the study says]")
    parser.add_argument("--only", metavar="FACTOR=LEVEL,...", action="append", default=[], help="as of `h123 run`")
    parser.add_argument("--keep", metavar="DIR", help="the campaign's folder [default: none stays]")
    asked = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(asked.keep or Path(scratch) / "campaign")
        command = [str(ROOT / "h123"), "run", str(STUDY), "--out", str(folder)]
        command += ["--blocks", str(asked.blocks)] if asked.blocks else []
        command += [word for only in asked.only for word in ("--only", only)]
        done = subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
        if not (folder / "verdicts.json").is_file():
            return done.returncode or 1
        verdicts = json.loads((folder / "verdicts.json").read_text())
    missed = [told for metric in TITLES for told in table(verdicts, metric)]
    print("\n".join(["", "missed:", *missed]) if missed else "\nall bars are met")
    return 1 if missed else 0


def table(verdicts: dict[str, Any], metric: str) -> list[str]:
    """Prints the ratios of one metric; returns those that miss their bar."""
    found = [one for one in verdicts["comparisons"] if one["metric"] == metric and not one["twin"]]
    missed = []
    print(f"\n{TITLES[metric]}, ratio (interval), {verdicts['blocks']['complete']} blocks")
    for one in found:
        name = f"{one['a']} / {one['b']}, {one['cell']['load']}"
        if one["ratio"] is None:
            print(f"{name:<36} no figures")
            continue
        values = f"{one['a_median']:.4g} / {one['b_median']:.4g}"
        print(f"{name:<36} {one['ratio']:.3f} ({one['low']:.3f} to {one['high']:.3f})   {values}")
        bar = BARS.get((metric, one["b"].partition("-")[0]))
        if bar is not None and one["low"] > bar:
            missed.append(f"{name}: {one['ratio']:.3f}, bar {bar}")
    return missed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
