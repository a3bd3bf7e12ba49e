"""Defines the forms in which a command prints its answer: a single screen, all details, only the table, or JSON."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from h123.base.errors import UserError
from h123.base.terminal.console import out_console, say

if TYPE_CHECKING:
    from h123.analysis.sections import Verdicts


class AnswerForm(StrEnum):
    SCREEN = "screen"
    DETAILS = "--details"
    TABLE = "--quiet"
    JSON = "--json"


DetailsOption = Annotated[
    bool, typer.Option("--details", help="Print every comparison, cause, caveat and audit, not just one screen.")
]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="Print only the answer's table, and no progress.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print the result as JSON, and nothing else, on stdout.")]


def answer_form(*, details: bool = False, quiet: bool = False, as_json: bool = False) -> AnswerForm:
    """Return the form that the options request. Raises UserError if they contradict each other."""
    options = {AnswerForm.DETAILS: details, AnswerForm.TABLE: quiet, AnswerForm.JSON: as_json}
    chosen = [form for form, is_chosen in options.items() if is_chosen]
    if len(chosen) > 1:
        raise UserError(f"{chosen[0]} and {chosen[1]} cannot be combined", remedy="choose one of them")
    return chosen[0] if chosen else AnswerForm.SCREEN


def print_in_form(verdicts: "Verdicts", folder: Path, form: AnswerForm, *, most: int, taken: int = 0) -> None:
    """Print verdicts.json in the given form. If the form is a single screen, print at most `most` lines, of which
    `taken` are already used."""
    from h123.base.terminal.console import print_json
    from h123.report import print_answer, print_summary, print_table

    if form in (AnswerForm.TABLE, AnswerForm.JSON):
        note_early_look(verdicts)
    match form:
        case AnswerForm.JSON:
            print_json(verdicts)
        case AnswerForm.TABLE:
            print_table(verdicts, out_console)
        case AnswerForm.DETAILS:
            print_summary(verdicts, out_console, folder)
        case AnswerForm.SCREEN:
            print_answer(verdicts, out_console, folder, most=most, taken=taken)


def note_early_look(verdicts: "Verdicts") -> None:
    """Print a note on stderr if looking at the results before the campaign was finished has made later verdicts harder
    to reach. A single screen and the details (`--details`) already contain this note; the table and JSON do not."""
    from h123.report import early_look_lines

    for line in early_look_lines(verdicts):
        say(f"Note: {line}.")
