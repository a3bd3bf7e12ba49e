"""From a campaign's folder to verdicts.json (docs/contracts/verdicts.md)."""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import cast

from h123.analysis.as_published import as_published
from h123.analysis.audits import audit_campaign, files_changed
from h123.analysis.case import Case, complete_blocks, gather
from h123.analysis.claims.decisions import decide
from h123.analysis.comparisons.comparison import compare
from h123.analysis.comparisons.confounding import confounding
from h123.analysis.comparisons.failures import failures
from h123.analysis.comparisons.interactions import interactions
from h123.analysis.comparisons.projection import outlook, project
from h123.analysis.comparisons.repeats import repeats
from h123.analysis.comparisons.twins import twin_rate
from h123.analysis.document import (
    GateRow,
    Judged,
    LedgerDecided,
    LooksTaken,
    TransportRow,
    TrialCounts,
    UnprovedRow,
    ValueRow,
    Verdicts,
    WidthReached,
)
from h123.analysis.explanations.causes import causes
from h123.analysis.explanations.first_bytes import with_reasons
from h123.analysis.explanations.handshakes import handshakes, noted
from h123.analysis.explanations.windows import windows
from h123.analysis.provenance.discarded import discarded
from h123.analysis.provenance.failed_attempts import failed_attempts
from h123.analysis.provenance.imported import costs
from h123.analysis.provenance.places import places
from h123.analysis.provenance.remote_server import elsewhere
from h123.analysis.statistics.looks import Looks, told
from h123.analysis.statistics.rule import Rule
from h123.analysis.statistics.signedrank import attainable
from h123.analysis.trials import treated
from h123.analysis.verdicts.capacity import capacity
from h123.analysis.verdicts.decomposition import decomposition
from h123.analysis.verdicts.disturbances import disturbances
from h123.analysis.verdicts.ladder import ladder
from h123.analysis.verdicts.pace import seconds_per_trial
from h123.analysis.verdicts.tails import tails
from h123.analysis.verdicts.verdict import judge
from h123.analysis.verdicts.width import Reached, reached
from h123.base.files.durable import write_atomically
from h123.base.garbage import few_collections
from h123.base.terminal.redaction import hidden
from h123.base.transport import SETTINGS
from h123.documents.events import Event
from h123.measures import Attempt, shown
from h123.store import CampaignFolder
from h123.study import Choosing, Ledger, Plan, ledgers_of, likenesses


def analyse(folder: CampaignFolder) -> Verdicts:
    """The content of verdicts.json, which is also written. The same folder gives the same bytes. Raises UserError."""
    with few_collections():
        return _analyse(folder)


def _analyse(folder: CampaignFolder) -> Verdicts:
    case = gather(folder)
    plan, trials, rule, imported = case.plan, case.trials, case.rule, folder.imported
    study, attempts, exclusions = plan.study, trials.attempts, case.exclusions
    unknown = imported["unknown"] if imported else []
    compared = compare(trials, plan, unknown=unknown)
    judged = judge(compared, rule, exclusions)
    opened = handshakes(attempts, judged, study.compare.factor)
    comparisons = with_reasons(project(noted(judged, opened), rule), attempts, study.compare.factor)
    events, choosing = folder.events(), _choosing(folder)
    pace = seconds_per_trial(events)
    asked = study.compare.as_published
    complete = complete_blocks(attempts, plan)
    whole = [*case.order, files_changed(folder)]
    findings, summary = audit_campaign(attempts, comparisons, whole, plan=plan, rule=rule)
    verdicts: Verdicts = {
        "h123": "verdicts/1",
        "campaign": folder.name,
        "study": study.name,
        "question": hidden(study.question),
        "factor": study.compare.factor,
        "margin": rule.margin,
        "alpha": rule.alpha,
        "looks": _looks(rule),
        "width": _width(folder, comparisons, case),
        "seed": folder.seed,
        "blocks": {"planned": len(plan.blocks), "complete": complete},
        "attainable_p": attainable(complete),
        "trials": _trial_counts(events, attempts, plan),
        "failed_attempts": failed_attempts(events),
        "unsealed": sum(not event.get("seal") for event in events if event["event"] == "trial"),
        "answers": case.answers.unlike(),
        "places": places(attempts, events),
        "unproved": _unproved(folder),
        "discarded": discarded(attempts),
        "comparisons": comparisons,
        "failures": failures(case.shares, plan, rule.level, study.compare.failures) if case.shares.any else [],
        "projection": outlook(comparisons, len(plan.blocks[0]), len(attempts), pace, rule.remedy),
        "transport": [] if imported else _transport(plan, choosing),
        "windows": [] if imported else windows(folder, plan, choosing, comparisons),
        "elsewhere": [] if imported else elsewhere(folder, attempts),
        "causes": [] if imported else causes(folder, attempts, comparisons, study.compare.factor),
        "ladder": ladder(comparisons, study.compare.ladder),
        "capacity": capacity(attempts, plan),
        "parts": decomposition(trials, plan, rule, exclusions),
        "interactions": interactions(attempts, plan, rule.alpha),
        "as_published": as_published(folder, plan, comparisons, unknown=unknown) if asked else None,
        "claims": [decide(ledger, case) for ledger in ledgers_of(study.name)],
        "disturbances": disturbances(trials, plan, rule, comparisons, exclusions),
        "repeats": repeats(comparisons),
        "confounded": confounding(attempts, plan),
        "handshakes": opened,
        "tails": tails(folder, attempts, plan),
        "twins": twin_rate(compared, comparisons, rule.alpha, folder.seed),
        "audits": case.audits.rows + findings,
        "audit_summary": case.audits.summary + summary,
        "origin": {**imported, "costs": costs(imported, case, comparisons)} if imported else None,
        "values": [_values(attempt) for attempt in attempts],
    }
    _journal(folder, rule.looks)
    write_atomically(folder.verdicts, _written(verdicts))
    return verdicts


def record_gate(folder: CampaignFolder, verdicts: Verdicts, gate: GateRow | None) -> Verdicts:
    """The same with what became of its conditions, which is also written, so that whoever reads them reads the same."""
    kept = cast(Verdicts, {name: part for name, part in verdicts.items() if name != "gate"})
    whole: Verdicts = {**kept, "gate": gate} if gate else kept
    write_atomically(folder.verdicts, _written(whole))
    return whole


def _written(verdicts: Verdicts) -> str:
    """A line for each row of each part. With an indentation deeper than that the encoder is many times slower."""
    encode = json.JSONEncoder(sort_keys=True, allow_nan=False, ensure_ascii=False).encode

    def part(content: object) -> str:
        rows = ",\n  ".join(map(encode, content)) if isinstance(content, list) else ""
        return f"[\n  {rows}\n ]" if rows else encode(content)

    return (
        "{\n " + ",\n ".join(f"{encode(name)}: {part(content)}" for name, content in sorted(verdicts.items())) + "\n}\n"
    )


def _choosing(folder: CampaignFolder) -> Choosing:
    """What the subjects declared when the campaign began."""
    return {name: {setting: about.get(setting, []) for setting in SETTINGS} for name, about in folder.subjects.items()}


def _transport(plan: Plan, choosing: Choosing) -> list[TransportRow]:
    """How alike the compared treatments sent."""
    return [
        {"transport": found.transport, "unlike": found.unlike, "said": found.said}
        for found in likenesses(plan, choosing)
    ]


def _unproved(folder: CampaignFolder) -> list[UnprovedRow]:
    """None where an earlier h123 began the campaign: it did not look."""
    return [
        {**proof, "subject": name, "role": role}
        for name, about in folder.subjects.items()
        for role, proof in about.get("proofs", {}).items()
        if proof["outcome"] != "passed"
    ]


def _looks(rule: Rule) -> LooksTaken:
    taken = rule.looks
    return {"blocks": taken.blocks, "planned": taken.planned, "rule": taken.rule, "level": taken.level(rule.alpha)}


def _journal(folder: CampaignFolder, looks: Looks) -> None:
    """Every look is told, for the next one to know of it (looks.py)."""
    if looks.blocks[-1] not in told(folder.events()):
        folder.append({"event": "look", "blocks": looks.blocks[-1]})


def measure_width(folder: CampaignFolder) -> Reached:
    """How narrow the intervals of the answer are, of a campaign that is to have a width. Nobody is told where they lie,
    so this is no look. Raises UserError."""
    case = gather(folder)
    judged = judge(compare(case.trials, case.plan), case.rule, case.exclusions)
    return _reached(folder, judged, case)


def _reached(folder: CampaignFolder, judged: Sequence[Judged], case: Case) -> Reached:
    assert folder.width is not None
    return reached(judged, folder.width["wanted"], len(case.plan.blocks), case.rule)


def _width(folder: CampaignFolder, judged: Sequence[Judged], case: Case) -> WidthReached | None:
    if folder.width is None:
        return None
    found = _reached(folder, judged, case)
    return {**folder.width, "narrow": found.narrow, "widest": found.widest, "blocks": found.blocks}


def decide_claims(folder: CampaignFolder, ledgers: Iterable[Ledger]) -> list[LedgerDecided]:
    """The `claims` of verdicts.json, of any ledgers. Raises UserError."""
    case = gather(folder)
    return [decide(ledger, case) for ledger in ledgers]


def _trial_counts(events: Sequence[Event], attempts: Sequence[Attempt], plan: Plan) -> TrialCounts:
    tried = Counter(bool(event["valid"]) for event in events if event["event"] == "trial")
    missing = len({treated(trial) for trial in plan.trials()} - {treated(attempt) for attempt in attempts})
    valid = len(attempts)
    return {"planned": valid + missing, "valid": valid, "invalid": tried[False], "missing": missing}


def _values(attempt: Attempt) -> ValueRow:
    return {
        "trial": attempt.name,
        "block": attempt.block,
        "position": attempt.position,
        "cell": attempt.cell,
        "twin": attempt.twin,
        "metrics": shown(attempt.metrics),
    }
