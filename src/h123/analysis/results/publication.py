"""Publishes a finished campaign as a result. Defines the requirements for publication, and which parts of the verdicts
the result keeps."""

import hashlib
import json
import statistics
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from h123.analysis.analyse import is_current
from h123.analysis.audits import MEANINGS
from h123.analysis.audits.finding import AuditRow
from h123.analysis.case import Case
from h123.analysis.claims.decisions import decide
from h123.analysis.claims.rows import LedgerDecided
from h123.analysis.comparisons.interactions import InteractionRow
from h123.analysis.gathering import gather
from h123.analysis.provenance.values import ValueRow
from h123.analysis.results.head import Sealed, SpreadRow, head_of
from h123.analysis.sections import Verdicts, read_verdicts, verdicts_of
from h123.analysis.statistics.precision import spread
from h123.analysis.statistics.spreads import SpreadTrial
from h123.base.errors import UserError
from h123.base.garbage import few_collections
from h123.base.paths import typed
from h123.base.terminal.redaction import holds_secrets
from h123.base.units import counted
from h123.documents.events import TrialEvent, superseded
from h123.documents.result_archive import ARCHIVE
from h123.documents.result_file import FORMAT, PublishedResult, rounded, write_result
from h123.store import CampaignFolder, damage_words
from h123.study import ENOUGH_FOR_INTERVAL, METRICS, Study, ledgers_of

_FEW_DIGITS = 3
"""The number of significant digits of the parts of causes, and of trials' values that are not in the answer's table."""
_FEW_FINDINGS = 10
"""The number of failed findings of each audit that a result keeps. The audit's summary counts all of them."""
_ROUNDING = 1e-9
"""The tolerated rounding error of a confidence."""
_CLAIM_TEXTS = ("quotation", "summary", "source", "where", "note")
"""The texts of a claim, which a result does not repeat: they are in the claim's file."""
Page = Callable[[CampaignFolder, Verdicts], Mapping[str, object]]


def publish_result(folder: CampaignFolder, name: str, page: Page, into: Path = ARCHIVE) -> PublishedResult:
    """Put the campaign's result into the archive. `page` collects what the result's page needs in addition to the
    verdicts (h123.report).

    Raises UserError if the campaign is not finished, differs from its seals, or has verdicts that differ from those
    that this version of h123 computes.
    """
    with few_collections():
        verdicts = read_verdicts(folder)
        _refuse_unfit(folder, verdicts)
        sealed, case = _sealed(folder), gather(folder)
        if not is_current(verdicts, case):
            raise UserError(
                f"the verdicts of {folder.path} differ from what this version of h123 computes",
                remedy=f"run `h123 analyse {typed(folder.path)}` first",
            )
        head = {
            "h123": FORMAT,
            "name": name,
            "command": repeat_command(folder, folder.study["name"]),
            "campaign": json.loads((folder.path / "campaign.json").read_text("utf-8")),
            "seals": sealed,
            "claims": _measured(verdicts["claims"]),
            "spreads": _spreads(verdicts, case),
        }
        parts = _published_parts(verdicts, case.plan.study)
        result = write_result(name, head, parts, page(folder, verdicts), into)
        head_of(result)
        return result


def published_verdicts(result: PublishedResult) -> tuple[Verdicts, dict[str, Any]]:
    """Return the verdicts of a published result and the data of its page, with the texts of claims as they are now.
    Raises UserError if the result is damaged or has a different shape."""
    parts, page = result.parts()
    texts = {row["id"]: row for ledger in ledgers_of(str(parts.get("study"))) for row in decide(ledger)["claims"]}
    for ledger in _rows(parts, "claims"):
        for row in _rows(ledger, "claims"):
            now: Mapping[str, Any] = texts.get(str(row.get("id")), {})
            row |= {text: now.get(text) for text in _CLAIM_TEXTS}
    for row in _rows(parts, "audit_summary"):
        row["meaning"] = MEANINGS.get(str(row.get("audit")), "")
    for row in _rows(parts, "values"):
        row |= {"trial": f"block {row.get('block')}", "position": None}
    verdicts = verdicts_of(parts, result.place)
    return {**verdicts, "values": sorted(verdicts["values"], key=_when)}, page


def _rows(parts: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    """Return the rows of a part that may have a wrong shape."""
    rows = parts.get(name)
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def repeat_command(folder: CampaignFolder, study: str) -> str:
    """Return the command that runs the campaign again, with the study's file and the options that were used."""
    if made_by := folder.study.get("made_by"):
        return str(made_by)
    scale, settings = folder.study.get("scale", 1.0), folder.study["settings"]
    options = [f"--seed {folder.seed}", f"--blocks {folder.blocks}"]
    options += [f"--scale {scale:g}"] if scale != 1 else []
    options += ["--clock virtual"] if settings.get("clock") == "virtual" else []
    options += ["--transport matched"] if settings.get("transport") == "matched" else []
    options += [f"--filter {factor}={','.join(levels)}" for factor, levels in folder.level_filter.items()]
    options += [f"--shard {folder.shard.text}"] if folder.shard else []
    return " ".join(["h123 run", study, *options])


def _refuse_unfit(folder: CampaignFolder, verdicts: Verdicts) -> None:
    if folder.imported or holds_secrets(folder.study):
        raise UserError(
            f"{folder.path} cannot be published: "
            + ("its samples were imported" if folder.imported else "its study has secrets in it")
        )
    if folder.unjournalled():
        raise UserError(
            f"{folder.path} cannot be published: {damage_words(folder)}",
            remedy=f"`h123 run --out {typed(folder.path)}` puts them into the journal again",
        )
    if waiting := verdicts["projection"]["waiting"]:
        raise UserError(
            f"{folder.path} is not finished: {waiting} of {verdicts['trials']['planned']} trials have not run",
            remedy=f"`h123 run --out {typed(folder.path)}` continues it",
        )


def _sealed(folder: CampaignFolder) -> Sealed:
    """Return the digest of all seals. Raises UserError if an attempt has no seal, or if its files have changed since it
    was sealed."""
    folder.examine()
    attempts = [event for event in folder.events() if event["event"] == "trial"]
    faults = [f"{folder.attempt(event).name}: {fault}" for event in attempts if (fault := _fault(folder, event))]
    if faults:
        raise UserError(
            f"{counted(len(faults), 'attempt')} in {folder.path} {'is' if len(faults) == 1 else 'are'} not as sealed: "
            + "; ".join(faults[:3]),
            remedy="restore the files from a copy, or run the campaign again",
        )
    lines = sorted(f"{folder.attempt(event).name} {event.get('seal')}\n" for event in attempts)
    return {"attempts": len(lines), "digest": hashlib.sha256("".join(lines).encode()).hexdigest()}


def _fault(folder: CampaignFolder, event: TrialEvent) -> str | None:
    if superseded(event):
        return None
    return folder.damage(event) or (None if event.get("seal") else "it has no seal")


def _measured(ledgers: Sequence[LedgerDecided]) -> list[dict[str, Any]]:
    """Return the ledgers with only those claims that the campaign measured, because no other verdict is its own. Their
    texts are null."""
    texts = dict.fromkeys(_CLAIM_TEXTS)
    found = [
        {**ledger, "claims": [{**row, **texts} for row in ledger["claims"] if row["figures"]]} for ledger in ledgers
    ]
    return [ledger for ledger in found if ledger["claims"]]


def _published_parts(verdicts: Verdicts, study: Study) -> dict[str, Any]:
    """Return the verdicts without what the head contains, a paper's own analysis, most findings of audits (their
    summary counts them), interactions of other metrics or several other factors, what `values` repeats, and
    values of metrics that the study neither compares nor draws. `published_verdicts` restores the meanings of audits,
    and names trials by their block."""
    return {
        **_without(verdicts, "claims"),
        "as_published": None,
        "audits": published_findings(verdicts),
        "audit_summary": [_without(row, "meaning") for row in verdicts["audit_summary"]],
        "interactions": published_interactions(verdicts, study.compare.families[0].metrics),
        "values": _values(verdicts, study),
        "causes": rounded(verdicts["causes"], _FEW_DIGITS),
        "comparisons": [{**comparison, "pairs": [], "symmetric": None} for comparison in verdicts["comparisons"]],
    }


def published_interactions(verdicts: Verdicts, answers: Sequence[str]) -> list[InteractionRow]:
    """Return the interactions that a published result keeps: those with one other factor, of the metrics `answers`,
    which are those of the study's first family."""
    return [row for row in verdicts["interactions"] if row["metric"] in answers and len(row["term"]) == 1]


def published_findings(verdicts: Verdicts) -> list[AuditRow]:
    """Return the audits' findings that a published result keeps: the first failed ones of each audit."""
    kept, count = list[AuditRow](), Counter[str]()
    for finding in verdicts["audits"]:
        if not finding["passed"] and count[finding["audit"]] < _FEW_FINDINGS:
            kept.append(finding)
            count[finding["audit"]] += 1
    return kept


def _without(row: Mapping[str, Any], *parts: str) -> dict[str, Any]:
    return {name: part for name, part in row.items() if name not in parts}


def _values(verdicts: Verdicts, study: Study) -> list[dict[str, Any]]:
    """Return the trials' values of metrics that are compared or drawn, without the trials' names and positions. The
    trials of a treatment are next to each other, so that their values compress well. Values of metrics that do not
    answer the study's question have three digits."""
    shown = {c["metric"] for c in verdicts["comparisons"]} | {chart.metric for chart in study.compare.charts}
    answers = study.compare.families[0].metrics
    precise = {*answers, *(METRICS[name].cold for name in answers)}
    return [
        {
            **_without(row, "trial", "position"),
            "metrics": {
                name: value if name in precise else rounded(value, _FEW_DIGITS)
                for name, value in row["metrics"].items()
                if name in shown
            },
        }
        for row in sorted(verdicts["values"], key=lambda row: (sorted(row["cell"].items()), row["twin"], _when(row)))
    ]


def _when(row: ValueRow) -> tuple[int, int]:
    return row["block"], row["position"] or 0


def _spreads(verdicts: Verdicts, case: Case) -> Sequence[SpreadRow]:
    """Return the median standard deviation of log ratios for each metric and each kind of trial. A/A pairs are left
    out, because their ratios vary less than those of different levels."""
    study = case.plan.study
    spreads: dict[tuple[SpreadTrial, str], list[float]] = defaultdict(list)
    blocks: dict[tuple[SpreadTrial, str], int] = {}
    for comparison in verdicts["comparisons"]:
        low, high, confidence = comparison["low"], comparison["high"], comparison["confidence"]
        if comparison["twin"] or comparison["blocks"] < ENOUGH_FOR_INTERVAL or not (low and high and confidence):
            continue
        sides = [
            study.parameters({**comparison["cell"], study.compare.factor: level})
            for level in (comparison["a"], comparison["b"])
        ]
        trials = {SpreadTrial.of(side) for side in sides}
        if len(trials) > 1 or any(len(side.networks()) > 1 for side in sides):
            continue  # as in comparisons/power_preview.py
        kind = trials.pop(), comparison["metric"]
        spreads[kind].append(spread(low, high, comparison["blocks"], 1 - confidence + _ROUNDING))
        blocks[kind] = min(blocks.get(kind, comparison["blocks"]), comparison["blocks"])
    return [_spread_row(trial, metric, blocks[trial, metric], of) for (trial, metric), of in spreads.items()]


def _spread_row(trial: SpreadTrial, metric: str, blocks: int, spreads: Sequence[float]) -> SpreadRow:
    return {
        "network": trial.network,
        "clock": trial.clock,
        "method": trial.method,
        "size": trial.size,
        "users": trial.users,
        "requests": trial.requests,
        "metric": metric,
        "blocks": blocks,
        "comparisons": len(spreads),
        "spread": float(f"{statistics.median(spreads):.3g}"),
    }
