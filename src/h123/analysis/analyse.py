"""From a campaign's folder to verdicts.json (docs/contracts.md, section 7)."""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from h123.analysis.audits import audit, files_changed
from h123.analysis.comparisons import compare
from h123.analysis.decisions import decide
from h123.analysis.disturbances import disturbances
from h123.analysis.interactions import interactions
from h123.analysis.measured import Evidence
from h123.analysis.origin import costs
from h123.analysis.pace import seconds_per_trial
from h123.analysis.parts import parts
from h123.analysis.projection import outlook, project
from h123.analysis.published import as_published
from h123.analysis.remedy import remedy
from h123.analysis.signflip import attainable
from h123.analysis.verdicts import Rule, judge, twin_rate
from h123.results import Attempt, CampaignFolder, load_attempts
from h123.results.durable import write_atomically
from h123.study import Ledger, Plan, PlannedTrial, Study, ledgers_of, make_plan


def analyse(folder: CampaignFolder) -> dict[str, Any]:
    """The content of verdicts.json, which is also written. The same folder gives the same bytes. Raises UserError."""
    evidence = gather(folder)
    plan, attempts, rule, origin = evidence.plan, evidence.attempts, evidence.rule, folder.origin
    study = plan.study
    unknown = origin["unknown"] if origin else []
    judged = judge(compare(attempts, plan, unknown=unknown), rule)
    comparisons = project(judged, rule.margin, rule.alpha, rule.remedy)
    pace = seconds_per_trial(folder.events())
    asked = study.compare.as_published
    complete = _complete_blocks(attempts, plan)
    whole = [files_changed(folder)]
    findings, summary = audit(attempts, comparisons, whole, plan=plan, alpha=rule.alpha, remedy=rule.remedy)
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
        "unsealed": sum(not event.get("seal") for event in folder.events() if event["event"] == "trial"),
        "comparisons": comparisons,
        "projection": outlook(comparisons, len(plan.blocks[0]), len(attempts), pace, rule.remedy),
        "parts": parts(attempts, plan, rule),
        "interactions": interactions(attempts, plan, rule.alpha),
        "as_published": as_published(folder, plan, comparisons, unknown=unknown) if asked else None,
        "claims": [decide(ledger, evidence) for ledger in ledgers_of(study.name)],
        "disturbances": disturbances(attempts, plan, rule, comparisons),
        "twins": twin_rate(comparisons, rule.alpha),
        "audits": findings,
        "audit_summary": summary,
        "origin": {**origin, "costs": costs(origin, attempts, comparisons, rule.alpha)} if origin else None,
        "values": [_values(attempt) for attempt in attempts],
    }
    text = json.dumps(verdicts, indent=1, sort_keys=True, allow_nan=False, ensure_ascii=False)
    write_atomically(folder.verdicts, text + "\n")
    return verdicts


def decide_claims(folder: CampaignFolder, ledgers: Iterable[Ledger]) -> list[dict[str, Any]]:
    """The `claims` of verdicts.json, of any ledgers. Raises UserError."""
    evidence = gather(folder)
    return [decide(ledger, evidence) for ledger in ledgers]


def gather(folder: CampaignFolder) -> Evidence:
    """What a campaign's folder holds, ready to be judged. Raises UserError."""
    study = Study.from_resolved(folder.study)
    plan = make_plan(study, blocks=folder.blocks, seed=folder.seed, only=folder.only)
    standing = [event for event in folder.events() if event["event"] != "trial" or not folder.damage(event)]
    cure = remedy(plan, standing, imported=folder.origin is not None)
    return Evidence(plan, load_attempts(folder), Rule(study.compare.margin, study.compare.alpha, folder.seed, cure))


def _complete_blocks(attempts: Sequence[Attempt], plan: Plan) -> int:
    valid = {_treatment(attempt) for attempt in attempts}
    return sum(all(_treatment(trial) in valid for trial in block) for block in plan.blocks)


def _treatment(trial: Attempt | PlannedTrial) -> tuple[object, ...]:
    """What a block has once. Imported trials have names of their own, and may have several runs of one."""
    return trial.block, tuple(sorted(trial.cell.items())), trial.twin


def _trial_counts(folder: CampaignFolder, attempts: Sequence[Attempt], plan: Plan) -> dict[str, int]:
    tried = Counter(bool(event["valid"]) for event in folder.events() if event["event"] == "trial")
    missing = len({_treatment(trial) for trial in plan.trials()} - {_treatment(attempt) for attempt in attempts})
    valid = len(attempts)
    return {"planned": valid + missing, "valid": valid, "invalid": tried[False], "missing": missing}


def _values(attempt: Attempt) -> dict[str, Any]:
    return {
        "trial": attempt.name,
        "block": attempt.block,
        "position": attempt.position,
        "cell": attempt.cell,
        "twin": attempt.twin,
        "metrics": attempt.metrics,
    }
