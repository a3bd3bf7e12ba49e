"""From a campaign's folder to verdicts.json (docs/contracts.md, section 7)."""

import json
from collections import Counter
from typing import Any

from h123.analysis.audits import audit
from h123.analysis.comparisons import compare
from h123.analysis.signflip import attainable
from h123.analysis.verdicts import Rule, judge, twin_rate
from h123.results import Attempt, CampaignFolder, load_attempts
from h123.results.durable import write_atomically
from h123.study import Plan, Study, make_plan


def analyse(folder: CampaignFolder) -> dict[str, Any]:
    """The content of verdicts.json, which is also written. The same folder gives the same bytes. Raises UserError."""
    study = Study.from_resolved(folder.study)
    plan = make_plan(study, blocks=folder.blocks, seed=folder.seed, only=folder.only)
    attempts = load_attempts(folder)
    rule = Rule(margin=study.compare.margin, alpha=study.compare.alpha, seed=folder.seed)
    comparisons = judge(compare(attempts, plan), rule)
    complete = _complete_blocks(attempts, plan)
    findings, summary = audit(attempts, comparisons, compared=study.compare.factor, alpha=rule.alpha)
    verdicts = {
        "h123": "verdicts/1",
        "campaign": folder.name,
        "study": study.name,
        "question": study.question,
        "factor": study.compare.factor,
        "margin": rule.margin,
        "alpha": rule.alpha,
        "seed": rule.seed,
        "blocks": {"planned": len(plan.blocks), "complete": complete},
        "attainable_p": attainable(complete),
        "trials": _trial_counts(folder, attempts, plan),
        "comparisons": comparisons,
        "twins": twin_rate(comparisons, rule.alpha),
        "audits": findings,
        "audit_summary": summary,
        "values": [_values(attempt) for attempt in attempts],
    }
    text = json.dumps(verdicts, indent=1, sort_keys=True, allow_nan=False, ensure_ascii=False)
    write_atomically(folder.verdicts, text + "\n")
    return verdicts


def _complete_blocks(attempts: list[Attempt], plan: Plan) -> int:
    valid = {attempt.trial for attempt in attempts}
    return sum(all(trial.id in valid for trial in block) for block in plan.blocks)


def _trial_counts(folder: CampaignFolder, attempts: list[Attempt], plan: Plan) -> dict[str, int]:
    tried = Counter(bool(event["valid"]) for event in folder.events() if event["event"] == "trial")
    planned, valid = len(plan.trials()), len(attempts)
    return {"planned": planned, "valid": valid, "invalid": tried[False], "missing": planned - valid}


def _values(attempt: Attempt) -> dict[str, Any]:
    return {
        "trial": attempt.name,
        "block": attempt.block,
        "position": attempt.position,
        "cell": attempt.cell,
        "twin": attempt.twin,
        "metrics": attempt.metrics,
    }
