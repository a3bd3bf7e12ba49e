"""Checks that a campaign survives kills, full disks, damage and other mischief: `make torture`, 1000 rounds in about an
hour.

    PYTHONPATH=src .venv/bin/python tools/torture [--seed S] [--rounds N] [--first K]
    PYTHONPATH=src .venv/bin/python tools/torture --seed S --round K

Each round runs a campaign of a few trials in a separate box (box.py), disturbs it with a mischief that the seed selects
(mischiefs.py), and resumes the campaign. Then nothing may be left on the machine (traces.py), the campaign must be
whole (wholeness.py), and every command must have ended as documented, without a traceback.

A round depends only on the seed and its number, apart from the machine's timing. The exit status is 1 if any round went
wrong. Everything from such a round is kept in a folder.
"""

import argparse
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path

import box
from mischiefs import MISCHIEFS
from reference_campaign import extract, make_reference
from rounds import Outcome, play

from h123.base.paths import cache_folder
from h123.catalogue import catalogue, install

SUBJECT = "go"
AT_ONCE = 2
"""Rounds; each has a machine to itself half of the time."""


def main() -> int:
    asked = _arguments()
    if os.geteuid() != 0:
        print("tools/torture needs root, as every lab does", file=sys.stderr)
        return 3
    seed = int.from_bytes(os.urandom(6)) if asked.seed is None else asked.seed
    numbers = range(asked.first, asked.first + asked.rounds) if asked.round is None else [asked.round]
    print(f"seed {seed}, rounds {numbers[0]} to {numbers[-1]}", flush=True)
    began, counts, wrong = time.monotonic(), Counter[str](), list[Outcome]()
    install(catalogue()[SUBJECT], print)
    reference = make_reference(cache_folder() / "subjects" / SUBJECT)
    print(f"an undisturbed run takes {reference.span_s:.1f} s", flush=True)
    # Forked, so that no round has to load anything; a round ends with its process, and that with this one.
    with ProcessPoolExecutor(AT_ONCE, get_context("fork"), initializer=box.die_with_parent) as pool:
        rounds = [pool.submit(play, seed, number, reference, asked.only) for number in numbers]
        for ended in as_completed(rounds):
            outcome = ended.result()
            counts[outcome.mischief] += 1
            wrong += [outcome] if outcome.faults else []
            _tell(seed, outcome, asked.verbose)
    of_each = ", ".join(f"{name} {counts[name]}" for name in MISCHIEFS if counts[name])
    print(f"{sum(counts.values())} rounds in {time.monotonic() - began:.0f} s: {of_each}")
    print(f"{len(wrong)} went wrong" + (f": {sorted(outcome.number for outcome in wrong)}" if wrong else ""))
    return 1 if wrong else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, help="[default: nobody's choice]")
    parser.add_argument("--rounds", type=int, default=1000)
    parser.add_argument("--first", type=int, default=1, metavar="K", help="round to begin with: to go on")
    parser.add_argument("--round", type=int, metavar="K", help="this round alone")
    parser.add_argument("--only", choices=MISCHIEFS, help="this mischief in all rounds")
    parser.add_argument("--verbose", action="store_true", help="tell of every round what happened in it")
    return parser.parse_args()


def _tell(seed: int, outcome: Outcome, verbose: bool) -> None:
    state = "WRONG" if outcome.faults else "well"
    print(f"{outcome.number:5} {outcome.mischief:15} {outcome.seconds:5.1f} s  {state}", flush=True)
    if outcome.faults or verbose:
        _list("", [*outcome.notes, *(f"WRONG: {fault}" for fault in outcome.faults)])
    if outcome.remains is not None:
        kept = Path(tempfile.mkdtemp(prefix=f"h123-torture-{seed}-{outcome.number}-"))
        extract(outcome.remains, kept)
        _list("", [f"kept in {kept}; to repeat: --seed {seed} --round {outcome.number}"])


def _list(lead: str, lines: Sequence[str]) -> None:
    for line in lines:
        print(f"      {lead}{line}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
