"""Checks a campaign against conditions: a study's `require`, or the `--fail-if` of `gate`, `diff` and `compare`."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from pydantic import ValidationError

from h123.analysis import analyse, gather, next_look, record_gate, undecided_answers
from h123.analysis.sections import Verdicts
from h123.base.errors import UserError
from h123.base.files.durable import is_writable
from h123.base.terminal.console import out_console, write
from h123.documents import read_content
from h123.gate import STATUS, ConditionOutcome, GateFigures, gate_document, gate_row, judge, spoiled, worst, write_gate
from h123.store import CampaignFolder, damage_words
from h123.study import Basis, Condition, Study


def forbidding(texts: Sequence[str], by: Basis) -> list[Condition]:
    """Return the opposite of each `--fail-if` condition. Raises UserError if a condition is malformed."""
    try:
        return [Condition.forbidding(text, by) for text in texts]
    except ValueError as fault:
        raise UserError(f"--fail-if {fault}") from None


def required(folder: CampaignFolder) -> list[Condition]:
    return Study.from_resolved(folder.study).require


def check_levels(folder: CampaignFolder, conditions: Sequence[Condition]) -> None:
    """Refuse `--fail-if` conditions on levels that the campaign does not compare. Raises UserError."""
    study = Study.from_resolved(folder.study)
    levels = {**study.factors, **study.filter, **folder.level_filter}[study.compare.factor]
    for condition in conditions:
        if fault := condition.fault(levels, study.clocks):
            raise UserError(f"--fail-if: {fault}")


class GateResult:
    """A campaign's verdicts and the outcome of its conditions. Creating it analyses the campaign, and writes the gate
    files if the folder is writable."""

    def __init__(self, folder: CampaignFolder, conditions: Sequence[Condition]) -> None:
        verdicts, self.files, self.status = analyse(folder), list[Path](), 0
        outcomes = _outcomes(folder, verdicts, conditions)
        self.verdicts = record_gate(folder, verdicts, gate_row(outcomes) if outcomes else None)
        self.document = gate_document(folder.name, outcomes) if outcomes else None
        if outcomes:
            self.files = write_gate(folder.path, folder.name, outcomes) if is_writable(folder.path) else []
            self.status = STATUS[worst([outcome.word for outcome in outcomes])]


def standing(folder: CampaignFolder) -> list[Condition]:
    """Return the conditions of the campaign's last check, or its study's requirements if it was never checked."""
    path = folder.path / "gate.json"
    try:
        rows = read_content(path, "gate/1")["conditions"] if path.is_file() else []
        return [Condition(holds=row["condition"], by=row["by"]) for row in rows] or required(folder)
    except (UserError, ValidationError, LookupError, TypeError):
        return required(folder)


def print_gate_files(files: Sequence[Path]) -> None:
    if files:
        first, *others = files
        out_console.print(f"Gate: {first}, {', '.join(path.name for path in others)}", soft_wrap=True)


def report_outcomes(where: Path, name: str, outcomes: Sequence[ConditionOutcome], *, is_quiet: bool) -> int:
    """Write the outcomes of conditions on two campaigns, print them unless `is_quiet`, and return the exit status."""
    files = write_gate(where, name, outcomes)
    if not is_quiet:
        for line in gate_row(outcomes)["lines"]:
            write(out_console, line)
        print_gate_files(files)
    return STATUS[worst([outcome.word for outcome in outcomes])]


class LaterLook(NamedTuple):
    """The next look at a campaign."""

    blocks: int
    undecided: list[str]
    """What is not decided yet: `h3/h2 latency (poor)`, or `latency h3/h2 <= 1.2 (poor)` for a requirement."""


def later_look(folder: CampaignFolder) -> LaterLook | None:
    """Return the next look, or None if the question is decided or more blocks cannot help.

    If the study has requirements, the question is whether they hold.
    """
    verdicts, conditions = analyse(folder), required(folder)
    if conditions:
        outcomes = _outcomes(folder, verdicts, conditions)
        found = [(str(outcome.condition), cell.figure.cell) for outcome in outcomes for cell in outcome.open]
    else:
        found = [(f"{row['a']}/{row['b']} {row['metric']}", row["cell"]) for row in undecided_answers(verdicts)]
    blocks = next_look(verdicts, undecided=bool(found))
    named = [f"{what} ({', '.join(cell.values())})" if cell else what for what, cell in found]
    return LaterLook(blocks, named) if blocks else None


def _outcomes(folder: CampaignFolder, verdicts: Verdicts, conditions: Sequence[Condition]) -> list[ConditionOutcome]:
    figures, damage = GateFigures(verdicts, lambda: gather(folder)), damage_words(folder)
    unfinished = _unfinished(verdicts)
    return [judge(condition, spoiled(figures.of(condition), damage), unfinished=unfinished) for condition in conditions]


def _unfinished(verdicts: Verdicts) -> str | None:
    """Return why no condition can pass yet, or None if the campaign is complete."""
    waiting = verdicts["projection"]["waiting"]
    if not waiting:
        return None
    trials = verdicts["trials"]
    have = "has" if waiting == 1 else "have"
    return f"the campaign is not finished: {waiting} of {trials['planned']} trials {have} not run"
