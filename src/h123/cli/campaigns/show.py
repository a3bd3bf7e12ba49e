"""`h123 show`: writes a page that shows one or two trials over time."""

from pathlib import Path
from typing import Annotated

import typer

from h123.base.extras import REPORT
from h123.base.paths import typed
from h123.base.terminal.console import out_console, say
from h123.cli.campaigns.damage import require_writable
from h123.cli.options import FolderArgument, ForceOption

_LISTED = 100
"""The largest number of trials that are listed."""


def command(
    folder: FolderArgument,
    trials: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="TRIAL",
            help="Trial, such as b01-t01-medium-h2. The page shows the attempt that counts; append ~1 for the first "
            "attempt, and so on. A second trial is shown on the same axes. [default: list the campaign's trials]",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Page to write. [default: FOLDER/show/TRIAL.html]", show_default=False),
    ] = None,
    force: ForceOption = False,
) -> None:
    """Show what happened over time in one or two trials, as a page that opens offline.

    The page shows requests, throughput, bytes in flight, windows, round trips, queue, losses and sequence numbers
    (docs/show.md).

    Examples:

    `h123 show campaigns/quick b01-t01-poor-h3`

    `h123 show campaigns/quick b01-t01-poor-h3 b01-t02-poor-h2`
    """
    from h123.base.files.output import check_output
    from h123.report.trial_view import choose, trial_lines, write_trial_view
    from h123.store import CampaignFolder

    if out:
        check_output(out, force=force)
    campaign = CampaignFolder.open(folder)
    if not trials:
        lines = trial_lines(campaign, _LISTED)
        for line in lines:
            out_console.print(line, soft_wrap=True)
        usual = next((line for line in lines if " " not in line), lines[0].partition(" ")[0])
        say(f"To show one, or two side by side: h123 show {typed(folder)} {usual}")
        return
    require_writable(campaign, out, "--out FILE")
    choices = choose(campaign, trials)
    page = out or campaign.path / "show" / f"{'+'.join(each.name for each in choices)}.html"
    write_trial_view(campaign, choices, page, force=force or out is None)
    out_console.print(str(page), soft_wrap=True)
    if note := REPORT.note("Figures"):
        say(note)
