"""`h123 why`: shows what the requests spent their time on."""

from typing import Annotated

import typer

from h123.base.paths import typed
from h123.base.terminal.console import out_console, print_json
from h123.cli.answer_form import JsonOption, note_early_look
from h123.cli.campaigns.damage import complain_of_damage, note_unsaved
from h123.cli.options import FolderArgument


def command(
    folder: FolderArgument,
    levels: Annotated[
        list[str] | None,
        typer.Option(
            "--filter",
            metavar="FACTOR=LEVEL[,LEVEL]",
            help="Show only these levels of a factor. Can be repeated.",
            show_default=False,
        ),
    ] = None,
    limits: Annotated[
        bool,
        typer.Option(
            "--limits",
            help="Instead of causes, print a Markdown table of what limited each treatment: a processor, a window or "
            "the link.",
        ),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Show what requests or page visits spent their time on, and which parts of this time explain the differences.

    h123 derives the causes from the packets recorded at each trial's link (docs/why.md). A plain veth pair records no
    packets; with it, use --limits to see which processor was the bottleneck.

    Examples:

    `h123 why campaigns/quick`

    `h123 why campaigns/quick --filter network=poor`
    """
    from h123.analysis import analyse, bottlenecks, gather
    from h123.report import chosen_causes, chosen_rows, limits_lines, print_causes
    from h123.store import CampaignFolder
    from h123.study import Study, make_plan, parse_filter

    campaign, selection = CampaignFolder.open(folder), parse_filter(levels or [])
    study = Study.from_resolved(campaign.study)
    make_plan(study, blocks=1, level_filter=selection)  # refuses levels that the study does not have
    if limits and as_json:
        print_json(chosen_rows(bottlenecks(gather(campaign)), selection))
    elif limits:
        for line in limits_lines(bottlenecks(gather(campaign)), study, selection):
            out_console.print(line, soft_wrap=True)
    else:
        verdicts = analyse(campaign)
        if as_json:
            print_json(chosen_causes(verdicts, selection))
        else:
            print_causes(verdicts, out_console, selection)
            if not verdicts.get("changes"):
                out_console.print(f"To test these causes by experiment: h123 what-if {typed(folder)}", soft_wrap=True)
        note_early_look(verdicts)
    note_unsaved(campaign)
    complain_of_damage(campaign)
