"""Applies the rule for machines that differ (rule.py) to a campaign. Names the machines that differ by more than the
margin, and leaves them out if their ratios differ (docs/cluster.md)."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

from h123.analysis.comparisons.comparison import PairedComparison, compare
from h123.analysis.machines.rule import Departure, Measurement, departures, left_out
from h123.analysis.machines.variance import Groups, spread
from h123.analysis.selected_trials import MachineDifference, MachineSpread, Selection
from h123.analysis.trials import TrialSet
from h123.study import Plan

By = Literal["ratio", "twin", "level"]


class _What(NamedTuple):
    comparison: PairedComparison
    by: By


def select(trials: TrialSet, plan: Plan) -> Selection:
    """Return the trials to analyse. None are left out if one machine ran them all, or under the virtual clock, where
    machines cannot differ."""
    homes = {attempt.block: attempt.place for attempt in trials.attempts if attempt.place and not attempt.virtual}
    if len(set(homes.values())) < 2:
        return Selection(trials)
    question, twins = _question(trials, plan)
    found = differences(question, twins, homes, plan.study.compare.margin)
    out = {row["machine"] for row in found if row["left_out"]}
    counted = _without(trials, [block for block, home in homes.items() if home in out])
    return Selection(counted, found, _spreads(question, homes), homes)


def differences(
    question: Sequence[PairedComparison],
    twins: Sequence[PairedComparison],
    homes: Mapping[int, str],
    margin: float,
) -> list[MachineDifference]:
    """Return the machines that differ: first those whose ratios or A/A pairs differ (in order of certainty), and then
    those that differ only in their values."""
    machines, bound = set(homes.values()), math.log1p(margin)
    samples = [Measurement(_What(c, "ratio"), _ratios(c, homes)) for c in question]
    samples += [Measurement(_What(c, "twin"), _ratios(c, homes), zero=True) for c in twins]
    found = departures(samples, machines, bound)
    out = left_out((departure.machine for departure in found), Counter(homes.values()))
    levels = [Measurement(_What(c, "level"), _levels(c, homes)) for c in question]
    by_values = departures(levels, machines - set(out), bound)
    return [*(_row(departure, out) for departure in found), *(_row(departure, []) for departure in by_values)]


def _question(trials: TrialSet, plan: Plan) -> tuple[list[PairedComparison], list[PairedComparison]]:
    """Return the comparisons in real time that answer the study's question, and the A/A pairs for their metrics."""
    study = plan.study
    first = study.compare.families[0]
    compared = [c for c in compare(trials, plan) if not c.repeats and c.metric in first.metrics and _wall(c, plan)]
    question = [c for c in compared if not c.twin and c.family.name.partition("/")[0] == first.name]
    return question, [c for c in compared if c.twin]


def _wall(comparison: PairedComparison, plan: Plan) -> bool:
    study, c = plan.study, comparison
    sides = (study.parameters({**c.cell, study.compare.factor: level}) for level in (c.a, c.b))
    return all(side.clock == "wall" for side in sides)


def _ratios(comparison: PairedComparison, homes: Mapping[int, str]) -> Groups:
    return _grouped(((pair.block, pair.log_ratio) for pair in comparison.pairs), homes)


def _levels(comparison: PairedComparison, homes: Mapping[int, str]) -> Groups:
    """Return, by machine, the logarithms of the geometric mean of both sides, which does not depend on their ratio."""
    whole = [pair for pair in comparison.pairs if pair.whole]
    return _grouped(((pair.block, (math.log(pair.a) + math.log(pair.b)) / 2) for pair in whole), homes)


def _grouped(values: Iterable[tuple[int, float]], homes: Mapping[int, str]) -> Groups:
    """Group the values by machine, leaving out blocks whose value is unknown because of failures."""
    groups = defaultdict[str, list[float]](list)
    for block, value in values:
        if block in homes and math.isfinite(value):
            groups[homes[block]].append(value)
    return groups


def _without(trials: TrialSet, blocks: Sequence[int]) -> TrialSet:
    return TrialSet(
        [attempt for attempt in trials.attempts if attempt.block not in blocks],
        frozenset(trial for trial in trials.failed if trial.block not in blocks),
    )


def _row(departure: Departure[_What], out: Sequence[str]) -> MachineDifference:
    c = departure.what.comparison
    return {
        "machine": departure.machine,
        "by": departure.what.by,
        "cell": c.cell,
        "metric": c.metric,
        "a": c.a,
        "b": c.b,
        "ratio": math.exp(departure.difference),
        "p": departure.p,
        "left_out": departure.machine in out,
    }


def _spreads(question: Sequence[PairedComparison], homes: Mapping[int, str]) -> list[MachineSpread]:
    rows = list[MachineSpread]()
    for c in question:
        if found := spread(_ratios(c, homes)):
            key = {"cell": c.cell, "metric": c.metric, "a": c.a, "b": c.b}
            rows.append({**key, "between": found.between, "within": found.within})  # type: ignore[typeddict-item]
    return rows
