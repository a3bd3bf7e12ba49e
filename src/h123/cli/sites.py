"""The commands about sites: the pages that a workload of the kind `page` loads."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from h123.base.errors import UserError
from h123.base.paths import project_root
from h123.base.terminal.console import out_console, write
from h123.cli import completion
from h123.cli.options import ForceOption

if TYPE_CHECKING:
    from rich.table import Table

    from h123.study.sites import site

app = typer.Typer(no_args_is_help=True, help="Pages that studies can load (`kind: page`).")


@app.callback()
def root() -> None:
    """Shared by all commands."""


@app.command()
def show(
    name: Annotated[
        str | None,
        typer.Argument(
            help="A site in sites/, or the path of a file. Without one: all.",
            show_default=False,
            autocompletion=completion.sites,
        ),
    ] = None,
) -> None:
    """Show a site: its resources, what asks for them, and where its figures are from; or list all sites."""
    from h123.study import find_site, read_site

    if name is None:
        out_console.print(_overview())
        return
    told, page = read_site(find_site(name))
    write(out_console, f"{page.name}: {told.title}")
    write(out_console, f"Source: {told.source}", style="dim")
    out_console.print()
    out_console.print(_resources(page))
    out_console.print()
    for line in _summary(page):
        write(out_console, line)


def _summary(page: "site.Site") -> Iterator[str]:
    from h123.base.units import format_bytes, format_seconds

    longest, kept = page.running_ns(), page.kept()
    run = f"; what runs one after another takes {format_seconds(longest / 1e9)}" if longest else ""
    yield f"{_amount(page)}, {max(page.depth())} deep{run}"
    for label in [None, *page.hosts] if page.hosts else []:
        own = [one for one in page.resources if one.host == label]
        count, size = sum(one.count for one in own), sum(one.size * one.count for one in own)
        name = "the page's own host" if label is None else f"the host {label}"
        yield f"  of {name}: {count} {'request' if count == 1 else 'requests'}, {format_bytes(size)}"
    if len(kept.loads()) < len(page.loads()):
        yield f"A returning visitor (`cache: kept`) asks for {_amount(kept)}"


def _amount(page: "site.Site") -> str:
    from h123.base.units import format_bytes

    count = len(page.loads())
    return f"{count} {'request' if count == 1 else 'requests'}, {format_bytes(page.bytes)}"


@app.command(name="import")
def import_command(
    har: Annotated[Path, typer.Argument(help="The page as a browser saved it, HAR 1.2.", show_default=False)],
    out: Annotated[
        Path | None, typer.Option(help="The site's file. Default: sites/NAME.yaml, named after the recording.")
    ] = None,
    hosts: Annotated[
        Literal["one", "apart"],
        typer.Option(help="What becomes of the page's hosts: one, or several with connections of their own."),
    ] = "one",
    page: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Which page of the recording, from 1; a number that it lacks lists all. Default: that of its first "
            "request.",
            show_default=False,
        ),
    ] = None,
    force: ForceOption = False,
) -> None:
    """Make a site of a page that a browser recorded (the network tool's *Save all as HAR*).

    Sizes, types, order, what asked for what and what a returning visitor still has are kept; bodies, headers and
    addresses' queries are not. What a user or a timer asked for once the page had loaded is left out. All hosts become
    one, unless they are to be kept apart. What the recording lacks is said, and stands in the file.
    """
    from h123.base.files.output import check_output, write_output
    from h123.study import import_site

    name = re.sub(r"[^A-Za-z0-9._+-]+", "-", (out or har).stem).strip("-._+")[:40]
    path = out or project_root() / "sites" / f"{name}.yaml"
    if path.suffix not in (".yaml", ".yml"):
        raise UserError(f"{path}: a site's file ends in .yaml")
    check_output(path, force=force)
    imported = import_site(har, name, apart=hosts == "apart", page=page)
    write_output(path, imported.text, force=force)
    site_of = imported.site
    write(out_console, f"{path}: {_amount(site_of)}, {max(site_of.depth())} deep")
    for note in imported.notes:
        write(out_console, note, style="dim")


def _overview() -> "Table":
    from h123.base.units import format_bytes
    from h123.study import list_sites, read_site

    table = _table("name", "what", "requests", "bodies", "depth")
    for path in list_sites():
        told, page = read_site(path)
        table.add_row(page.name, told.title, str(len(page.loads())), format_bytes(page.bytes), str(max(page.depth())))
    return table


def _resources(page: "site.Site") -> "Table":
    """A row for each line of the file, with how deep it is in the graph; what no line has is no column."""
    from h123.base.units import format_bytes, format_seconds

    more = {
        "host": [one.host or "" for one in page.resources],
        "cacheable": ["yes" if one.cacheable else "" for one in page.resources],
    }
    shown = {name: values for name, values in more.items() if any(values)}
    table = _table("resource", "type", "count", "size", "urgency", "asked for by", "runs", "depth", *shown)
    depths, at = page.depth(), dict[str, int]()
    for index, (one, _) in enumerate(page.loads()):
        at.setdefault(one.name, depths[index])
    for index, one in enumerate(page.resources):
        runs = format_seconds(one.run / 1e9) if one.run else ""
        figures = (str(one.count), format_bytes(one.size), str(one.priority))
        table.add_row(
            one.name, one.type, *figures, one.by or "", runs, str(at[one.name]), *(of[index] for of in shown.values())
        )
    return table


def _table(*columns: str) -> "Table":
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for column in columns:
        table.add_column(column, overflow="fold", justify="right" if column in _FIGURES else "left")
    return table


_FIGURES = {"requests", "bodies", "depth", "count", "size", "urgency", "runs"}
