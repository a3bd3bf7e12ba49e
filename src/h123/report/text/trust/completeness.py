"""Writes sentences about a campaign's completeness, its seals, A/A pairs, imports, audits and discarded files."""

from collections import Counter
from collections.abc import Collection

from h123.analysis.audits.finding import AuditCount
from h123.analysis.provenance.discarded_files import DiscardedPart
from h123.analysis.provenance.origin import OriginPart
from h123.analysis.provenance.seals import UnsealedPart
from h123.analysis.sections import Verdicts
from h123.analysis.verdicts.audits import AuditsPart
from h123.analysis.verdicts.twins import TwinsPart
from h123.base.units import counted
from h123.report.text.words import level, percent


def count_lines(verdicts: Verdicts) -> list[str]:
    trials, blocks, imported = verdicts["trials"], verdicts["blocks"], verdicts.get("origin")
    complete = f"{blocks['complete']} of {blocks['planned']} blocks complete"
    if imported and not imported["blocks"]:
        complete = "in no blocks"
    line = f"{trials['valid']} of {trials['planned']} trials valid, {complete}"
    return [line + (f"; {trials['invalid']} invalid attempts kept and repeated" if trials["invalid"] else "")]


def twin_lines(verdicts: TwinsPart) -> list[str]:
    """Return a sentence on how often a comparison of a treatment with itself found a difference."""
    twins = verdicts["twins"]
    if not twins["comparisons"] or twins["expected"] is None:
        return []
    return [
        f"A/A twin: {twins['rejected']} of {twins['comparisons']} comparisons of a treatment with itself differ, "
        f"{twins['verdict']} (chance: {percent(twins['expected'])}, up to {twins['most']} in 99 of 100 campaigns)"
    ]


def seal_lines(verdicts: UnsealedPart) -> list[str]:
    """Return sentences about attempts whose files may have changed unnoticed."""
    if not verdicts.get("unsealed"):
        return []
    return [
        f"{counted(verdicts['unsealed'], 'attempt')} without a seal, because an earlier h123 recorded them: whether "
        "their files have changed cannot be known"
    ]


def import_lines(verdicts: OriginPart) -> list[str]:
    """Return sentences about facts that are unknown because samples were imported."""
    imported = verdicts.get("origin")
    return [*imported["costs"]] if imported else []


def audit_lines(verdicts: AuditsPart) -> list[str]:
    """Return sentences about audits: which failed, and how many passed."""
    failed = [row for row in verdicts["audit_summary"] if row["failed"]]
    lines = [f"audit {row['audit']} failed: {row['failure']}" for row in failed]
    return [*lines, _audits_passed(verdicts["audit_summary"])]


def _audits_passed(summary: Collection[AuditCount]) -> str:
    """Say how many audits passed. An audit that had nothing to check does not count as passed."""
    counts = Counter(row["result"] for row in summary)
    if set(counts) == {"nothing to check"}:
        return f"no audit was made: all {len(summary)} had nothing to check"
    parts = [f"{counts['passed']} of {len(summary)} audits passed"]
    if counts["failed"]:
        parts.append(f"{counts['failed']} failed")
    if silent := counts["nothing to check"]:
        parts.append(f"{silent} had nothing to check (the report names them)")
    return "; ".join(parts)


def discarded_lines(verdicts: DiscardedPart) -> list[str]:
    """Return a sentence about discarded files for each server, for the summary."""
    return [
        f"files that were written in {row['trials']} {'trial' if row['trials'] == 1 else 'trials'} with "
        f"{level(row['server'])} were discarded with the lab, so that nothing changed on this machine: {row['files']}"
        for row in verdicts.get("discarded", [])
    ]
