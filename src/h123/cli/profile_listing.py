"""What holds subjects back, as tables."""

from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.table import Table

from h123.base.terminal.console import write
from h123.base.units import format_seconds
from h123.verification.profile import SITUATIONS, Held, holding_words, slowness

_TITLES = {situation.name: situation.title for situation in SITUATIONS}


def print_profiles(found: Mapping[str, Sequence[Held]], console: Console) -> None:
    """Of each subject and role a table, the situations in their order, of each the protocols."""
    for name, profile in found.items():
        for role in dict.fromkeys(held.role for held in profile):
            write(console, f"{name} as a {role}")
            console.print(_table([held for held in profile if held.role == role]))
            console.print()
    lines = [f"  {situation.title}: {situation.description}" for situation in SITUATIONS]
    write(console, "\n".join(["Under the virtual clock, so without processing:", *lines]), style="dim")
    write(
        console,
        "times the least: a round trip, and the body at the link's rate. Held by: a tenth of the time or more.",
        style="dim",
    )


def _table(profile: Sequence[Held]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for column in ("it", "over"):
        table.add_column(column, no_wrap=True)
    for column in ("takes", "times the least"):
        table.add_column(column, justify="right", no_wrap=column == "takes")
    table.add_column("held by", overflow="fold")
    for situation, title in _TITLES.items():
        for number, held in enumerate(held for held in profile if held.situation == situation):
            took = format_seconds(held.seconds) if held.seconds is not None else "-"
            table.add_row("" if number else title, held.protocol, took, slowness(held), holding_words(held))
    return table
