"""Writes a gate's outcome into a folder, in h123's own format and in those of other tools (docs/contracts/gate.md)."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import NotRequired
from xml.etree.ElementTree import Element, SubElement, tostring

from typing_extensions import TypedDict

from h123.base.files.durable import write_atomically
from h123.base.terminal.markdown import plain
from h123.base.terminal.visible import in_one_line
from h123.gate.benchmark import benchmark
from h123.gate.document import CellRow, ConditionRow, Gate, Word
from h123.gate.exposition import exposition
from h123.gate.figure import GateFigure
from h123.gate.outcome import UNMEASURED, ConditionOutcome, GateCell, worst


class _Measured(TypedDict):
    ratio: float | None
    value: NotRequired[float | None]
    unit: NotRequired[str]


GATE_FILES = ("gate.json", "gate.xml", "gate.md", "gate-benchmark.json", "gate.prom")
_TITLES: dict[Word, str] = {"passed": "passed", "failed": "FAILED", "undecided": "undecided"}


def write_gate(folder: Path, campaign: str, outcomes: Sequence[ConditionOutcome]) -> list[Path]:
    """Write all files and return their paths. Raises OSError."""
    texts = (
        json.dumps(gate_document(campaign, outcomes), indent=1) + "\n",
        _junit(outcomes),
        _markdown(outcomes),
        benchmark(outcomes),
        exposition(campaign, outcomes),
    )
    for name, text in zip(GATE_FILES, texts, strict=True):
        write_atomically(folder / name, text)
    return [folder / name for name in GATE_FILES]


def gate_document(campaign: str, outcomes: Sequence[ConditionOutcome]) -> Gate:
    verdict = worst([outcome.word for outcome in outcomes])
    return {
        "h123": "gate/1",
        "campaign": campaign,
        "verdict": verdict,
        "conditions": [_row(outcome) for outcome in outcomes],
    }


def _row(outcome: ConditionOutcome) -> ConditionRow:
    row: ConditionRow = {
        "condition": outcome.condition.holds,
        "by": outcome.condition.by,
        "verdict": outcome.word,
        "cells": [_cell(cell) for cell in outcome.cells],
    }
    if outcome.unmeasured:
        row["not_checked"] = [{"cell": dict(figure.cell), "why": UNMEASURED} for figure in outcome.unmeasured]
    return row


def _cell(cell: GateCell) -> CellRow:
    figure = cell.figure
    return {
        "cell": dict(figure.cell),
        "verdict": cell.word,
        "why": cell.why,
        **_measured(figure),
        "low": figure.low,
        "high": figure.high,
        "confidence": figure.confidence,
        "blocks": figure.blocks,
        "blocks_needed": cell.blocks_needed,
    }


def _measured(figure: GateFigure) -> _Measured:
    """Return the figure as a ratio, or as a value with its unit."""
    if figure.unit is None:
        return {"ratio": figure.value}
    return {"ratio": None, "value": figure.value, "unit": figure.unit}


def _junit(outcomes: Sequence[ConditionOutcome]) -> str:
    cells = [(outcome, cell) for outcome in outcomes for cell in outcome.cells]
    count = {word: str(sum(cell.word == word for _, cell in cells)) for word in _TITLES}
    unmeasured = [(outcome, figure) for outcome in outcomes for figure in outcome.unmeasured]
    tests, skipped = (number + len(unmeasured) for number in (len(cells), int(count["undecided"])))
    suite = Element("testsuite", name="h123", tests=str(tests), failures=count["failed"], skipped=str(skipped))
    for condition_outcome, cell in cells:
        case = _testcase(suite, condition_outcome, cell.place)
        why = in_one_line(f"{cell.figures}: {cell.why}")
        if cell.word == "failed":
            SubElement(case, "failure", message=why)
        elif cell.word == "undecided":
            SubElement(case, "skipped", message=why)
    for outcome, figure in unmeasured:
        SubElement(_testcase(suite, outcome, figure.place), "skipped", message=f"not checked: {UNMEASURED}")
    return tostring(suite, encoding="unicode", xml_declaration=True)


def _testcase(suite: Element, outcome: ConditionOutcome, place: str) -> Element:
    names = {"classname": in_one_line(str(outcome.condition)), "name": in_one_line(place or "all")}
    return SubElement(suite, "testcase", names)


def _markdown(outcomes: Sequence[ConditionOutcome]) -> str:
    lines = ["| required | where | ratio or value (interval) | verdict |", "|---|---|---|---|"]
    for outcome in outcomes:
        lines += [
            f"| {plain(str(outcome.condition))} | {plain(cell.place or 'all')} | {cell.figures} | "
            f"{_TITLES[cell.word]}{plain(f', {cell.why}' if cell.word == 'undecided' else '')} |"
            for cell in outcome.cells
        ]
        lines += [
            f"| {plain(str(outcome.condition))} | {plain(figure.place)} | – | not checked, {UNMEASURED} |"
            for figure in outcome.unmeasured
        ]
    return "\n".join([f"**h123: {_TITLES[worst([outcome.word for outcome in outcomes])]}**", "", *lines, ""])
