"""`h123 import`: makes a campaign from samples measured with other tools."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from h123.cli import completion


def command(
    files: Annotated[list[Path], typer.Argument(help="Files with samples.", show_default=False)],
    schema: Annotated[
        str,
        typer.Option(
            metavar="NAME|FILE",
            help="Format of the files: the name of a tool (autocannon, fortio, h2load, jmeter, k6, k6-csv, locust, "
            "nighthawk, oha, scorecard), or the path of a YAML file that says what the columns mean.",
            autocompletion=completion.schemas,
        ),
    ],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for the new campaign.")],
    redirects: Annotated[
        Literal["failed", "left-out"] | None,
        typer.Option(
            help="Whether redirects (301, 302, ...) count as failed or are left out. [default: as the schema says]",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Import samples measured with another tool, analyse them and write a report.

    h123 skips the audits for which the files contain no data (link, CPU, order), and the summary lists what is missing.
    See docs/import.md for an example.

    Examples:

    `h123 import --schema oha 'h2-*.csv' 'h3-*.csv' --out campaigns/oha`

    `h123 import --schema mine.yaml samples.csv --out campaigns/imported`
    """
    from h123.cli.campaigns.report import conclude
    from h123.store import import_samples
    from h123.study import load_schema

    conclude(import_samples(files, load_schema(schema, redirects), out))
