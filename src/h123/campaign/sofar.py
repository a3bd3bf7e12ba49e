"""What the trials say so far: shown while a campaign runs, marked as not final, and decided by nobody."""

import math
import statistics
from collections import defaultdict
from pathlib import Path

from h123.campaign.campaign import Campaign
from h123.results import trial_metrics
from h123.results.events import Tried
from h123.results.lab_report import Report
from h123.study import split_pair


class SoFar:
    """The ratios of the study's first family, each the median over the blocks that have both of its trials."""

    def __init__(self, campaign: Campaign) -> None:
        compared = campaign.plan.study.compare
        first = compared.families[0]
        self._factor, self._metric = compared.factor, first.metrics[0]
        planned = set(campaign.plan.pairs)
        self._pairs = [split_pair(pair) for pair in first.pairs or compared.pairs if pair in planned]
        self._values: dict[tuple[str, ...], dict[tuple[str, int], float]] = defaultdict(dict)

    def learn(self, event: Tried, sealed: Path, report: Report) -> None:
        """Take an ended attempt into account; `sealed` is its folder."""
        if not event["valid"] or event["twin"]:
            return
        metrics = trial_metrics(sealed / "samples.parquet", report, event["parameters"])
        value, level = metrics[self._metric], event["cell"][self._factor]
        cell = tuple(chosen for factor, chosen in event["cell"].items() if factor != self._factor)
        if value and math.isfinite(value):
            self._values[cell][level, event["block"]] = value

    def lines(self) -> list[str]:
        """One for each pair: `h3/h2 latency: lan 1.32, poor 0.76`; none before there is a block to speak of."""
        found = [(pair, self._ratios(pair)) for pair in self._pairs]
        return [f"{a}/{b} {self._metric}: {', '.join(ratios)}" for (a, b), ratios in found if ratios]

    def _ratios(self, pair: tuple[str, str]) -> list[str]:
        ratios = []
        for cell, values in self._values.items():
            blocks = {block for level, block in values if level == pair[0]}
            both = [values[pair[0], b] / values[pair[1], b] for b in blocks if (pair[1], b) in values]
            if both:
                ratios.append(f"{' '.join(cell)} {statistics.median(both):.2f}".strip())
        return ratios
