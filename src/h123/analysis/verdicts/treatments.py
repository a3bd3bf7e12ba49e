"""Collects the values of single treatments by block, to compare them with those of another campaign."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from h123.analysis.audits.exclusions import TIMELESS, exclusions
from h123.analysis.case import Case
from h123.analysis.comparisons.answers import Sent, answers, difference_words, most_unlike
from h123.analysis.comparisons.comparison import TWINS, Cell, Pair, PairedComparison, Values, compare, in_blocks
from h123.analysis.comparisons.failures import shares
from h123.analysis.statistics.precision import FEWEST
from h123.study import METRICS, Parameters


@dataclass(frozen=True)
class Treatment:
    """One combination of levels of all factors, with its values."""

    cell: Cell
    parameters: Parameters
    metrics: Mapping[str, "TreatmentMetric"]
    failed: float
    """The share of failed requests, over all trials."""
    answers: Mapping[int, Sent]
    """The sizes of the responses to those requests for which the study sets no size, by request."""

    def other_answers(self, before: "Treatment") -> str | None:
        """Describe how the sizes of this treatment's responses differ from those of the same treatment in the earlier
        campaign. Return None if they do not differ."""
        difference = most_unlike(before.answers, self.answers)
        return difference_words(difference, "before", "after") if difference else None


@dataclass(frozen=True)
class TreatmentMetric:
    logs: Mapping[int, float]
    """The logarithms of the values by block; infinite if the trial failed."""
    withheld: str | None
    timeless: bool = False
    """Whether the reason is that nothing takes time in the treatment's trials."""


def treatments(case: Case) -> Iterator[Treatment]:
    """Yield all planned treatments in the study's order, without A/A twins, which would count a treatment twice."""
    study, values = case.plan.study, Values(case.trials)
    metrics = dict.fromkeys(metric for family in study.compare.families for metric in family.metrics)
    places = {factor: list(levels) for factor, levels in study.factors.items()}
    planned = [trial for trial in case.plan.blocks[0] if not trial.twin]
    for trial in sorted(planned, key=lambda trial: [places[factor].index(at) for factor, at in trial.cell.items()]):
        clock = trial.parameters.clock
        had = {name: _measured(case, values, trial.cell, name) for name in metrics if clock in METRICS[name].clocks}
        yield Treatment(trial.cell, trial.parameters, had, _failed(case, trial.cell), answers(case).of(trial.cell))


def _measured(case: Case, values: Values, cell: Cell, metric: str) -> TreatmentMetric:
    """Return the values of a metric. A treatment is excluded if a comparison of it with itself would be excluded."""
    values_by_trial = {trial: values.of(trial, metric) for trial in in_blocks(case.plan, cell)}
    had = {trial.block: value for trial, value in values_by_trial.items() if value is not None}
    pairs = [Pair(at.block, v, v, values.share(at, metric)) for at, v in values_by_trial.items() if v is not None]
    compared = case.plan.study.compare.factor
    others, level = {name: at for name, at in cell.items() if name != compared}, cell[compared]
    exclusion = exclusions(case).against(PairedComparison(others, "", metric, level, level, False, TWINS, pairs, 0))
    logs = {block: math.log(value) if value > 0 else -math.inf for block, value in had.items()}
    timeless = exclusion is not None and exclusion.kind == TIMELESS
    return TreatmentMetric(logs, exclusion.why if exclusion else None, timeless)


def _failed(case: Case, cell: Cell) -> float:
    compared = case.plan.study.compare.factor
    others = {name: at for name, at in cell.items() if name != compared}
    pairs = shares(case).pairs(others, cell[compared], cell[compared])
    return float(np.mean([share for share, _ in pairs])) if pairs else 0.0


def by_pairing(case: Case) -> Iterator[float]:
    """Yield, for each comparison, how many times wider its interval would be if its two levels were measured in
    different blocks. This is the spread of two independent samples divided by the spread of the pairs."""
    for comparison in compare(case.trials, case.plan):
        pairs = [pair for pair in comparison.pairs if pair.whole]
        if comparison.twin or len(pairs) < FEWEST:
            continue
        a, b = np.log([pair.a for pair in pairs]), np.log([pair.b for pair in pairs])
        if width := float(np.std(a - b, ddof=1)):
            yield math.sqrt(np.var(a, ddof=1) + np.var(b, ddof=1)) / width
