"""What a gate leaves in a folder, in the forms that others read (docs/contracts/gate.md)."""

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
from h123.gate.outcome import GateCell, GateCondition, worst


class _Measured(TypedDict):
    ratio: float | None
    value: NotRequired[float | None]
    unit: NotRequired[str]


GATE_FILES = ("gate.json", "gate.xml", "gate.md", "gate-benchmark.json", "gate.prom")
_TITLES: dict[Word, str] = {"passed": "passed", "failed": "FAILED", "undecided": "undecided"}


def write_gate(folder: Path, campaign: str, passages: Sequence[GateCondition]) -> list[Path]:
    """Writes them all; their paths. Raises OSError."""
    texts = (
        json.dumps(_document(campaign, passages), indent=1) + "\n",
        _junit(passages),
        _markdown(passages),
        benchmark(passages),
        exposition(campaign, passages),
    )
    for name, text in zip(GATE_FILES, texts, strict=True):
        write_atomically(folder / name, text)
    return [folder / name for name in GATE_FILES]


def _document(campaign: str, passages: Sequence[GateCondition]) -> Gate:
    verdict = worst([one.word for one in passages])
    return {"h123": "gate/1", "campaign": campaign, "verdict": verdict, "conditions": [_row(one) for one in passages]}


def _row(one: GateCondition) -> ConditionRow:
    cells = [_cell(cell) for cell in one.cells]
    return {"condition": one.condition.holds, "by": one.condition.by, "verdict": one.word, "cells": cells}


def _cell(cell: GateCell) -> CellRow:
    held = cell.held
    return {
        "cell": dict(held.cell),
        "verdict": cell.word,
        "why": cell.why,
        **_measured(held),
        "low": held.low,
        "high": held.high,
        "confidence": held.confidence,
        "blocks": held.blocks,
        "blocks_needed": cell.blocks_needed,
    }


def _measured(held: GateFigure) -> _Measured:
    """A ratio, or a value and its unit."""
    if held.unit is None:
        return {"ratio": held.value}
    return {"ratio": None, "value": held.value, "unit": held.unit}


def _junit(passages: Sequence[GateCondition]) -> str:
    cells = [(one, cell) for one in passages for cell in one.cells]
    count = {word: str(sum(cell.word == word for _, cell in cells)) for word in _TITLES}
    suite = Element(
        "testsuite", name="h123", tests=str(len(cells)), failures=count["failed"], skipped=count["undecided"]
    )
    for one, cell in cells:
        named = {"classname": in_one_line(str(one.condition)), "name": in_one_line(cell.place or "all")}
        case = SubElement(suite, "testcase", named)
        why = in_one_line(f"{cell.figures}: {cell.why}")
        if cell.word == "failed":
            SubElement(case, "failure", message=why)
        elif cell.word == "undecided":
            SubElement(case, "skipped", message=why)
    return tostring(suite, encoding="unicode", xml_declaration=True)


def _markdown(passages: Sequence[GateCondition]) -> str:
    lines = ["| required | where | ratio or value (interval) | verdict |", "|---|---|---|---|"]
    for one in passages:
        lines += [
            f"| {plain(str(one.condition))} | {plain(cell.place or 'all')} | {cell.figures} | "
            f"{_TITLES[cell.word]}{plain(_more(cell))} |"
            for cell in one.cells
        ]
    return "\n".join([f"**h123: {_TITLES[worst([one.word for one in passages])]}**", "", *lines, ""])


def _more(cell: GateCell) -> str:
    return f", {cell.why}" if cell.word == "undecided" else ""
