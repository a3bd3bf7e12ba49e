"""Measures how often `h123 why` names a cause that a test created, and how well the parts add up to the latency.

    PYTHONPATH=src:tests .venv/bin/python bench/made_causes.py [--seed N] [--cases 300] [--kinds WORD ...] [--jobs 2]
                                                               [--clock wall] [--only-case K] [--keep DIR]

The seed selects cases of tests/causes/made.py: kinds of causes, protocols, clients and loads. Each case has a trial
with the cause and one without it. The largest part of the difference between them must be that cause. Cases run under
the virtual clock, except those about processing, unless you choose the wall clock. Some servers need Node.js.

Prints a line for each case that is not right, with the difference in ms, a Markdown matrix of true and named causes,
and the shares. The exit status is 1 if more than 2 % of the cases are wrong, if less than 85 % are right, or if the
parts miss the latency by more than 2 % in the median under one of the clocks.
"""

import argparse
import os
import random
import shutil
import sys
import time
import traceback
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from itertools import count, islice
from pathlib import Path
from statistics import median

from adversary.trial import peer
from causes.judged import Judged, judged
from causes.made import CLIENTS, drawn, named
from causes.scene import Bench
from h123.base.files.scratch import scratch
from h123.catalogue import catalogue, install
from h123.causes import SUMS_UP
from h123.execution import SERVER_ADDRESS, LocalPool, campaign_certificate

MOST_WRONG, LEAST_RIGHT = 0.02, 0.85
SHOWN_S = 20
"""The seconds between two lines of progress."""
_bench: Bench
_kept: bool


def main() -> int:
    """Run the cases, print the results and return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**32))
    parser.add_argument("--cases", type=int, default=300, metavar="N")
    parser.add_argument(
        "--kinds", nargs="*", default=[], metavar="WORD", help="those that have one of the words in their name"
    )
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="trials at a time")
    parser.add_argument("--clock", choices=("virtual", "wall"), default="virtual")
    parser.add_argument("--only-case", type=int, metavar="K", help="the case of this number alone")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep the trials' folders below this one")
    parser.add_argument("--list", action="store_true", help="name the kinds, and why the truth is what it is")
    parser.add_argument("--all", action="store_true", help="print right cases too")
    asked = parser.parse_args()
    if asked.list:
        for one in named(asked.kinds):
            print(f"{one.name} ({', '.join(one.protocols)}; {', '.join(one.clients)}; {one.loads} users): "
                  f"{', '.join(sorted(one.truth))}: {one.why}")  # fmt: skip
        return 0
    if not named(asked.kinds):
        parser.error(f"no kind has one of these words in its name: {', '.join(asked.kinds)}; --list names all")
    for name in (*CLIENTS, "virtual-kernel"):
        if name in catalogue():
            install(catalogue()[name], print)
    peer()
    numbers = [asked.only_case] if asked.only_case is not None else _numbers(asked.seed, asked.cases, asked.kinds)
    print(f"seed {asked.seed}, {len(numbers)} cases")
    with scratch() as place:
        found = list(_found(numbers, asked, asked.keep or Path(place)))
    if asked.only_case is not None:
        return 0
    return _tell(found, len(numbers))


def _numbers(seed: int, cases: int, kinds: Sequence[str]) -> list[int]:
    wanted = {one.name for one in named(kinds)}
    return list(islice((n for n in count() if drawn(seed, n).kind.name in wanted), cases))


def _found(numbers: Sequence[int], asked: argparse.Namespace, place: Path) -> Iterator[Judged]:
    """Yield the judgement of each case as it ends."""
    begun = shown = time.monotonic()
    with ProcessPoolExecutor(asked.jobs, initializer=_begin, initargs=(place, asked.clock, bool(asked.keep))) as pool:
        running = {pool.submit(_one, asked.seed, number): number for number in numbers}
        for ended, future in enumerate(as_completed(running), 1):
            try:
                one = future.result()
            except Exception:
                print(f"failed: {drawn(asked.seed, running[future])}: {traceback.format_exc(limit=-2)}", flush=True)
            else:
                if one.verdict != "right" or asked.all or asked.only_case is not None:
                    print(one, flush=True)
                yield one
            if time.monotonic() - shown > SHOWN_S:
                shown = time.monotonic()
                left = (shown - begun) / ended * (len(numbers) - ended)
                print(f"  {ended} of {len(numbers)}, {left / 60:.1f} min left", file=sys.stderr, flush=True)


def _begin(place: Path, clock: str, kept: bool) -> None:
    """Create the bench of this process, with its own folder for subjects."""
    own = place / f"bench-{os.getpid()}"
    own.mkdir(parents=True)
    global _bench, _kept
    _kept = kept
    _bench = Bench(LocalPool(), campaign_certificate(own, [SERVER_ADDRESS]), place, own, clock)


def _one(seed: int, number: int) -> Judged:
    one = judged(_bench, seed, number)
    for folder in [] if _kept else _bench.place.glob(f"{number}-*"):
        shutil.rmtree(folder)
    return one


def _tell(found: Sequence[Judged], asked: int) -> int:
    counted = [one for one in found if one.verdict != "void"]
    print("\n" + _kinds(counted) + "\n\n" + _groups(counted) + "\n")
    shares = Counter(one.verdict for one in counted)
    total = max(len(counted), 1)
    said = ", ".join(f"{verdict} {shares[verdict] / total:.1%}" for verdict in ("right", "rivals", "wrong"))
    print(f"{len(counted)} of {asked} cases: {said}")
    void, failed = len(found) - len(counted), asked - len(found)
    print(f"{void} cost nothing however they were drawn, {failed} could not be carried out")
    alone = [one.alone for one in counted if one.alone is not None]
    print(
        f"{sum(alone)} of {len(alone)} trials whose cause takes more than half of their time name it, alone or among "
        "rivals, without the other trial"
    )
    near = True
    for clock in sorted({clock for one in counted for clock in one.missed}):
        missed = [one.missed[clock] for one in counted if clock in one.missed]
        near &= median(missed) <= SUMS_UP
        print(
            f"{clock} clock: the parts miss the latency by {median(missed):.4%} (median of {len(missed)} trials), "
            f"by {max(missed):.2%} in the worst"
        )
    good = shares["wrong"] <= MOST_WRONG * total and shares["right"] >= LEAST_RIGHT * total
    return 0 if counted and good and near and len(found) == asked else 1


def _groups(found: Sequence[Judged]) -> str:
    """Return a Markdown table with a row for each true cause and a column for each named one."""
    tally = Counter((" or ".join(sorted(one.truth)), one.said) for one in found)
    rows, columns = (sorted({key[place] for key in tally}) for place in (0, 1))
    lines = [f"| true | {' | '.join(columns)} |", "| --- " * (len(columns) + 1) + "|"]
    lines += [f"| {row} | {' | '.join(str(tally[row, column] or '') for column in columns)} |" for row in rows]
    return "\n".join(lines)


def _kinds(found: Sequence[Judged]) -> str:
    """Return a Markdown table with a row for each kind: the named causes, how often each was named, and how often that
    was right."""
    of = defaultdict[str, list[Judged]](list)
    for one in found:
        of[one.case.kind.name].append(one)
    lines = ["| made | protocols | right | rivals | wrong | said |", "| --- | --- | --- | --- | --- | --- |"]
    for made in named([]):
        if cases := of.get(made.name):
            verdicts = Counter(case.verdict for case in cases)
            said = Counter(f"{case.said}{'' if case.verdict == 'right' else f' ({case.verdict})'}" for case in cases)
            words = ", ".join(f"{number} {word}" for word, number in said.most_common())
            protocols = ", ".join(sorted({case.case.pair.made.protocol for case in cases}))
            numbers = " | ".join(str(verdicts[verdict]) for verdict in ("right", "rivals", "wrong"))
            lines.append(f"| {made.name} | {protocols} | {numbers} | {words} |")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
