"""Computes interim results, which the display shows as not final while a campaign runs. No decision uses them."""

import math
from collections import defaultdict

import numpy as np

from h123.campaign.campaign import Campaign
from h123.documents.events import AttemptFacts
from h123.measures import EndedTrial, trial_metrics
from h123.progress import InterimEstimate
from h123.study import split_pair, timeless


class Interim:
    """The ratios of the study's first family so far. Each is estimated as in the answer (Hodges and Lehmann), from the
    blocks in which both trials of its pair have ended. In a study of changes, only trials without a change count."""

    def __init__(self, campaign: Campaign) -> None:
        compared = campaign.plan.study.compare
        first = compared.families[0]
        self._factor, self._metric = compared.factor, first.metrics[0]
        self._changes = compared.changes
        self._as_is = next(iter(campaign.plan.study.factors[compared.changes])) if compared.changes else None
        networks = campaign.plan.study.networks
        self._timeless = {trial.id for trial in campaign.plan.trials() if timeless(trial.parameters, networks)}
        planned = set(campaign.plan.pairs)
        self._pairs = [split_pair(pair) for pair in first.pairs or compared.pairs if pair in planned]
        self._values: dict[tuple[str, ...], dict[tuple[str, int], float]] = defaultdict(dict)

    def learn(self, event: AttemptFacts, ended: EndedTrial) -> None:
        """Include a finished attempt in the estimates."""
        if not event["valid"] or event["twin"] or event["trial"] in self._timeless:
            return
        if self._changes and event["cell"][self._changes] != self._as_is:
            return
        metrics = trial_metrics(ended)
        value, level = metrics[self._metric], event["cell"][self._factor]
        cell = tuple(other for factor, other in event["cell"].items() if factor != self._factor)
        if value and math.isfinite(value):
            self._values[cell][level, event["block"]] = value

    def estimates(self) -> list[InterimEstimate]:
        """Return the estimate of each pair in each cell. Empty until a block has both trials of a pair."""
        estimates = []
        for a, b in self._pairs:
            for cell, values in self._values.items():
                blocks = {block for level, block in values if level == a}
                both = [(values[a, block], values[b, block]) for block in blocks if (b, block) in values]
                logs = [math.log(mine) - math.log(other) for mine, other in both]
                if logs:
                    estimates.append(InterimEstimate(f"{a}/{b}", self._metric, " ".join(cell), estimated_ratio(logs)))
        return estimates


def estimated_ratio(logs: list[float]) -> float:
    """Return the ratio whose logarithm is the median of the means of all pairs of logarithms."""
    d = np.array(logs)
    with np.errstate(over="ignore"):
        return float(np.exp(np.median((d[:, None] + d)[np.triu_indices(len(d))]) / 2))
