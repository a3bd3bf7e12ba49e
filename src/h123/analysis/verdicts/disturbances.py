"""Computes the effect of disturbed trials on the answers: how many trials are disturbed, and the answers without them
(docs/disturbances.md)."""

from collections.abc import Sequence
from typing import NotRequired

import numpy as np
from typing_extensions import TypedDict

from h123.analysis.audits.exclusions import Exclusions, exclusions
from h123.analysis.case import Case
from h123.analysis.comparisons.comparison import compare
from h123.analysis.comparisons.rows import JudgedComparison, VerdictRow
from h123.analysis.section import Section
from h123.analysis.statistics.rule import Rule
from h123.analysis.trials import TrialSet
from h123.analysis.verdicts.judgement import comparisons
from h123.analysis.verdicts.verdict import judge
from h123.study import Plan


class WithoutDisturbed(VerdictRow):
    """An answer from undisturbed trials, next to the answer from all trials."""

    all: str


class DisturbanceEffects(TypedDict):
    tolerated: float
    """The largest share of a metric's value that may be due to machine noise in an undisturbed trial."""
    trials: int
    """The number of disturbed trials."""
    of: int
    """The number of analysed trials."""
    typical: float | None
    """The median, over the disturbed trials, of the share that may be due to machine noise."""
    without: Sequence[WithoutDisturbed]
    """The answers from undisturbed trials alone."""


def disturbances(
    trials: TrialSet, plan: Plan, rule: Rule, comparisons: Sequence[JudgedComparison], exclusions: Exclusions
) -> DisturbanceEffects:
    """Return the `disturbances` part of verdicts.json. `comparisons` come from all trials."""
    disturbed = [attempt for attempt in trials.attempts if attempt.disturbed]
    return {
        "tolerated": rule.margin / 2,
        "trials": len(disturbed),
        "of": len(trials.attempts),
        "typical": float(np.median([a.disturbance or 0.0 for a in disturbed])) if disturbed else None,
        "without": _without(trials, plan, rule, comparisons, exclusions) if disturbed else [],
    }


def _without(
    trials: TrialSet, plan: Plan, rule: Rule, comparisons: Sequence[JudgedComparison], exclusions: Exclusions
) -> list[WithoutDisturbed]:
    """Return the answers to the study's question from undisturbed trials alone, next to the answers from all trials."""
    undisturbed = TrialSet([attempt for attempt in trials.attempts if not attempt.disturbed], trials.failed)
    clean = judge(compare(undisturbed, plan), rule, exclusions)
    first = plan.study.compare.families[0].name
    answers = [
        (with_all, without)
        for with_all, without in zip(comparisons, clean, strict=True)
        if with_all["family"].partition("/")[0] == first and with_all["blocks"] != without["blocks"]
    ]
    return [_row(without, with_all["verdict"]) for with_all, without in answers]


def _row(without: JudgedComparison, verdict_of_all: str) -> WithoutDisturbed:
    return {
        "cell": without["cell"],
        "workload": without["workload"],
        "metric": without["metric"],
        "a": without["a"],
        "b": without["b"],
        "blocks": without["blocks"],
        "ratio": without["ratio"],
        "low": without["low"],
        "high": without["high"],
        "confidence": without["confidence"],
        "verdict": without["verdict"],
        "small": without["small"],
        "withheld": without["withheld"],
        "failed": without["failed"],
        "all": verdict_of_all,
    }


class DisturbancesPart(TypedDict):
    disturbances: NotRequired[DisturbanceEffects]


def _compute(case: Case) -> DisturbancesPart:
    row = disturbances(case.trials, case.plan, case.rule, comparisons(case), exclusions(case))
    return {"disturbances": row}


SECTION = Section(DisturbancesPart, _compute)
