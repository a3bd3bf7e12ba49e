"""Computes verdicts.json from a campaign's folder (docs/contracts/verdicts.md)."""

import json
import math
from collections.abc import Iterable
from typing import Any, cast

from h123.analysis.case import Case
from h123.analysis.claims.decisions import decide
from h123.analysis.claims.rows import LedgerDecided
from h123.analysis.gathering import gather
from h123.analysis.provenance.gate import GateRow
from h123.analysis.sections import SECTIONS, Verdicts
from h123.analysis.statistics.looks import Looks, journalled_looks
from h123.analysis.verdicts.judgement import judge_case
from h123.analysis.verdicts.width import WidthProgress, campaign_width_progress
from h123.base.files.durable import is_writable, write_atomically
from h123.base.garbage import few_collections
from h123.store import CampaignFolder
from h123.study import Ledger

_LAST_DIGITS = 1e-9
"""The relative difference up to which numbers count as equal, because numerical libraries may sum in a different
order."""


def analyse(folder: CampaignFolder) -> Verdicts:
    """Write verdicts.json, if the folder is writable, and return its content. The same folder always gives the same
    bytes. Raises UserError."""
    with few_collections():
        return _analyse(folder)


def _analyse(folder: CampaignFolder) -> Verdicts:
    case = gather(folder)
    verdicts = compute(case)
    if is_writable(folder.path):
        _journal(folder, case.rule.looks)
        write_atomically(folder.verdicts, _verdicts_text(verdicts))
    return verdicts


def compute(case: Case) -> Verdicts:
    """Return the verdicts of a campaign, with all sections."""
    parts = dict[str, Any]()
    for section in SECTIONS:
        parts |= section.compute(case)
    return cast(Verdicts, parts)


def is_current(verdicts: Verdicts, case: Case) -> bool:
    """Return whether this version of h123 would compute the same verdicts from the campaign. Differences in the last
    digits, in the folder's name, and in the outcome of the gate's conditions are ignored."""
    parts: dict[str, object] = json.loads(_verdicts_text(compute(case)))
    apart = {"campaign", "gate"}
    return all(_is_alike(verdicts.get(name), part) for name, part in parts.items() if name not in apart)


def _is_alike(part: object, other: object) -> bool:
    if isinstance(part, float | int) and isinstance(other, float | int):
        return math.isclose(part, other, rel_tol=_LAST_DIGITS)
    if isinstance(part, dict) and isinstance(other, dict):
        return part.keys() == other.keys() and all(_is_alike(part[name], other[name]) for name in part)
    if isinstance(part, list) and isinstance(other, list):
        return len(part) == len(other) and all(map(_is_alike, part, other))
    return part == other


def record_gate(folder: CampaignFolder, verdicts: Verdicts, gate: GateRow | None) -> Verdicts:
    """Add the outcome of the gate's conditions to the verdicts, and write them as `analyse` does, so that every reader
    of the file sees the outcome."""
    other_parts = cast(Verdicts, {name: part for name, part in verdicts.items() if name != "gate"})
    whole: Verdicts = {**other_parts, "gate": gate} if gate else other_parts
    if is_writable(folder.path):
        write_atomically(folder.verdicts, _verdicts_text(whole))
    return whole


def _verdicts_text(verdicts: Verdicts) -> str:
    """Format the verdicts with one line for each row of each part. Deeper indentation makes the encoder many times
    slower."""
    encode = json.JSONEncoder(sort_keys=True, allow_nan=False, ensure_ascii=False).encode

    def part(content: object) -> str:
        rows = ",\n  ".join(map(encode, content)) if isinstance(content, list) else ""
        return f"[\n  {rows}\n ]" if rows else encode(content)

    return (
        "{\n " + ",\n ".join(f"{encode(name)}: {part(content)}" for name, content in sorted(verdicts.items())) + "\n}\n"
    )


def _journal(folder: CampaignFolder, looks: Looks) -> None:
    """Record this look in the journal, because later looks depend on it (looks.py)."""
    if looks.blocks[-1] not in journalled_looks(folder.events()):
        folder.append({"event": "look", "blocks": looks.blocks[-1]})


def measure_width(folder: CampaignFolder) -> WidthProgress:
    """Measure how narrow the answer's intervals are, for a campaign that must reach a given width. This does not reveal
    where the intervals lie, so it does not count as an early look at the answer. Raises UserError."""
    case = gather(folder)
    return campaign_width_progress(case, judge_case(case))


def decide_claims(folder: CampaignFolder, ledgers: Iterable[Ledger]) -> list[LedgerDecided]:
    """Return the `claims` part of verdicts.json for the given ledgers. Raises UserError."""
    case = gather(folder)
    return [decide(ledger, case) for ledger in ledgers]
