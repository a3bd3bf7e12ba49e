"""`h123 export`: writes a campaign's samples for other tools."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from h123.base.terminal.console import out_console
from h123.cli.campaigns.damage import complain_of_damage, require_writable
from h123.cli.options import FolderArgument, ForceOption


class Format(StrEnum):
    CSV = "csv"
    PARQUET = "parquet"
    JSON = "json"
    SCORECARD = "scorecard"


def command(
    folder: FolderArgument,
    format: Annotated[Format, typer.Option(help="File format.")] = Format.CSV,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder to write to. [default: FOLDER/export]", show_default=False),
    ] = None,
    force: ForceOption = False,
) -> None:
    """Export all samples and attempts for use in other tools, with the metrics of each trial.

    `--format scorecard` writes JSON files like those of curl's `scorecard.py --json`, one for each combination of
    client, server and network.

    Examples:

    `h123 export campaigns/quick`

    `h123 export campaigns/quick --format parquet --out exported`
    """
    from h123.measures import export
    from h123.store import CampaignFolder

    campaign = CampaignFolder.open(folder)
    require_writable(campaign, out, "--out DIR")
    for path in export(campaign, format.value, out or campaign.path / "export", force=force or out is None):
        out_console.print(str(path), soft_wrap=True)
    complain_of_damage(campaign)
