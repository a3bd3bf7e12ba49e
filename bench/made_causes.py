"""How often made causes are named: `PYTHONPATH=src:tests .venv/bin/python bench/made_causes.py [TRIALS [KIND ...]]`.

Each kind of tests/causes/made.py over each of its protocols; those that are not about processing under the virtual
clock. Prints a line for each trial that is named otherwise, then the tally; status 1 where fewer than 95 of 100 are
named.
"""

import itertools
import random
import sys
from collections import Counter
from pathlib import Path

from causes.made import MADE, Bench
from h123.catalogue import catalogue, install
from h123.scratch import scratch
from h123.trial import SERVER_ADDRESS, LocalEngine, campaign_certificate

ENOUGH = 0.95


def main(count: int, kinds: list[str]) -> int:
    """The exit status."""
    for name in ("go", "virtual-kernel"):
        if name in catalogue():
            install(catalogue()[name], print)
    seed = random.SystemRandom().randrange(2**32)
    print(f"seed {seed}")
    cases = [(made, protocol) for made in MADE for protocol in made.protocols if not kinds or made.name in kinds]
    tally, engine = Counter[tuple[str, str, bool]](), LocalEngine()
    with scratch() as place:
        bench = Bench(engine, campaign_certificate(place, [SERVER_ADDRESS]), Path(place), clock="virtual")
        for number, (made, protocol) in enumerate(itertools.islice(itertools.cycle(cases), count)):
            largest, groups = bench.largest(made, protocol, seed + number)
            named = largest == made.largest
            tally[made.name, protocol, named] += 1
            if not named:
                shown = sorted(((s * 1e3, g) for g, s in groups.items() if s > 0), reverse=True)[:4]
                print(
                    f"{made.name}, {protocol}: {', '.join(f'{g} {ms:.1f} ms' for ms, g in shown)}; not {made.largest}"
                )
    for made, protocol in cases:
        good, bad = (tally[made.name, protocol, named] for named in (True, False))
        print(f"{made.name:28} {protocol}  {good} of {good + bad}")
    good = sum(number for (*_, named), number in tally.items() if named)
    print(f"{good} of {tally.total()} named")
    return 0 if good >= ENOUGH * tally.total() else 1


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 100, sys.argv[2:]))
