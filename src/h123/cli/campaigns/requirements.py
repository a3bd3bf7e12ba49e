"""Checks a campaign against conditions: a study's `require`, or the `--fail-if` of `gate`, `diff` and `compare`."""

from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError

from h123.analysis import analyse, gather, next_look, record_gate
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
    """Return the conditions that the campaign's study requires."""
    return Study.from_resolved(folder.study).require


def check_levels(folder: CampaignFolder, conditions: Sequence[Condition]) -> None:
    """Refuse `--fail-if` conditions on levels that the campaign does not compare. Raises UserError."""
    study = Study.from_resolved(folder.study)
    factor = study.compare.factor
    for condition in conditions:
        if fault := condition.fault(
            {**study.filter, **folder.level_filter}.get(factor) or list(study.factors[factor]), study.clocks
        ):
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
    """Print the names of the files that the gate wrote."""
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


def later_look(folder: CampaignFolder) -> int | None:
    """Return the number of blocks for the next look, or None if the question is decided or more blocks cannot help.

    If the study has requirements, the question is whether they hold.
    """
    verdicts, conditions = analyse(folder), required(folder)
    if not conditions:
        return next_look(verdicts)
    return next_look(verdicts, undecided=any(outcome.open for outcome in _outcomes(folder, verdicts, conditions)))


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
