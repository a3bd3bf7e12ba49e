"""Measures how often verdicts are wrong and how often they decide: false differences, coverage, false equivalences,
power.

    PYTHONPATH=src .venv/bin/python bench/calibration.py [--campaigns 2000] [--seed 1]

Simulates campaigns with a known truth, and analyses them as real ones are analysed. The bars are:

- wrong verdicts occur in at most 5 % of campaigns, plus two standard errors;
- intervals contain the truth in at least 95 %, less two standard errors, where the differences are symmetric, as the
  interval assumes;
- families find what `h123 plan` predicts, within three standard errors of both.

The exit status is 1 if a bar is missed.
"""

import argparse
import math
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "src"))

from h123.analysis.comparisons.comparison import Pair, PairedComparison, declared  # noqa: E402
from h123.analysis.comparisons.power_preview import FamilyPower, preview_power  # noqa: E402
from h123.analysis.statistics.families import Membership  # noqa: E402
from h123.analysis.statistics.looks import PLANNED, Looks  # noqa: E402
from h123.analysis.statistics.power import CAMPAIGNS  # noqa: E402
from h123.analysis.statistics.rule import Rule  # noqa: E402
from h123.analysis.statistics.signedrank import SignedRank  # noqa: E402
from h123.analysis.verdicts.verdict import judge  # noqa: E402
from h123.analysis.verdicts.width import FIRST, next_blocks, width_progress  # noqa: E402
from h123.study import Plan, list_studies, load_study, make_plan  # noqa: E402

ALPHA, MARGIN, BLOCKS = 0.05, 0.05, (6, 8, 13, 20, 30)
WIDTHS, MOST = (0.03, 0.05), 60
SPREAD, EFFECT, FEWER = 0.1, 0.1, 10
"""The shipped studies' families are tested with this standard deviation between blocks and this true difference, and
with a tenth of the campaigns."""
Draw = Callable[[np.random.Generator, tuple[int, ...]], Any]
"""Differences of two levels that do not differ, of a shape (..., blocks)."""


def clean(random: np.random.Generator, shape: tuple[int, ...]) -> Any:
    """Draw normally distributed differences with a standard deviation of 5 %."""
    return random.normal(0, 0.05, shape)


def outliers(random: np.random.Generator, shape: tuple[int, ...]) -> Any:
    """Draw normally distributed differences with a standard deviation of 3 %. In a twentieth of the blocks they are 30
    times as large."""
    return random.normal(0, 0.03, shape) * np.where(random.random(shape) < 0.05, 30, 1)


def unequal_tails(random: np.random.Generator, shape: tuple[int, ...]) -> Any:
    """Draw differences with median 0 and a long tail on one side: a tenth of a standard log-normal, less its median."""
    return 0.1 * (np.exp(random.normal(0, 1, shape)) - 1)


def failing(random: np.random.Generator, shape: tuple[int, ...]) -> Any:
    """Draw normally distributed differences, with a tenth of the blocks lost because one of the sides failed."""
    lost = np.where(random.random(shape) < 0.5, math.inf, -math.inf)
    return np.where(random.random(shape) < 0.1, lost, random.normal(0, 0.05, shape))


def drifting(random: np.random.Generator, shape: tuple[int, ...]) -> Any:
    """Draw differences on a machine that slows down by a tenth from each trial to the next, with trials in random
    order."""
    return random.normal(0, 0.05, shape) + 0.1 * random.choice([-2, -1, 1, 2], shape)


SETTINGS: dict[str, Draw] = {
    "clean": clean,
    "outliers": outliers,
    "unequal tails": unequal_tails,
    "failing": failing,
    "drifting": drifting,
}
SYMMETRIC = {"clean", "outliers", "failing", "drifting"}


class Bench:
    """The number of campaigns, the seed, and the bars that were missed."""

    def __init__(self, campaigns: int, seed: int) -> None:
        self.campaigns, self.seed = campaigns, seed
        self.missed: list[str] = []

    def at_most(self, what: str, share: float) -> str:
        """Format the share, with a mark if it exceeds 5 % by more than two standard errors."""
        bar = ALPHA + 2 * math.sqrt(ALPHA * (1 - ALPHA) / self.campaigns)
        return self._shown(what, share, share <= bar)

    def at_least(self, what: str, share: float) -> str:
        """Format the share, with a mark if it is more than two standard errors below 95 %."""
        bar = 1 - ALPHA - 2 * math.sqrt(ALPHA * (1 - ALPHA) / self.campaigns)
        return self._shown(what, share, share >= bar)

    def _shown(self, what: str, share: float, met: bool) -> str:
        self.missed += [] if met else [f"{what}: {share:.1%}"]
        return f"{share:6.1%}{' ' if met else '!'}"


def main() -> int:
    """Draw campaigns, judge them and print the results. Return exit status 1 if a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--campaigns", type=int, default=2000, help="of each kind")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    bench = Bench(asked.campaigns, asked.seed)
    print(f"{asked.campaigns} campaigns of each kind, seed {asked.seed}; alpha {ALPHA:.0%}, margin {MARGIN:.0%}")
    _verdicts(bench)
    _looks(bench)
    _widths(bench)
    _families(bench)
    for missed in bench.missed:
        print(f"missed: {missed}")
    return 1 if bench.missed else 0


def _verdicts(bench: Bench) -> None:
    print("\nsetting        blocks  false diff.  coverage  false equiv.  power at 1.1  equivalent at 1")
    for (name, draw), blocks in ((setting, count) for setting in SETTINGS.items() for count in BLOCKS):
        random = np.random.default_rng([bench.seed, blocks, *name.encode()])
        noise = draw(random, (bench.campaigns, blocks))
        same, faster = (_judged(noise + shift) for shift in (0.0, math.log(1.1)))
        beyond = _judged(noise + math.log1p(MARGIN))
        wrong = bench.at_most(f"{name}, {blocks} blocks, false differences", _share(same, "faster", "slower"))
        shown = [_holds(found) for found in same]
        covered = f"{np.mean(shown):6.1%} "
        if name in SYMMETRIC:
            covered = bench.at_least(f"{name}, {blocks} blocks, coverage", float(np.mean(shown)))
        alike = bench.at_most(f"{name}, {blocks} blocks, false equivalences", _share(beyond, "equivalent"))
        power, equal = _share(faster, "slower"), _share(same, "equivalent")
        print(f"{name:<14} {blocks:>6}  {wrong:>11}  {covered:>8}  {alike:>12}  {power:12.1%}  {equal:15.1%}")


def _looks(bench: Bench) -> None:
    """Test five planned looks, and a look after every second block."""
    random = np.random.default_rng([bench.seed, 99])
    noise = random.normal(0, 0.05, (bench.campaigns, PLANNED[-1]))
    planned = [Looks([blocks], PLANNED) for blocks in PLANNED]
    rising = [Looks(range(6, blocks + 1, 2)) for blocks in range(6, 31, 2)]
    print("\nlooks                       false diff.  power at 1.05  blocks on average")
    for name, looks in (("planned: 8, 12, 16, 20, 30", planned), ("every second from 6 to 30", rising)):
        same = [_first(row, looks) for row in noise]
        other = [_first(row + math.log(1.05), looks) for row in noise]
        wrong = bench.at_most(f"looks {name}, false differences", float(np.mean([found is not None for found in same])))
        power = np.mean([found is not None for found in other])
        taken = np.mean([found or looks[-1].blocks[-1] for found in other])
        print(f"{name:<27} {wrong:>11}  {power:13.1%}  {taken:17.1f}")


def _first(differences: Any, looks: list[Looks]) -> int | None:
    """Return the number of blocks at the first look that finds a difference, or None if no look does."""
    for look in looks:
        blocks = look.blocks[-1]
        if SignedRank(differences[:blocks]).p() <= look.level(ALPHA):
            return blocks
    return None


def _widths(bench: Bench) -> None:
    """Test campaigns that end when their interval is narrow enough, or after MOST blocks."""
    print("\nsetting         width  false diff.  coverage  blocks on average  narrow enough")
    for (name, draw), wanted in ((setting, width) for setting in SETTINGS.items() for width in WIDTHS):
        random = np.random.default_rng([bench.seed, round(100 * wanted), *name.encode()])
        ended = [_narrowed(row, wanted) for row in draw(random, (bench.campaigns, MOST))]
        found = [one for one, _ in ended]
        wrong = bench.at_most(f"{name}, width {wanted:.0%}, false differences", _share(found, "faster", "slower"))
        covered = f"{np.mean([_holds(one) for one in found]):6.1%} "
        if name in SYMMETRIC:
            covered = bench.at_least(f"{name}, width {wanted:.0%}, coverage", float(np.mean([*map(_holds, found)])))
        blocks, narrow = np.mean([one["blocks"] for one in found]), np.mean([done for _, done in ended])
        print(f"{name:<14} {wanted:6.0%}  {wrong:>11}  {covered:>8}  {blocks:17.1f}  {narrow:13.1%}")


def _narrowed(differences: Any, wanted: float) -> tuple[dict[str, Any], bool]:
    """Return the comparison at the campaign's end, and whether its interval is as narrow as `wanted`."""
    blocks = FIRST
    while True:
        rule = Rule(MARGIN, ALPHA, Looks([blocks], by_width=True))
        (found,) = _judged(differences[None, :blocks], rule)
        reach = width_progress([found], wanted, blocks, rule)
        further = next_blocks(reach, blocks, MOST)
        if further is None:
            return found, reach.narrow
        blocks = further


def _families(bench: Bench) -> None:
    """Compare what the families of the shipped studies find at their planned blocks with what `h123 plan` predicts."""
    print(f"\nfamilies, ratios that vary by {SPREAD:.0%} and differ by {EFFECT:.0%}: found (foreseen) where differ")
    print("study              family              blocks  size            one           half            all")
    for path in list_studies():
        plan = make_plan(load_study(path))
        shown = set()
        for family in preview_power(plan, effect=EFFECT, assumed_spread=SPREAD, spreads=[]):
            members = [one for one in declared(plan) if not one.twin and one.family.name == family.name]
            members = [one for one in members if not one.repeats]
            if family.able and (kind := (len(members), members[0].family.correction)) not in shown:
                shown.add(kind)
                _family(bench, plan, family, members)


def _family(bench: Bench, plan: Plan, foreseen: FamilyPower, members: list[PairedComparison]) -> None:
    blocks, size = len(plan.blocks), len(members)
    random, campaigns = np.random.default_rng([bench.seed, blocks, size]), max(1, bench.campaigns // FEWER)
    rule = Rule(plan.study.compare.margin, plan.study.compare.alpha, Looks([blocks]))
    shown = []
    for name, true in (("one", 1), ("half", math.ceil(size / 2)), ("all", size)):
        found = float(np.mean([_found(random, members, blocks, true, rule) for _ in range(campaigns)]))
        expected = getattr(foreseen.power, name)
        middle = min(0.95, max(0.05, (found + expected) / 2))
        error = math.sqrt(middle * (1 - middle) * (1 / campaigns + 1 / CAMPAIGNS))
        what = f"{plan.study.name}, {foreseen.name}, {name} of {size}: {found:.0%} found, {expected:.0%} foreseen"
        met = abs(found - expected) <= 3 * error
        bench.missed += [] if met else [what]
        shown.append(f"{found:6.1%} ({expected:6.1%}){' ' if met else '!'}")
    print(f"{plan.study.name:<18} {foreseen.name:<20} {blocks:>5} {size:>5}  {'  '.join(shown)}", flush=True)


def _found(random: np.random.Generator, members: list[PairedComparison], blocks: int, true: int, rule: Rule) -> float:
    """Simulate one campaign, and return the share of its true differences that the analysis finds."""
    differ = random.permutation(len(members)) < true
    noise = random.normal(0, SPREAD, (len(members), blocks)) + np.where(differ, math.log1p(EFFECT), 0)[:, None]
    filled = [
        replace(one, metric="latency", pairs=[_pair(block, float(x)) for block, x in enumerate(row)])
        for one, row in zip(members, noise, strict=True)
    ]
    judged = judge(filled, rule)
    return float(np.mean([one["p_adjusted"] <= rule.level for one, true in zip(judged, differ, strict=True) if true]))


def _judged(differences: Any, rule: Rule | None = None) -> list[dict[str, Any]]:
    rule, alone = rule or Rule(MARGIN, ALPHA, Looks([differences.shape[1]])), Membership("alone", "none")
    comparisons = [
        PairedComparison({}, "", "latency", "a", "b", False, alone, [_pair(i, float(x)) for i, x in enumerate(row)], 0)
        for row in differences
    ]
    return judge(comparisons, rule)


def _pair(block: int, difference: float) -> Pair:
    """Return the pair of a block. A side that failed has the worst value."""
    if math.isinf(difference):
        return Pair(block, math.inf if difference > 0 else 1.0, math.inf if difference < 0 else 1.0)
    return Pair(block, math.exp(difference), 1.0)


def _holds(found: dict[str, Any]) -> bool:
    """Return whether the interval contains 1. An end of None means that the interval has no bound there."""
    return (found["low"] or 0.0) <= 1 <= (found["high"] or math.inf)


def _share(found: list[dict[str, Any]], *verdicts: str) -> float:
    return float(np.mean([one["verdict"] in verdicts for one in found]))


if __name__ == "__main__":
    sys.exit(main())
