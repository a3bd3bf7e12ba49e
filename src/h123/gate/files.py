"""What a gate leaves in the campaign's folder: gate.json, gate.xml (JUnit) and gate.md (for a comment)."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, SubElement, tostring

from h123.durable import write_atomically
from h123.gate.passage import Cell, Passage, worst

_TITLES = {"passed": "passed", "failed": "FAILED", "undecided": "undecided"}


def write_gate(folder: Path, campaign: str, passages: Sequence[Passage]) -> list[Path]:
    """Writes them all; their paths. Raises OSError."""
    texts = {"gate.json": _json(campaign, passages), "gate.xml": _junit(passages), "gate.md": _markdown(passages)}
    for name, text in texts.items():
        write_atomically(folder / name, text)
    return [folder / name for name in texts]


def _json(campaign: str, passages: Sequence[Passage]) -> str:
    conditions: list[dict[str, Any]] = [
        {"condition": str(one.condition), "verdict": one.word, "cells": [_described(cell) for cell in one.cells]}
        for one in passages
    ]
    verdict = worst([one.word for one in passages])
    return json.dumps({"h123": "gate/1", "campaign": campaign, "verdict": verdict, "conditions": conditions}, indent=1)


def _described(cell: Cell) -> dict[str, Any]:
    told = asdict(cell)
    return {"cell": told.pop("cell"), "verdict": told.pop("word"), **told}


def _junit(passages: Sequence[Passage]) -> str:
    cells = [(one, cell) for one in passages for cell in one.cells]
    count = {word: str(sum(cell.word == word for _, cell in cells)) for word in _TITLES}
    suite = Element(
        "testsuite", name="h123", tests=str(len(cells)), failures=count["failed"], skipped=count["undecided"]
    )
    for one, cell in cells:
        case = SubElement(suite, "testcase", classname=str(one.condition), name=place(cell) or "all")
        if cell.word == "failed":
            SubElement(case, "failure", message=f"{figures(cell)}: {cell.why}")
        elif cell.word == "undecided":
            SubElement(case, "skipped", message=f"{figures(cell)}: {cell.why}")
    return tostring(suite, encoding="unicode", xml_declaration=True)


def _markdown(passages: Sequence[Passage]) -> str:
    lines = ["| fails if | where | ratio (interval) | verdict |", "|---|---|---|---|"]
    for one in passages:
        lines += [
            f"| {one.condition} | {place(cell) or 'all'} | {figures(cell)} | {_TITLES[cell.word]} |"
            for cell in one.cells
        ]
    return "\n".join([f"**h123: {_TITLES[worst([one.word for one in passages])]}**", "", *lines, ""])


def place(cell: Cell) -> str:
    """`cellular, h3`."""
    return ", ".join(cell.cell.values())


def figures(cell: Cell) -> str:
    """`1.073 (1.061 to 1.090)`."""
    if cell.ratio is None:
        return "not known"
    low, high = ("without bound" if bound is None else f"{bound:.3f}" for bound in (cell.low, cell.high))
    return f"{cell.ratio:.3f} ({low} to {high})"
