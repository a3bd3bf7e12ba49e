"""`h123 site show`: shows the sites that workloads of the kind `page` can load."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from h123.base.terminal.console import out_console, write
from h123.cli import completion

if TYPE_CHECKING:
    from rich.table import Table

    from h123.study.sites import site


def command(
    name: Annotated[
        str | None,
        typer.Argument(
            help="Name of a site in sites/, or path of a site file. [default: list all sites]",
            show_default=False,
            autocompletion=completion.sites,
        ),
    ] = None,
) -> None:
    """Show a site: its resources, what requests them, and where its figures come from; or list all sites.

    Examples:

    `h123 site show`

    `h123 site show medium`
    """
    from h123.study import find_site, read_site

    if name is None:
        out_console.print(_overview())
        return
    site, page = read_site(find_site(name))
    write(out_console, f"{page.name}: {site.title}")
    write(out_console, f"Source: {site.source}", style="dim")
    out_console.print()
    out_console.print(_resources(page))
    out_console.print()
    for line in _summary(page):
        write(out_console, line)


def _summary(page: "site.Site") -> Iterator[str]:
    from h123.base.units import format_bytes, format_seconds

    longest, connections_kept = page.running_ns(), page.repeat_requests()
    run = f"; the longest chain of resources runs for {format_seconds(longest / 1e9)}" if longest else ""
    yield f"{amount(page)}, {max(page.depth())} deep{run}"
    for label in [None, *page.hosts] if page.hosts else []:
        own = [resource for resource in page.resources if resource.host == label]
        count, size = sum(part.count for part in own), sum(part.size * part.count for part in own)
        name = "the page's own host" if label is None else f"the host {label}"
        yield f"  of {name}: {count} {'request' if count == 1 else 'requests'}, {format_bytes(size)}"
    if len(connections_kept.loads()) < len(page.loads()):
        yield f"A returning visitor (`cache: kept`) makes {amount(connections_kept)}"


def amount(page: "site.Site") -> str:
    """Return a phrase for the load of one visit, such as `12 requests, 1.2 MB`."""
    from h123.base.units import format_bytes

    count = len(page.loads())
    return f"{count} {'request' if count == 1 else 'requests'}, {format_bytes(page.bytes)}"


def _overview() -> "Table":
    from h123.base.terminal.tables import plain_table
    from h123.base.units import format_bytes
    from h123.study import list_sites, read_site

    table = plain_table("name", "what", "requests", "bodies", "depth", right=_FIGURES)
    for path in list_sites():
        site, page = read_site(path)
        table.add_row(page.name, site.title, str(len(page.loads())), format_bytes(page.bytes), str(max(page.depth())))
    return table


def _resources(page: "site.Site") -> "Table":
    """Return a table with a row for each resource and its depth in the graph, without columns that would be empty."""
    from h123.base.terminal.tables import plain_table
    from h123.base.units import format_bytes, format_seconds

    more = {
        "host": [resource.host or "" for resource in page.resources],
        "cacheable": ["yes" if resource.cacheable else "" for resource in page.resources],
    }
    columns = {name: values for name, values in more.items() if any(values)}
    heads = ("resource", "type", "count", "size", "urgency", "asked for by", "runs", "depth", *columns)
    table = plain_table(*heads, right=_FIGURES)
    depths, at = page.depth(), dict[str, int]()
    for index, (item, _) in enumerate(page.loads()):
        at.setdefault(item.name, depths[index])
    for index, item in enumerate(page.resources):
        runs = format_seconds(item.run / 1e9) if item.run else ""
        figures = (str(item.count), format_bytes(item.size), str(item.priority))
        table.add_row(
            item.name,
            item.type,
            *figures,
            item.by or "",
            runs,
            str(at[item.name]),
            *(of[index] for of in columns.values()),
        )
    return table


_FIGURES = {"requests", "bodies", "depth", "count", "size", "urgency", "runs"}
