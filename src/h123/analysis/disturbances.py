"""What disturbed trials do to the answers: how many there are, and what the answers would be without them
(docs/disturbances.md)."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from h123.analysis.comparisons import compare
from h123.analysis.verdicts import Rule, judge
from h123.results import Attempt
from h123.study import Plan


def disturbances(
    attempts: Sequence[Attempt], plan: Plan, rule: Rule, judged: Sequence[dict[str, Any]]
) -> dict[str, Any]:
    """The `disturbances` of verdicts.json; `judged` are the comparisons with all trials."""
    disturbed = [attempt for attempt in attempts if attempt.disturbed]
    return {
        "tolerated": rule.margin / 2,
        "trials": len(disturbed),
        "of": len(attempts),
        "typical": float(np.median([a.disturbance or 0.0 for a in disturbed])) if disturbed else None,
        "without": _without(attempts, plan, rule, judged) if disturbed else [],
    }


def _without(
    attempts: Sequence[Attempt], plan: Plan, rule: Rule, judged: Sequence[dict[str, Any]]
) -> list[dict[str, Any]]:
    """The answers to the study's question from undisturbed trials alone, beside those from all."""
    clean = judge(compare([attempt for attempt in attempts if not attempt.disturbed], plan), rule)
    first = plan.study.compare.families[0].name
    answers = [
        (with_all, without)
        for with_all, without in zip(judged, clean, strict=True)
        if with_all["family"].partition("/")[0] == first and with_all["blocks"] != without["blocks"]
    ]
    kept = ("cell", "workload", "metric", "a", "b", "blocks", "ratio", "low", "high", "confidence", "verdict")
    return [{name: without[name] for name in kept} | {"all": with_all["verdict"]} for with_all, without in answers]
