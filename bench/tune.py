"""Measures whether `h123 tune` finds planted optima, and whether its claims are true.

    PYTHONPATH=src .venv/bin/python bench/tune.py [--seed N] [--simulated 1000] [--runs 20] [--server NAME] [--jobs N]

1. Simulated: the rounds and the decision on drawn values of 64 candidates over two networks. One of 4 values of one
   knob is better by 3 to 40 %; the noise is 5 % per trial, half of it common to the block. `null`: no effect.
2. Real: servers under the virtual clock. `delay` answers late and `close` ends connections early (over networks with
   few losses, which would hide them), `nginx` has http3_stream_buffer_size, and the knob of `none` does nothing. The
   truth is the median gain over all runs of a server.

The exit status is 1 if an optimum is missed, if more than 1 in 20 servers without effective knobs get a claim, or if
less than 18 in 20 intervals contain the gain. A real run takes about 30 seconds on 2 idle cores.
"""

import argparse
import math
import random
import shlex
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from h123.analysis.comparisons.comparison import Pair, PairedComparison
from h123.analysis.statistics.families import Membership
from h123.analysis.statistics.looks import Looks
from h123.analysis.statistics.rule import Rule
from h123.analysis.verdicts.verdict import judge
from h123.base.files.scratch import scratch
from h123.base.terminal.console import quietly
from h123.cli.answer_form import AnswerForm
from h123.cli.comparisons.tuning import tuned
from h123.cli.comparisons.tuning_arguments import TuneArguments
from h123.tuning import DEFAULT, Scores, TuningClaim, claims, half, ranked, rounds

MARGIN, BLOCKS, NOISE = 0.03, 12, 0.05
ALIKE = 0.001
"""Ratios this close are the same: without losses, the intervals are narrower than the differences between seeds."""
NETWORKS = ("a", "b")
Found = tuple[bool, list[TuningClaim]]


def simulated(drawn: random.Random, gain: float) -> tuple[bool, list[bool], list[bool]]:
    """Return whether the best value is chosen, and for each network whether a gain is claimed and whether the interval
    contains the gain. `gain`: the logarithm of the best value's ratio."""
    truth = {f"c{n}": gain * (n % 4 == 3) for n in range(1, 64)}
    changes = {name: 1 + (number > 3) for number, name in enumerate(truth, 1)}

    def value(name: str, common: float) -> float:
        return truth.get(name, 0.0) + common + drawn.gauss(0, NOISE * math.sqrt(0.5))

    scores, alive = Scores(), list(truth)
    for each in rounds(len(alive)):
        for network in NETWORKS:
            for _ in range(each.blocks):
                common = drawn.gauss(0, NOISE * math.sqrt(0.5))
                default = value(DEFAULT, common)
                for name in alive:
                    scores.add(name, (network,), value(name, common) - default)
        alive = ranked({n: scores.of(n) for n in alive}, changes, MARGIN)[: half(len(alive))]
    (chosen,) = alive
    family = Membership("answer", "holm")
    compared = [
        PairedComparison({"network": n}, "", "latency", chosen, DEFAULT, False, family, _pairs(drawn, truth[chosen]), 0)
        for n in NETWORKS
    ]
    found, _ = claims(judge(compared, Rule(MARGIN, 0.05, Looks([BLOCKS]))), "latency", MARGIN, lambda *_: None)
    right = abs(truth[chosen] - min(truth.values())) < math.log1p(MARGIN) / 2
    return right, [claim["verdict"] == "better" for claim in found], [_holds(claim, truth[chosen]) for claim in found]


def _pairs(drawn: random.Random, gain: float) -> Sequence[Pair]:
    a, b = ([math.exp(x + drawn.gauss(0, NOISE)) for _ in range(BLOCKS)] for x in (gain, 0.0))
    return [Pair(block, *pair) for block, pair in enumerate(zip(a, b, strict=True), 1)]


def _holds(claim: TuningClaim, gain: float) -> bool:
    low, high = claim["low"] or 0.0, claim["high"] or math.inf
    return low * (1 - ALIKE) <= math.exp(gain) <= high * (1 + ALIKE)


@dataclass(frozen=True)
class Server:
    """A server with a planted optimum; None: its knob has no effect."""

    command: str | None
    knob: str
    best: str | None
    network: str = "cellular"
    load: str = "1x3"
    size: int = 300_000


_SERVER = shlex.join([sys.executable, str(Path(__file__).resolve().with_name("tune_server.py"))])
SERVERS = {
    "delay": Server(f"{_SERVER} {{{{ cert }}}} {{{{ key }}}} {{{{ delay }}}} 1000", "delay={60,30,0}", "0", "home"),
    "close": Server(
        f"{_SERVER} {{{{ cert }}}} {{{{ key }}}} 0 {{{{ requests }}}}",
        "requests={1,2,1000}",
        "1000",
        "europe-us",
        "1x10",
    ),
    "nginx": Server(None, "http3_stream_buffer_size={64k,128k,1m}", "1m", size=1_000_000),
    "none": Server(f"{_SERVER} {{{{ cert }}}} {{{{ key }}}} 0 1000 {{{{ nothing }}}}", "nothing={1,2,3}", None),
}


def real(server: Server, seed: int, jobs: int | None, out: Path) -> Found:
    """Tune a server once. Return whether the best value is chosen, and the claims."""
    url = f"https://localhost:8443/bytes/{server.size}"
    arguments = TuneArguments(
        server=server.command,
        knobs=[server.knob],
        knob_file=None if server.command else "nginx",
        urls=[url],
        networks=server.network,
        held_out=server.network,
        margin=MARGIN,
        blocks=6,
        load=server.load,
        seed=seed,
        jobs=jobs,
        out=out,
        form=AnswerForm.TABLE,
    )
    with quietly(is_quiet=True):
        answer = tuned(arguments, out)
    (name,) = answer["default"]
    return (answer["chosen"] or {}).get(name) == server.best, list(answer["claims"])


def _simulations(runs: int, seed: int) -> bool:
    fine = True
    for name in ("planted", "null"):
        found, claimed, held = 0, 0, [0, 0]
        for number in range(runs):
            drawn = random.Random(f"{seed} {name} {number}")
            gain = math.log(1 - drawn.uniform(0.03, 0.4)) if name == "planted" else 0.0
            right, gains, holds = simulated(drawn, gain)
            found, claimed = found + right, claimed + any(gains)
            held = [held[0] + sum(holds), held[1] + len(holds)]
        print(f"simulated {name}: best found {found}/{runs}, gain claimed {claimed}/{runs}, ", end="")
        print(f"in interval {held[0]}/{held[1]}")
        fine &= held[0] >= 0.9 * held[1] and (claimed <= 0.05 * runs if name == "null" else found >= 0.95 * runs)
    return fine


def _runs(name: str, runs: int, seed: int, jobs: int | None) -> bool:
    server, found, all_claims = SERVERS[name], 0, list[TuningClaim]()
    for number in range(runs):
        with scratch() as folder:
            began = time.monotonic()
            right, (claim,) = real(server, seed + number, jobs, folder / "t")
        found, all_claims = found + right, [*all_claims, claim]
        low, ratio, high = claim["low"] or 0.0, claim["ratio"] or 0.0, claim["high"] or 0.0
        words = "best found" if right else "another chosen"
        span = f"ratio {ratio:.3f} ({low:.3f} to {high:.3f}), {time.monotonic() - began:.0f} s"
        print(f"{name} {number + 1}: {words}, {claim['verdict']}, {span}", flush=True)
    truth = math.log(statistics.median(claim["ratio"] or math.inf for claim in all_claims))
    held, claimed = sum(_holds(c, truth) for c in all_claims), sum(c["verdict"] == "better" for c in all_claims)
    print(f"{name}: best found {found}/{runs}, gain claimed {claimed}/{runs}, in interval {held}/{runs}")
    return held >= 0.9 * runs and (claimed <= 0.05 * runs if server.best is None else found == runs == claimed)


def main() -> int:
    """Run both parts, print the results and return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**32))
    parser.add_argument("--simulated", type=int, default=1000, metavar="N")
    parser.add_argument("--runs", type=int, default=20, metavar="N", help="real runs of each server")
    parser.add_argument("--server", choices=[*SERVERS], action="append", help="default: all")
    parser.add_argument("--jobs", type=int, metavar="N", help="trials at a time")
    asked = parser.parse_args()
    print(f"seed {asked.seed}")
    fine = _simulations(asked.simulated, asked.seed) if asked.simulated else True
    for name in (asked.server or SERVERS) if asked.runs else ():
        fine &= _runs(name, asked.runs, asked.seed % 10**6, asked.jobs)
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
