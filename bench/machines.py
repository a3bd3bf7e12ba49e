"""Measures how often campaigns on four machines give wrong results, and how often they name the machine that differs.

    PYTHONPATH=src:tests .venv/bin/python bench/machines.py [--campaigns 1000] [--seed 1]

One machine is slow, or its ratios are off by an amount that matters a lot, a little or not at all. A false difference
is one between two levels that do not differ on the other three machines. The bars, each with two standard errors, are:

- false differences occur in at most 5 % of campaigns;
- if all machines have the same ratios, a machine is named in at most 1 % of campaigns;
- a machine whose ratios are off by half is left out in at least 95 % of campaigns with 24 blocks or more.

The exit status is 1 if a bar is missed.
"""

import argparse
import math
import sys
from dataclasses import replace

import numpy as np

from analysis.machine_campaigns import ALPHA, ODD, Machines, analysed
from h123.analysis.machines.rule import LEVEL

KINDS = {
    "all alike": Machines(),
    "all alike, heavy tails": Machines(heavy=True),
    "ratios vary by 1 %": Machines(spread=0.01),
    "one slow by half": Machines(slow=1.5),
    "one off by 5 %": Machines(off=1.05),
    "one off by 10 %": Machines(off=1.1, slow=1.5),
    "one off by 20 %": Machines(off=1.2, slow=1.5),
    "one off by 50 %": Machines(off=1.5, slow=1.5),
    "the same, noise threefold": Machines(off=1.5, slow=1.5, wild=3.0),
}
BLOCKS = (8, 12, 24, 40)
FOUND = 0.95


def main() -> int:
    """Draw campaigns, judge them and print the results. Return exit status 1 if a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--campaigns", type=int, default=1000, help="of each kind")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    print(f"{asked.campaigns} campaigns of each kind, four machines, ratios vary by 5 %, margin 5 %, seed {asked.seed}")
    print("machines                   blocks  slow named  left out  others named  false diff.  coverage  power at 1.1")
    missed = [line for kind in KINDS for blocks in BLOCKS for line in _row(kind, blocks, asked.campaigns, asked.seed)]
    for line in missed:
        print(f"missed: {line}")
    return 1 if missed else 0


def _row(kind: str, blocks: int, campaigns: int, seed: int) -> list[str]:
    """Print the row of a kind and a number of blocks, and return the bars that it misses."""
    truth, random = replace(KINDS[kind], blocks=blocks), np.random.default_rng([seed, blocks, *kind.encode()])
    same = [analysed(truth, random) for _ in range(campaigns)]
    other = [analysed(truth, random, ratio=1.1) for _ in range(campaigns)]
    slow = np.mean([ODD in found.named("level") or ODD in found.left_out for found in same])
    out = np.mean([ODD in found.left_out for found in same])
    alike = truth.off == 1 and not truth.spread
    wrong = np.mean([bool(found.named("ratio", "twin") - (set() if alike else {ODD})) for found in same])
    false = np.mean([found.different for found in same])
    covered = np.mean([found.low <= 1 <= found.high for found in same])
    power = np.mean([found.verdict == "slower" for found in other])
    shown = f"{slow:10.1%}  {out:8.1%}  {wrong:12.1%}  {false:11.1%}  {covered:8.1%}  {power:12.1%}"
    print(f"{kind:<25}  {blocks:>6}  {shown}", flush=True)
    bars = {
        "false differences": false <= _bar(ALPHA, campaigns),
        "others named": not alike or wrong <= _bar(LEVEL, campaigns),
        "left out": truth.off < 1.5 or truth.wild > 1 or blocks < 24 or out >= FOUND,
    }
    return [f"{kind}, {blocks} blocks, {name}" for name, met in bars.items() if not met]


def _bar(share: float, campaigns: int) -> float:
    return share + 2 * math.sqrt(share * (1 - share) / campaigns)


if __name__ == "__main__":
    sys.exit(main())
