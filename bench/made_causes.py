"""How often made causes are named, and whether the parts sum up to the latency.

    PYTHONPATH=src:tests .venv/bin/python bench/made_causes.py [--clock wall] [TRIALS [KIND ...]]

Each kind of tests/causes/made.py over each of its protocols; those that are not about processing under the virtual
clock, unless the wall clock is asked for. Prints a line for each trial that is named otherwise, then the tally, then by
how much of the latency the parts miss it; status 1 where fewer than 95 of 100 are named, or the median over the trials
of a clock is more than 2 %.
"""

import argparse
import itertools
import random
import sys
from collections import Counter
from pathlib import Path
from statistics import median

from causes.made import MADE, Bench
from h123.catalogue import catalogue, install
from h123.causes import SUMS_UP
from h123.scratch import scratch
from h123.trial import SERVER_ADDRESS, LocalEngine, campaign_certificate

ENOUGH = 0.95


def main() -> int:
    """The exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--clock", choices=("virtual", "wall"), default="virtual")
    parser.add_argument("count", nargs="?", type=int, default=100, metavar="TRIALS")
    parser.add_argument("kinds", nargs="*", metavar="KIND")
    asked = parser.parse_args()
    count, kinds = asked.count, asked.kinds
    for name in ("go", "virtual-kernel"):
        if name in catalogue():
            install(catalogue()[name], print)
    seed = random.SystemRandom().randrange(2**32)
    print(f"seed {seed}")
    cases = [(made, protocol) for made in MADE for protocol in made.protocols if not kinds or made.name in kinds]
    tally, engine = Counter[tuple[str, str, bool]](), LocalEngine()
    with scratch() as place:
        bench = Bench(engine, campaign_certificate(place, [SERVER_ADDRESS]), Path(place), clock=asked.clock)
        for number, (made, protocol) in enumerate(itertools.islice(itertools.cycle(cases), count)):
            largest, groups = bench.largest(made, protocol, seed + number)
            named = largest == made.expected(protocol)
            tally[made.name, protocol, named] += 1
            if not named:
                shown = sorted(((s * 1e3, g) for g, s in groups.items() if s > 0), reverse=True)[:4]
                told = ", ".join(f"{group} {ms:.1f} ms" for ms, group in shown)
                print(f"{made.name}, {protocol}: {told}; not {made.expected(protocol)}")
    for made, protocol in cases:
        good, bad = (tally[made.name, protocol, named] for named in (True, False))
        print(f"{made.name:28} {protocol}  {good} of {good + bad}")
    good = sum(number for (*_, named), number in tally.items() if named)
    print(f"{good} of {tally.total()} named")
    for clock, missed in bench.missed.items():
        print(
            f"{clock} clock: the parts miss the latency by {median(missed):.4%} (median of {len(missed)} trials), "
            f"by {max(missed):.2%} in the worst"
        )
    near = all(median(missed) <= SUMS_UP for missed in bench.missed.values())
    return 0 if good >= ENOUGH * tally.total() and near else 1


if __name__ == "__main__":
    sys.exit(main())
