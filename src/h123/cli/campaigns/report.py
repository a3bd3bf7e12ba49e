"""`h123 report`: a campaign's page and figures."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from h123.base.extras import REPORT
from h123.base.terminal.console import out_console, say
from h123.cli.campaigns.damage import complain_of_damage
from h123.cli.options import FolderArgument

if TYPE_CHECKING:
    from h123.store import CampaignFolder


def command(
    folder: FolderArgument,
    beside: Annotated[
        Path | None,
        typer.Option(
            metavar="OTHER_DIR",
            help="Another campaign folder to show beside this campaign and a paper's printed values. Only for studies "
            "named in a file in published/: rest-api, misplaced-tc.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Rewrite report.html and its figures."""
    from h123.cli.campaigns import requirements
    from h123.report import write_report
    from h123.store import CampaignFolder

    campaign = CampaignFolder.open(folder)
    requirements.GateResult(campaign, requirements.standing(campaign))
    out_console.print(str(write_report(campaign, beside)), soft_wrap=True)
    _print_missing_packages()
    complain_of_damage(campaign)


def conclude(folder: "CampaignFolder") -> int:
    """Analyse a campaign, write its report and print the answer, first of all what became of what its study requires;
    the exit status of that."""
    from h123.cli.campaigns import requirements
    from h123.report import print_summary, write_report

    say("Analysing ...")
    result = requirements.GateResult(folder, requirements.required(folder))
    say("Writing the report ...")
    path = write_report(folder)
    print_summary(result.verdicts, out_console, folder.path)
    out_console.print(f"Report: {path}", soft_wrap=True)
    _print_missing_packages()
    requirements.print_gate_files(result.files)
    return result.status


def _print_missing_packages() -> None:
    if note := REPORT.note("Figures"):
        say(note)
