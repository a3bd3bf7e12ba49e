"""Reads how much the ratios of the project's own campaigns vary from block to block.

A ratio's spread depends on the network and on how much data a trial moves, so a campaign predicts the spread only for
trials like its own. Published results contain their spreads; docs/results/spread.csv.xz lists the spreads of campaigns
that were published earlier.
"""

import csv
import lzma
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Self

from h123.base.paths import project_root
from h123.documents.result_file import results
from h123.study import Parameters

EARLIER = project_root() / "docs/results/spread.csv.xz"
ALIKE = 4.0
"""The largest factor by which the sizes of the bodies, and the total bytes, of alike trials differ."""


@dataclass(frozen=True)
class SpreadTrial:
    """The properties of a trial that determine how much its values vary."""

    network: str
    clock: str
    method: str
    size: int
    users: int
    requests: int

    @classmethod
    def of(cls, parameters: Parameters) -> Self:
        p, work = parameters, parameters.workload
        size = work.body_bytes() or round(work.moved("up") + work.moved("down"))
        return cls(p.network, p.clock, "+".join(work.methods()), size, p.users, p.requests)

    def distance(self, other: "SpreadTrial") -> float:
        """Return how different another trial is. Infinite if its spread says nothing about this trial."""
        if (self.network, self.clock, self.method) != (other.network, other.clock, other.method):
            return math.inf
        apart = [abs(math.log(mine / another)) for mine, another in zip(self._amounts, other._amounts, strict=True)]
        return sum(apart) if max(apart) <= math.log(ALIKE) else math.inf

    @property
    def _amounts(self) -> tuple[int, int]:
        return self.size, self.size * self.users * self.requests


@dataclass(frozen=True)
class Varied:
    """The spread of one campaign's comparisons, for one metric and one kind of trial."""

    campaign: str
    trial: SpreadTrial
    metric: str
    blocks: int
    comparisons: int
    spread: float
    """The median standard deviation of the comparisons' log ratios."""


@cache
def known_spreads() -> Sequence[Varied]:
    """Return the spreads of all published campaigns. Raises UserError if a result is damaged."""
    published = [_read(row, result.name) for result in results() for row in result.head["spreads"]]
    with lzma.open(EARLIER, "rt", encoding="utf-8", newline="") as file:
        return [*published, *(_read(line, line["campaign"]) for line in csv.DictReader(file))]


def nearest(trial: SpreadTrial, metric: str, spreads: Iterable[Varied]) -> Varied | None:
    """Return the spread of the most similar trials, or None if none are similar."""
    comparable = [spread for spread in spreads if spread.metric == metric and trial.distance(spread.trial) < math.inf]
    return min(comparable, key=lambda spread: trial.distance(spread.trial), default=None)


def _read(row: Mapping[str, Any], campaign: str) -> Varied:
    trial = SpreadTrial(
        row["network"], row["clock"], row["method"], int(row["size"]), int(row["users"]), int(row["requests"])
    )
    return Varied(campaign, trial, row["metric"], int(row["blocks"]), int(row["comparisons"]), float(row["spread"]))
