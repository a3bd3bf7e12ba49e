"""`h123 report`: rewrites a campaign's page and figures."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from h123.base.extras import REPORT
from h123.base.paths import typed
from h123.base.terminal.console import out_console, say
from h123.cli.answer_form import AnswerForm, note_early_look, print_in_form
from h123.cli.campaigns.damage import complain_of_damage, require_writable
from h123.cli.options import FolderArgument, ForceOption

if TYPE_CHECKING:
    from h123.store import CampaignFolder

LINES = 30
"""The maximum number of lines of an answer on one screen."""


def command(
    folder: FolderArgument,
    other: Annotated[
        Path | None,
        typer.Option(
            "--with",
            metavar="OTHER_DIR",
            help="Only for the studies rest-api and misplaced-tc: a second campaign, to compare with this one and "
            "with the values in the paper whose measurements both studies repeat.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder to write to. [default: FOLDER]", show_default=False),
    ] = None,
    force: ForceOption = False,
) -> None:
    """Write a campaign's report.html and its figures again.

    Examples:

    `h123 report campaigns/quick`

    `h123 report campaigns/rest-api --with campaigns/misplaced-tc`
    """
    from h123.base.files.output import check_output
    from h123.cli.campaigns import requirements
    from h123.report import write_report
    from h123.store import CampaignFolder

    campaign = CampaignFolder.open(folder)
    require_writable(campaign, out, "--out DIR")
    if out:
        check_output(out / "report.html", force=force)
    verdicts = requirements.GateResult(campaign, requirements.standing(campaign)).verdicts
    note_early_look(verdicts)
    out_console.print(str(write_report(campaign, other, verdicts, out)), soft_wrap=True)
    _print_missing_packages()
    complain_of_damage(campaign)


def conclude(folder: "CampaignFolder", form: AnswerForm = AnswerForm.SCREEN, *, most: int = LINES) -> int:
    """Analyse a campaign, write its report, and print the answer in at most `most` lines. Return the exit status.

    The outcome of the study's requirements comes first in the answer and decides the exit status. If there are no
    requirements, the conditions of an earlier `h123 gate` are checked again, so that no outcome from fewer blocks stays
    in the folder. They do not change the exit status.
    """
    from h123.cli.campaigns import requirements
    from h123.report import write_report

    say("Analysing ...")
    required = requirements.required(folder)
    result = requirements.GateResult(folder, required or requirements.standing(folder))
    say("Writing the report ...")
    path = write_report(folder)
    print_in_form(result.verdicts, folder.path, form, most=most, taken=3 + bool(result.files))
    if form in (AnswerForm.SCREEN, AnswerForm.DETAILS):
        if form is AnswerForm.SCREEN:
            out_console.print(f"\nDetails: h123 analyse {typed(folder.path)} --details", soft_wrap=True)
        out_console.print(f"Report: {path}", soft_wrap=True)
        _print_missing_packages()
        requirements.print_gate_files(result.files)
    return result.status if required else 0


def _print_missing_packages() -> None:
    if note := REPORT.note("Figures"):
        say(note)
