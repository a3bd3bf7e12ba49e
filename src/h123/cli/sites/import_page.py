"""`h123 site import`: makes a site from a page that a browser recorded."""

import re
from pathlib import Path
from typing import Annotated, Literal

import typer

from h123.base.errors import UserError
from h123.base.paths import checkout, typed
from h123.base.terminal.console import out_console, write
from h123.cli.options import ForceOption
from h123.cli.sites.show import amount


def command(
    har: Annotated[Path, typer.Argument(help="The recorded page, a HAR 1.2 file.", show_default=False)],
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Site file to write. [default: sites/NAME.yaml, named after the recording]"),
    ] = None,
    hosts: Annotated[
        Literal["one", "apart"],
        typer.Option(
            help="one: treat all hosts of the page as one. apart: keep them apart, each with its own connections."
        ),
    ] = "one",
    page: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Number of the page in the recording, from 1; if there is no such page, all pages are listed. "
            "[default: the page of the first request]",
            show_default=False,
        ),
    ] = None,
    force: ForceOption = False,
) -> None:
    """Make a site from a page that a browser recorded (choose *Save all as HAR* in its network tool).

    The site keeps sizes, types, order, which resource requested which, and what a returning visitor has cached. It
    leaves out bodies, headers, query strings, and everything that a user or a timer requested after the page had
    loaded. All hosts become one, unless --hosts keeps them apart. The command prints what the recording lacks, and
    notes it in the site's file.

    Examples:

    `h123 site import page.har`

    `h123 site import page.har --out shop.yaml`
    """
    from h123.base.files.output import check_output, write_output
    from h123.study import import_site

    name = re.sub(r"[^A-Za-z0-9._+-]+", "-", (out or har).stem).strip("-._+")[:40]
    path = out or (checkout() or Path()) / "sites" / f"{name}.yaml"
    if path.suffix not in (".yaml", ".yml"):
        raise UserError(
            f"{path}: the name of a site's file must end in .yaml",
            remedy=f"write --out {typed(path.with_suffix('.yaml'))}",
        )
    check_output(path, force=force)
    imported = import_site(har, name, apart=hosts == "apart", page=page)
    write_output(path, imported.text, force=force)
    site_of = imported.site
    write(out_console, f"{path}: {amount(site_of)}, {max(site_of.depth())} deep")
    for note in imported.notes:
        write(out_console, note, style="dim")
