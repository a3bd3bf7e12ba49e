"""`h123 gate`, a study's `require`, and `--fail-if` of other commands: conditions are held against a campaign."""

from collections.abc import Sequence
from pathlib import Path

from h123.analysis import analyse, next_look
from h123.analysis.document import Verdicts
from h123.console import out_console
from h123.errors import UserError
from h123.gate import STATUS, Passage, Ratio, judge, ratios_of, worst, write_gate
from h123.results import CampaignFolder
from h123.study import Basis, Condition, Study


def forbidding(given: Sequence[str], by: Basis) -> list[Condition]:
    """What holds where none of `--fail-if` does. Raises UserError."""
    try:
        return [Condition.forbidding(text, by) for text in given]
    except ValueError as fault:
        raise UserError(f"--fail-if {fault}") from None


def required(folder: CampaignFolder) -> list[Condition]:
    """What the campaign's study requires."""
    return Study.from_resolved(folder.study).require


def gate(path: Path, conditions: Sequence[Condition]) -> int:
    """Hold a campaign against them, or where there are none against what its study requires; the exit status. Raises
    UserError."""
    folder = CampaignFolder.open(path)
    asked = conditions or required(folder)
    if not asked:
        raise UserError(
            f"nothing to hold {path} against: its study requires nothing",
            remedy="--fail-if 'latency new/base > 1.05'",
        )
    return hold(folder, analyse(folder), asked)


def hold(folder: CampaignFolder, verdicts: Verdicts, conditions: Sequence[Condition]) -> int:
    """Print and write what became of them; the exit status. Raises UserError."""
    return tell(folder.path, folder.name, conditions, ratios_of(verdicts))


def tell(where: Path, name: str, conditions: Sequence[Condition], ratios: Sequence[Ratio]) -> int:
    """The same of any ratios; files are written into the folder `where`."""
    passages = [judge(condition, ratios) for condition in conditions]
    for passage in passages:
        _print(passage)
    written = write_gate(where, name, passages)
    out_console.print(f"Gate: {', '.join(map(str, written))}", soft_wrap=True)
    return STATUS[worst([passage.word for passage in passages])]


def _print(passage: Passage) -> None:
    out_console.print(f"Required, {passage.condition}: {passage.word}", soft_wrap=True)
    for cell in passage.cells:
        out_console.print(f"  {cell.place or 'all'}: {cell.figures}, {cell.word}: {cell.why}", soft_wrap=True)


def later_look(folder: CampaignFolder) -> int | None:
    """The number of blocks at which to look next; None where what is asked is decided, or more cannot help: what the
    study requires, or where it requires nothing, its question."""
    verdicts, conditions = analyse(folder), required(folder)
    if not conditions:
        return next_look(verdicts)
    ratios = ratios_of(verdicts)
    return next_look(verdicts, undecided=any(judge(condition, ratios).open for condition in conditions))
