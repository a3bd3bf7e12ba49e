"""`h123 gate`, and `--fail-if` of other commands: conditions are held against a campaign."""

from collections.abc import Sequence
from pathlib import Path

from h123.console import out_console
from h123.gate import STATUS, Condition, figures, judge, place, read_condition, worst, write_gate
from h123.results import CampaignFolder


def conditions(given: Sequence[str]) -> list[Condition]:
    """Raises UserError."""
    return [read_condition(text) for text in given]


def gate(path: Path, limits: Sequence[Condition]) -> int:
    """Prints and writes what became of them; the exit status. Raises UserError."""
    from h123.analysis import analyse

    folder = CampaignFolder.open(path)
    verdicts = analyse(folder)
    passages = [judge(limit, verdicts) for limit in limits]
    for passage in passages:
        out_console.print(f"Fails if {passage.condition}: {passage.word}", soft_wrap=True)
        for cell in passage.cells:
            where = place(cell) or "all"
            out_console.print(f"  {where}: {figures(cell)}, {cell.word}: {cell.why}", soft_wrap=True)
    written = write_gate(folder.path, folder.name, passages)
    out_console.print(f"Gate: {', '.join(map(str, written))}", soft_wrap=True)
    return STATUS[worst([passage.word for passage in passages])]
