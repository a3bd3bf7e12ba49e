"""Campaigns of several machines in real time, drawn at random, of which the truth is known."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from h123.analysis.comparisons.comparison import TWINS, Pair, PairedComparison
from h123.analysis.machines.selection import differences
from h123.analysis.selected_trials import MachineDifference
from h123.analysis.statistics.families import Membership
from h123.analysis.statistics.looks import Looks
from h123.analysis.statistics.rule import Rule
from h123.analysis.verdicts.verdict import judge

ALPHA, MARGIN = 0.05, 0.05
MACHINES, BLOCKS = 4, 24
NOISE, LEVEL_NOISE = 0.05, 0.1
"""Standard deviations of a block's log ratio, and of what both sides of a block have in common."""
ODD = "m1"
"""The machine that may be another than the others."""


@dataclass(frozen=True)
class Machines:
    """What is true of the odd machine."""

    slow: float = 1.0
    """Factor on all its values."""
    off: float = 1.0
    """Factor on its ratios."""


@dataclass(frozen=True)
class Outcome:
    """What the analysis said of a campaign."""

    differences: Sequence[MachineDifference]
    verdict: str
    blocks: int

    def named(self, *by: str) -> set[str]:
        return {row["machine"] for row in self.differences if row["by"] in by}

    @property
    def left_out(self) -> set[str]:
        return {row["machine"] for row in self.differences if row["left_out"]}

    @property
    def different(self) -> bool:
        """Whether it calls the two levels different."""
        return self.verdict in ("faster", "slower")


def analysed(truth: Machines, random: np.random.Generator, ratio: float = 1.0) -> Outcome:
    """A campaign in which `ratio` is true of all machines but for the odd one, judged as real ones are."""
    homes = {block: f"m{1 + block % MACHINES}" for block in range(1, BLOCKS + 1)}
    question, twins = _drawn(truth, random, ratio, homes)
    found = differences([question], [twins], homes, MARGIN)
    out = {row["machine"] for row in found if row["left_out"]}
    kept = replace(question, pairs=[pair for pair in question.pairs if homes[pair.block] not in out])
    rule = Rule(MARGIN, ALPHA, Looks([BLOCKS]), homes={} if out else homes)
    [row] = judge([kept], rule)
    return Outcome(found, row["verdict"], row["blocks"])


def _drawn(
    truth: Machines, random: np.random.Generator, ratio: float, homes: Mapping[int, str]
) -> tuple[PairedComparison, PairedComparison]:
    noise = random.normal(0, NOISE / math.sqrt(2), (BLOCKS, 3))
    levels = random.normal(0, LEVEL_NOISE, BLOCKS)
    pairs, again = [], []
    for row, (block, home) in enumerate(homes.items()):
        odd = home == ODD
        level = levels[row] + (math.log(truth.slow) if odd else 0)
        effect = math.log(ratio) + (math.log(truth.off) if odd else 0)
        a, b, twin = (math.exp(level + draw) for draw in noise[row])
        pairs.append(Pair(block, a * math.exp(effect), b))
        again.append(Pair(block, b, twin))
    alone = Membership("alone", "none")
    return (
        PairedComparison({}, "", "latency", "h3", "h2", False, alone, pairs, 0),
        PairedComparison({}, "", "latency", "h2", "h2", True, TWINS, again, 0),
    )
